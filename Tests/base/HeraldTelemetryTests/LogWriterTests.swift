import Foundation
import HeraldTelemetry
import HeraldThreads
import HeraldTime
import Testing

@Suite("The log's writer")
struct LogWriterTests {
    private struct Line: Decodable {
        var level: String
        var message: String
        var dropped: Int?
    }

    private static func read(_ pipe: TestPipe) throws -> Line {
        try JSONDecoder().decode(Line.self, from: Data(pipe.readLine().utf8))
    }

    @Test("drops and counts lines while its reader pauses, reports the count afterwards, and never waits")
    func dropAndCount() throws {
        let pipe = try TestPipe()
        let writer = try LogWriter(descriptor: pipe.writer, format: .json, capacityBytes: 20_000)
        let logger = Logger(writer, level: .info)
        let lineCount = 20_000
        // Far more than the pipe (64 KiB) and the queue hold together.
        for number in 0..<lineCount { logger.info("\(number)") }
        let dropped = writer.droppedLineCount
        #expect(dropped > lineCount / 2)
        var numbers: [Int] = []
        var counted = 0
        while numbers.count + counted < lineCount {
            let line = try Self.read(pipe)
            if let count = line.dropped {
                #expect(line.level == "warning")
                counted += count
            } else {
                numbers.append(try #require(Int(line.message)))
            }
        }
        #expect(counted == dropped)
        #expect(numbers == numbers.sorted())
        #expect(Set(numbers).count == numbers.count)
        logger.info("after")
        #expect(try Self.read(pipe).message == "after")
        #expect(writer.close(within: .seconds(10)))
    }

    @Test("writes five warnings of a kind in a minute, then one, and says how many were like them")
    func flood() throws {
        let pipe = try TestPipe()
        let time = Guarded(WallTime(milliseconds: 0))
        let writer = try LogWriter(descriptor: pipe.writer, format: .json, now: { time.withLock { $0 } })
        let logger = Logger(writer, level: .info)
        for number in 0..<1_000 { logger.warning("commit \(number) failed") }
        logger.warning("another kind")
        logger.error("commit 1 failed")
        for number in 0..<5 { #expect(try Self.read(pipe).message == "commit \(number) failed") }
        #expect(try [Self.read(pipe), Self.read(pipe)].map(\.message) == ["another kind", "commit 1 failed"])

        time.withLock { $0 = WallTime(milliseconds: 60_000) }
        for number in 0..<7 { logger.warning("commit \(number) failed") }
        let count = try Self.read(pipe)
        #expect(count.message == "995 more in the last minute, such as: commit 999 failed" && count.level == "warning")
        #expect(try Self.read(pipe).message == "commit 0 failed")
        // Nothing like it for a minute: all is as at the beginning.
        time.withLock { $0 = WallTime(milliseconds: 120_000) }
        logger.info("well")
        #expect(try Self.read(pipe).message == "6 more in the last minute, such as: commit 6 failed")
        #expect(try Self.read(pipe).message == "well")
        time.withLock { $0 = WallTime(milliseconds: 240_000) }
        for number in 0..<7 { logger.warning("commit \(number) failed") }
        for number in 0..<5 { #expect(try Self.read(pipe).message == "commit \(number) failed") }
        #expect(writer.close(within: .seconds(10)))
        #expect(try Self.read(pipe).message == "2 more in the last minute, such as: commit 6 failed")
    }

    @Test("writes all waiting lines before it closes")
    func closeFlushes() throws {
        let pipe = try TestPipe()
        let writer = try LogWriter(descriptor: pipe.writer, format: .json)
        let logger = Logger(writer, level: .info)
        for number in 0..<100 { logger.info("\(number)") }
        #expect(writer.close(within: .seconds(10)))
        for number in 0..<100 { #expect(try Self.read(pipe).message == "\(number)") }
        logger.info("too late")
        #expect(writer.droppedLineCount == 1)
        #expect(writer.close(within: .seconds(10)))
        #expect(pipe.waitingByteCount == 0)
    }

    @Test("gives up at its time limit when its reader pauses")
    func closeGivesUp() throws {
        let pipe = try TestPipe()
        let writer = try LogWriter(descriptor: pipe.writer, format: .json)
        let logger = Logger(writer, level: .info)
        for _ in 0..<2_000 { logger.info(String(repeating: "x", count: 100)) }
        let start = SystemClock.monotonic()
        #expect(!writer.close(within: .milliseconds(100)))
        #expect(SystemClock.monotonic().time(since: start) < .seconds(5))
    }

    @Test("survives a reader that is gone")
    func readerGone() throws {
        var ends: [Int32] = [-1, -1]
        #expect(pipe(&ends) == 0)
        Glibc.close(ends[0])
        defer { Glibc.close(ends[1]) }
        let writer = try LogWriter(descriptor: ends[1], format: .json)
        let logger = Logger(writer, level: .info)
        for _ in 0..<100 { logger.info("to nobody") }
        #expect(!writer.close(within: .seconds(10)))
    }

    @Test("keeps lines longer than one write and lines of many threads whole")
    func wholeLines() async throws {
        let pipe = try TestPipe()
        let writer = try LogWriter(descriptor: pipe.writer, format: .json)
        let logger = Logger(writer, level: .info)
        let threads = 4
        await withTaskGroup(of: Void.self) { group in
            for thread in 0..<threads {
                group.addTask {
                    for number in 0..<50 {
                        logger.with(["thread": .int(thread)]).info(String(repeating: "y", count: number * 30))
                    }
                }
            }
        }
        logger.info(String(repeating: "z", count: 50_000))
        for _ in 0..<(threads * 50) { #expect(try Self.read(pipe).message.allSatisfy { $0 == "y" }) }
        #expect(try Self.read(pipe).message.count == 50_000)
        #expect(writer.close(within: .seconds(10)))
        #expect(writer.droppedLineCount == 0)
    }
}
