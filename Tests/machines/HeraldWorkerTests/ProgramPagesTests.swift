import Foundation
import HeraldThreads
import Testing

@Suite("The memory of a program's code")
struct ProgramPagesTests {
    /// The resident memory of files, in kilobytes.
    private func resident() throws -> Int {
        let status = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
        let line = try #require(status.split(separator: "\n").first { $0.hasPrefix("RssFile:") })
        return try #require(line.split(separator: " ").dropFirst().first.flatMap { Int($0) })
    }

    @Test("Code is released, and returns when it is used")
    func release() throws {
        let before = try resident()
        ProgramPages.release()
        #expect(try resident() < before)
    }
}
