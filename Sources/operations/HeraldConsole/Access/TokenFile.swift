internal import FoundationEssentials
internal import HeraldText
internal import HeraldThreads

/// The file of `console.tokenFile`: a line for each person, `ROLE NAME TOKEN`; empty lines and those that begin with `#`
/// mean nothing.
///
/// It is read again when it changes, so that a line that is taken out shuts its holder out at once.
package final class TokenFile: Sendable {
    /// One line.
    struct Entry: Sendable, Equatable {
        var role: Viewer.Role
        var name: String
        var token: String
    }

    /// A token that is shorter can be guessed.
    private static let fewestCharacters = 20
    private static let mostBytes = 1 << 20

    private struct State {
        var mark: FileMark?
        var entries: [Entry] = []
    }

    private let path: String
    private let state: Guarded<State>

    /// Reads the file.
    ///
    /// - Throws: an ``InputError`` with the line that is wrong, an ``InvalidArgument`` when the file cannot be read.
    package init(path: String) throws {
        self.path = path
        let mark = try? FileMark(of: path)
        state = Guarded(State(mark: mark, entries: try Self.read(path)))
    }

    /// Its lines as they are now; the former ones for as long as the file cannot be understood.
    var entries: [Entry] {
        let mark = try? FileMark(of: path)
        return state.withLock { state in
            if mark != state.mark, let entries = try? Self.read(path) {
                state = State(mark: mark, entries: entries)
            }
            return state.entries
        }
    }

    /// Whose token this is; every line is compared, whatever the result.
    func entry(for token: String) -> Entry? {
        var found: Entry?
        for entry in entries where Secret.isSame(entry.token, token) { found = entry }
        return found
    }

    private static func read(_ path: String) throws -> [Entry] {
        guard let file = try? Data(contentsOf: URL(filePath: path)), file.count <= mostBytes else {
            throw InvalidArgument("console.tokenFile: cannot read \(SafeText.quoted(path, limit: 200))")
        }
        return try entries(in: String(decoding: file, as: UTF8.self))
    }

    /// The entries of a text.
    static func entries(in text: String) throws(InputError) -> [Entry] {
        var entries: [Entry] = []
        for (number, line) in text.utf8.split(separator: 0x0A, omittingEmptySubsequences: false).enumerated() {
            func mistake(_ sentence: String) -> InputError { InputError(sentence, line: number + 1) }
            // By bytes: to Swift CR and LF are one character.
            let words = line.split { $0 == 0x20 || $0 == 0x09 || $0 == 0x0D }.compactMap { String($0) }
            guard let first = words.first, !first.hasPrefix("#") else { continue }
            guard words.count == 3 else { throw mistake("a line has three words: ROLE NAME TOKEN") }
            guard let role = Viewer.Role(rawValue: first) else {
                throw mistake("the role \(SafeText.quoted(first)) is none; allowed: viewer, operator")
            }
            guard words[2].utf8.count >= fewestCharacters else {
                throw mistake("the token is too short to be safe: at least \(fewestCharacters) characters")
            }
            guard !entries.contains(where: { $0.token == words[2] }) else {
                throw mistake("the token stands in an earlier line; everybody has one of their own")
            }
            entries.append(Entry(role: role, name: SafeText.escaped(words[1]), token: words[2]))
        }
        guard !entries.isEmpty else { throw InputError("no line with ROLE NAME TOKEN: nobody could sign in") }
        return entries
    }
}
