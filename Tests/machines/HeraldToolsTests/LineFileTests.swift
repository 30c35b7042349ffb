import Foundation
import TestSupport
import Testing

@testable import HeraldTools

@Suite("Files of lines")
struct LineFileTests {
    private let directory = FileManager.default.temporaryDirectory.path

    private func withFile<Value>(_ text: String, _ body: (String) throws -> Value) throws -> Value {
        let path = "\(directory)/\(UUID().uuidString)"
        try Data(text.utf8).write(to: URL(fileURLWithPath: path))
        defer { try? FileManager.default.removeItem(atPath: path) }
        return try body(path)
    }

    private func lines(_ file: LineFile, longest: Int = 1_000) throws -> [TextLine] {
        var lines: [TextLine] = []
        try file.forEachLine(longest: longest) { line throws(ToolFailure) in lines.append(line) }
        return lines
    }

    private func texts(_ lines: [TextLine]) -> [String] {
        lines.map { "\($0.number):\(String(decoding: $0.bytes, as: UTF8.self))" }
    }

    @Test(
        "Lines are numbered from 1, blank ones are skipped, and line ends of every kind are removed",
        arguments: [
            ("", []), ("a", ["1:a"]), ("a\n", ["1:a"]), ("a\r\nb\r\n", ["1:a", "2:b"]),
            ("\n \t\n\r\na b\n\n", ["4:a b"]), ("a\n\nb", ["1:a", "3:b"]),
        ] as [(String, [String])])
    func numbers(text: String, expected: [String]) throws {
        try withFile(text) { path in
            let file = try LineFile(path: path, copyingInto: directory)
            #expect(texts(try lines(file)) == expected)
            // The second pass has the same result.
            #expect(texts(try lines(file)) == expected)
        }
    }

    @Test("Lines longer than a chunk stay whole, and lines beyond the limit are counted and cut off")
    func long() throws {
        let text = String(repeating: "x", count: 150_000)
        try withFile("a\n\(text)\nb") { path in
            let file = try LineFile(path: path, copyingInto: directory)
            let whole = try lines(file, longest: 200_000)
            #expect(whole.map(\.bytes.count) == [1, 150_000, 1])
            let cut = try lines(file, longest: 100)
            #expect(cut.map(\.bytes.count) == [1, 100, 1])
            #expect(cut.map(\.byteCount) == [1, 150_000, 1])
        }
    }

    @Test("Lines appended after the beginning do not count")
    func appended() throws {
        try withFile("a\n") { path in
            let file = try LineFile(path: path, copyingInto: directory)
            let handle = try #require(FileHandle(forWritingAtPath: path))
            try handle.seekToEnd()
            try handle.write(contentsOf: Data("b\n".utf8))
            #expect(texts(try lines(file)) == ["1:a"])
        }
    }

    @Test("A pipe is read as often as a file, from an invisible copy")
    func pipe() async throws {
        let path = "\(directory)/\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: path) }
        try #require(mkfifo("\(path)/pipe", 0o600) == 0)
        async let writing: Void = Blocking.run {
            let handle = try FileHandle(forWritingTo: URL(fileURLWithPath: "\(path)/pipe"))
            try handle.write(contentsOf: Data("a\nb\n".utf8))
            try handle.close()
        }
        let found = try await Blocking.run {
            let file = try LineFile(path: "\(path)/pipe", copyingInto: path)
            return try [lines(file), lines(file)].map(texts)
        }
        try await writing
        #expect(found == [["1:a", "2:b"], ["1:a", "2:b"]])
        #expect(try FileManager.default.contentsOfDirectory(atPath: path) == ["pipe"])
    }

    @Test("A missing file, and a missing directory for copies, are named")
    func missing() {
        let failure = #expect(throws: ToolFailure.self) {
            try LineFile(path: "\(directory)/no-such-file", copyingInto: directory)
        }
        #expect(failure?.description.contains("no-such-file: No such file or directory") == true)
        let copy = #expect(throws: ToolFailure.self) { try LineFile(path: "/dev/null", copyingInto: "/no/where") }
        #expect(copy?.description.contains("/no/where") == true)
    }
}
