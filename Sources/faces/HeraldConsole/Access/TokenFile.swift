internal import FoundationEssentials
package import HeraldText
internal import HeraldThreads
internal import HeraldTime

/// The file of `console.tokenFile`: one line for each person, `ROLE NAME TOKEN`; empty lines and those that begin with
/// `#` are ignored.
///
/// A changed file is read again, so that removing a line shuts its holder out at once. When the file is missing, empty
/// or has a faulty line, the previous lines count for two more seconds, because an editor may still be writing it.
/// After that only valid lines count.
package final class TokenFile: Sendable {
    struct Entry: Sendable, Equatable {
        var role: Viewer.Role
        var name: String
        var token: String
    }

    struct Content: Sendable {
        /// The valid lines.
        private(set) var entries: [Entry] = []
        /// The first mistake; its text never contains a token.
        private(set) var mistake: InputError?
    }

    /// Shorter tokens can be guessed.
    fileprivate static let fewestCharacters = 20
    fileprivate static let mostBytes = 1 << 20
    /// Editors that write in place leave a file incomplete for milliseconds.
    static let grace: Milliseconds = .seconds(2)

    private struct State {
        var mark: FileMark?
        var content: Content
        /// The lines in force.
        var entries: [Entry]
        var wrongSince: MonotonicTime?
        var reported: InputError?
    }

    private let path: String
    private let onMistake: @Sendable (InputError?) -> Void
    private let state: Guarded<State>

    /// Reads the file.
    ///
    /// - Parameter onMistake: called with a mistake that invalidates lines, and with `nil` when the file has none any
    ///   more; on any thread.
    /// - Throws: an ``InputError`` with the first mistake.
    package init(path: String, onMistake: @escaping @Sendable (InputError?) -> Void) throws(InputError) {
        self.path = path
        self.onMistake = onMistake
        let mark = try? FileMark(of: path)
        let content = Content(ofFile: path)
        if let mistake = content.mistake { throw mistake }
        state = Guarded(State(mark: mark, content: content, entries: content.entries))
    }

    /// The lines in force.
    func entries(now: MonotonicTime) -> [Entry] {
        let mark = try? FileMark(of: path)
        let (entries, news) = state.withLock { state in
            if mark != state.mark {
                state.mark = mark
                state.content = Content(ofFile: path)
            }
            return (Self.update(&state, now), Self.takeNews(from: &state))
        }
        if let news { onMistake(news) }
        return entries
    }

    private static func update(_ state: inout State, _ now: MonotonicTime) -> [Entry] {
        state.wrongSince = state.content.mistake == nil ? nil : state.wrongSince ?? now
        let isIncomplete = state.wrongSince.map { now.time(since: $0) < grace } ?? false
        if !isIncomplete { state.entries = state.content.entries }
        return state.entries
    }

    private static func takeNews(from state: inout State) -> InputError?? {
        let mistake = state.entries == state.content.entries ? state.content.mistake : state.reported
        guard mistake != state.reported else { return nil }
        state.reported = mistake
        return .some(mistake)
    }

    /// The entry of a token; compares every line, whatever the result.
    func entry(for token: String, now: MonotonicTime) -> Entry? {
        var found: Entry?
        for entry in entries(now: now) where Secret.isSame(entry.token, token) { found = entry }
        return found
    }
}

extension TokenFile.Content {
    fileprivate init(ofFile path: String) {
        guard let file = try? Data(contentsOf: URL(filePath: path)), file.count <= TokenFile.mostBytes else {
            self.init(mistake: InputError("cannot read \(SafeText.quoted(path, limit: 200))"))
            return
        }
        // A writer of the file can sign in under any name.
        guard !FileAccess(ofOthersTo: path).isWritable else {
            let file = SafeText.quoted(path, limit: 200)
            self.init(mistake: InputError("everybody on this machine can write \(file): chmod o-w"))
            return
        }
        self.init(String(decoding: file, as: UTF8.self))
    }

    init(_ text: String) {
        for (number, line) in text.utf8.split(separator: 0x0A, omittingEmptySubsequences: false).enumerated() {
            // By bytes: Swift treats CR LF as one character.
            let words = line.split { $0 == 0x20 || $0 == 0x09 || $0 == 0x0D }.compactMap { String($0) }
            guard let first = words.first, !first.hasPrefix("#") else { continue }
            do throws(InputError) {
                entries.append(try entry(words, line: number + 1))
            } catch {
                mistake = mistake ?? error
            }
        }
        if entries.isEmpty { mistake = mistake ?? InputError("no line with ROLE NAME TOKEN: nobody could sign in") }
    }

    private func entry(_ words: [String], line: Int) throws(InputError) -> TokenFile.Entry {
        guard words.count == 3 else { throw InputError("a line has three words: ROLE NAME TOKEN", line: line) }
        guard let role = Viewer.Role(rawValue: words[0]) else {
            throw InputError(
                "the role \(SafeText.quoted(words[0])) is none; allowed: viewer, operator", line: line)
        }
        guard words[2].utf8.count >= TokenFile.fewestCharacters else {
            throw InputError(
                "the token is too short to be safe: at least \(TokenFile.fewestCharacters) characters", line: line)
        }
        guard !entries.contains(where: { $0.token == words[2] }) else {
            throw InputError("the token stands in an earlier line; everybody has one of their own", line: line)
        }
        return TokenFile.Entry(role: role, name: SafeText.escaped(words[1]), token: words[2])
    }
}
