import Foundation
import HeraldText
import HeraldThreads
import HeraldTime
import Testing

@testable import HeraldConsole

@Suite("The file of tokens")
struct TokenFileTests {
    private static let ann = "operator ann 01234567890123456789\n"
    private static let bob = "viewer bob abcdefghijabcdefghij\n"

    private let file: TemporaryFile
    private let tokens: TokenFile
    private let reports = Guarded<[String]>([])

    init() throws {
        file = try TemporaryFile(Self.ann + Self.bob)
        tokens = try TokenFile(path: file.path) { [reports] mistake in
            reports.withLock { $0.append(mistake?.description ?? "none") }
        }
    }

    private func names(_ milliseconds: Int64) -> [String] {
        tokens.entries(now: MonotonicTime(nanoseconds: milliseconds * 1_000_000)).map(\.name)
    }

    @Test("A file of tokens has a line for each person; comments and empty lines are ignored")
    func lines() {
        let content = TokenFile.Content(
            "# who\n\noperator ann 01234567890123456789\r\n  viewer\tbob\tabcdefghijabcdefghij\n")
        #expect(
            content.entries == [
                TokenFile.Entry(role: .operator, name: "ann", token: "01234567890123456789"),
                TokenFile.Entry(role: .viewer, name: "bob", token: "abcdefghijabcdefghij"),
            ])
    }

    @Test(
        "A mistake in the file is named with its line, and never repeats a token",
        arguments: [
            ("operator ann\n", "line 1: a line has three words: ROLE NAME TOKEN"),
            ("\nroot ann 01234567890123456789", "line 2: the role \"root\" is none; allowed: viewer, operator"),
            ("viewer ann short-secret", "line 1: the token is too short to be safe: at least 20 characters"),
            (
                "viewer a 01234567890123456789\nviewer b 01234567890123456789",
                "line 2: the token stands in an earlier line; everybody has one of their own"
            ),
            ("# nobody\n", "no line with ROLE NAME TOKEN: nobody could sign in"),
        ])
    func mistakes(text: String, sentence: String) {
        #expect(TokenFile.Content(text).mistake?.description == sentence)
    }

    @Test("A file that every user may write is refused")
    func sharedFile() throws {
        let shared = try TemporaryFile(Self.ann)
        try FileManager.default.setAttributes([.posixPermissions: 0o646], ofItemAtPath: shared.path)
        #expect(throws: InputError.self) { try TokenFile(path: shared.path) { _ in } }
        try FileManager.default.setAttributes([.posixPermissions: 0o664], ofItemAtPath: shared.path)
        #expect(try TokenFile(path: shared.path) { _ in }.entries(now: .distantPast).count == 1)
    }

    @Test("Removing a line from a valid file shuts its holder out at once")
    func withdrawn() throws {
        #expect(names(0) == ["ann", "bob"])
        try file.write(Self.ann)
        #expect(names(0) == ["ann"])
        #expect(reports.withLock { $0 } == [])
    }

    @Test(
        "In an emptied, invalid or cut file only complete lines still count",
        arguments: [("", []), ("nonsense\n", []), (ann + "viewer bob abcd", ["ann"])] as [(String, [String])])
    func mistaken(text: String, left: [String]) throws {
        try file.write(text)
        #expect(names(0) == ["ann", "bob"])
        #expect(names((TokenFile.grace - .milliseconds(1)).count) == ["ann", "bob"])
        #expect(reports.withLock { $0 } == [])
        #expect(names(TokenFile.grace.count) == left)
        #expect(names(2 * TokenFile.grace.count) == left)
        #expect(reports.withLock { $0.count } == 1)
    }

    @Test("A missing file shuts all holders out; they are back with the file")
    func gone() throws {
        try file.remove()
        #expect(names(0) == ["ann", "bob"])
        #expect(names(TokenFile.grace.count) == [])
        try file.write(Self.ann + Self.bob)
        #expect(names(TokenFile.grace.count) == ["ann", "bob"])
        let expected = ["cannot read \(SafeText.quoted(file.path, limit: 200))", "none"]
        #expect(reports.withLock { $0 } == expected)
    }

    @Test("An editor that empties and rewrites the file shuts no holder out, and nothing is reported")
    func writtenInPlace() throws {
        try file.write("")
        #expect(names(0) == ["ann", "bob"])
        try file.write(Self.bob)
        #expect(names(1) == ["bob"])
        #expect(names(TokenFile.grace.count) == ["bob"])
        #expect(reports.withLock { $0 } == [])
    }
}
