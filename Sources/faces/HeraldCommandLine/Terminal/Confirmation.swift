package enum Confirmation {
    /// `-y`, `--yes`, the same for every command that asks.
    package static let option = CommandOption.flag("yes", short: "y", "Do not ask.")

    /// Whether the answer is yes; the default is no.
    ///
    /// With `isAssumed` (`--yes`) it does not ask; without a terminal it throws status 4.
    ///
    /// - Parameter count: What it acts on; of more than a hundred the count itself has to be typed.
    package static func ask(_ question: String, count: Int = 1, isAssumed: Bool, console: Console) throws -> Bool {
        if isAssumed { return true }
        guard count <= 100 else {
            return try answer("\(question) Type \(count) to go on: ", console: console) == "\(count)"
        }
        return ["y", "yes"].contains(try answer("\(question) [y/N] ", console: console).lowercased())
    }

    private static func answer(_ prompt: String, console: Console) throws -> String {
        guard console.isInputTerminal, console.error.isTerminal else {
            throw CommandFailure(
                "needs a confirmation, and there is no terminal to ask on; add --yes", status: .needsConfirmation)
        }
        return console.ask(prompt) ?? ""
    }
}
