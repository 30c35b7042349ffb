/// A question before an irreversible action.
package enum Confirmation {
    /// `-y`, `--yes`, the same for every command that asks.
    package static let option = CommandOption.flag("yes", short: "y", "Do not ask.")

    /// Whether the answer is yes; the default is no.
    ///
    /// With `isAssumed` (`--yes`) it does not ask; without a terminal it throws status 4.
    package static func ask(_ question: String, isAssumed: Bool, console: Console) throws -> Bool {
        if isAssumed { return true }
        let answer = try answer("\(question) [y/N] ", console: console)
        return ["y", "yes"].contains(answer.lowercased())
    }

    /// Whether exactly `word` is typed, for actions too large for a yes.
    package static func ask(_ question: String, typing word: String, isAssumed: Bool, console: Console) throws -> Bool {
        if isAssumed { return true }
        return try answer("\(question) Type \(word) to go on: ", console: console) == word
    }

    /// Whether to act on `count` items; more than a hundred require typing the count.
    package static func ask(_ question: String, count: Int, isAssumed: Bool, console: Console) throws -> Bool {
        count > 100
            ? try ask(question, typing: "\(count)", isAssumed: isAssumed, console: console)
            : try ask(question, isAssumed: isAssumed, console: console)
    }

    private static func answer(_ prompt: String, console: Console) throws -> String {
        guard console.isInputTerminal, console.error.isTerminal else {
            throw CommandFailure(
                "needs a confirmation, and there is no terminal to ask on; add --yes", status: .needsConfirmation)
        }
        return console.ask(prompt) ?? ""
    }
}
