import Glibc
import Testing

@testable import HeraldDemo

@Suite("The demo's log")
struct LogPipeTests {
    @Test("Log lines come out whole, in order, and never block their writers")
    func log() throws {
        let log = try LogPipe()
        #expect(log.drainLines().isEmpty)
        #expect(write(log.writingEnd, "first\nsec", 9) == 9)
        #expect(log.drainLines() == ["first"])
        #expect(write(log.writingEnd, "ond\nthird\n", 10) == 10)
        #expect(log.drainLines() == ["second", "third"])
    }
}
