import Foundation
import HeraldTelemetry
import HeraldTime
import Testing

@Suite("The logger")
struct LoggerTests {
    private static func logger(
        _ pipe: TestPipe, _ level: LogLevel = .debug, _ format: LogFormat = .json
    ) throws -> (Logger, LogWriter) {
        let writer = try LogWriter(
            descriptor: pipe.writer, format: format, now: { WallTime(milliseconds: 1_795_250_426_123) })
        return (Logger(writer, level: level), writer)
    }

    @Test("writes one JSON object per line with time, level, message and the fields in their order")
    func json() throws {
        let pipe = try TestPipe()
        let (logger, writer) = try Self.logger(pipe)
        logger.with(["lane": 3]).info("taken", ["topic": "notifications", "share": 0.5, "isLate": true, "n": .int(-1)])
        let expected =
            #"{"time":"2026-11-21T08:40:26.123Z","level":"info","message":"taken","lane":3,"#
            + #""topic":"notifications","share":0.5,"isLate":true,"n":-1}"#
        #expect(try pipe.readLine() == expected)
        #expect(writer.close(within: .seconds(10)))
    }

    @Test("writes text for people, coloured only on request")
    func text() throws {
        let pipe = try TestPipe()
        let (plain, first) = try Self.logger(pipe, .info, .text(coloured: false))
        plain.warning("backend is slow", ["seconds": 2, "url": "http://a/?b=c", "word": "x", "empty": ""])
        #expect(
            try pipe.readLine()
                == #"2026-11-21T08:40:26.123Z warning backend is slow seconds=2 url="http://a/?b=c" word=x empty="""#)
        let (coloured, second) = try Self.logger(pipe, .info, .text(coloured: true))
        coloured.error("stuck")
        #expect(try pipe.readLine() == "2026-11-21T08:40:26.123Z \u{1B}[31merror\u{1B}[0m   stuck")
        first.close(within: .seconds(10))
        second.close(within: .seconds(10))
    }

    @Test("changes its level for all loggers made from it")
    func changedLevel() throws {
        let pipe = try TestPipe()
        let (logger, writer) = try Self.logger(pipe, .warning, .text(coloured: false))
        let child = logger.with(["lane": 1])
        child.info("left out")
        logger.use(.info)
        #expect(child.isOn(.info) && !child.isOn(.debug))
        child.info("written")
        #expect(try pipe.readLine() == "2026-11-21T08:40:26.123Z info    written lane=1")
        child.use(.error)
        #expect(!logger.isOn(.warning))
        writer.close(within: .seconds(10))
    }

    @Test("has a level of its own where one is set")
    func ownLevel() throws {
        let pipe = try TestPipe()
        let (logger, writer) = try Self.logger(pipe, .warning, .text(coloured: false))
        let own = logger.with(["lane": 1]).at(.info)
        logger.use(.error)
        #expect(!logger.isOn(.warning) && own.isOn(.info) && !own.isOn(.debug))
        own.info("written")
        #expect(try pipe.readLine() == "2026-11-21T08:40:26.123Z info    written lane=1")
        writer.close(within: .seconds(10))
    }

    static let hostile = [
        "line\nbreak\r\n", "\u{1B}[31mred\u{1B}[0m", "\u{0}\u{7}\u{8}\u{7F}", "\u{9B}31m", "\u{202E}evil\u{2066}",
        "a\u{2028}b",
        "\"quoted\" \\ back", "tab\t", "😀 ü", "\u{FEFF}",
    ]

    @Test("lets no text end the line or control the terminal, and JSON readers get the text back", arguments: hostile)
    func injection(text: String) throws {
        let pipe = try TestPipe()
        let (json, first) = try Self.logger(pipe)
        json.info(text, ["field": .string(text), text: "value"])
        let line = try pipe.readLine()
        let object = try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
        for value in [object["message"], object["field"]] {
            #expect(Array(try #require(value as? String).unicodeScalars) == Array(text.unicodeScalars))
        }
        let (plain, second) = try Self.logger(pipe, .info, .text(coloured: false))
        plain.info(text, ["field": .string(text), text: "value"])
        let lines = try [line, pipe.readLine()]
        for scalar in lines.joined().unicodeScalars {
            #expect(scalar.value >= 0x20 && !(0x7F...0x9F).contains(scalar.value))
            #expect(![0x202E, 0x2066, 0x2028, 0xFEFF].contains(scalar.value))
        }
        #expect(pipe.waitingByteCount == 0)
        first.close(within: .seconds(10))
        second.close(within: .seconds(10))
    }

    @Test("writes each name once: the line's own names are kept, later values replace earlier ones")
    func names() throws {
        let pipe = try TestPipe()
        let (logger, writer) = try Self.logger(pipe)
        logger.with(["a": 1, "time": "t"]).info("m", ["a": 2, "level": "l", "message": "x"])
        let line = try pipe.readLine()
        #expect(line.hasSuffix(#""message":"m","a":2,"time_":"t","level_":"l","message_":"x"}"#))
        writer.close(within: .seconds(10))
    }

    @Test("writes numbers outside of JSON's range as text", arguments: [Double.nan, .infinity, -.infinity])
    func numbers(number: Double) throws {
        let pipe = try TestPipe()
        let (logger, writer) = try Self.logger(pipe)
        logger.info("m", ["n": .double(number)])
        #expect(try pipe.readLine().hasSuffix(#""n":"\#(number)"}"#))
        writer.close(within: .seconds(10))
    }

    @Test("evaluates neither message nor fields of a disabled level", arguments: LogLevel.allCases)
    func levels(level: LogLevel) throws {
        let pipe = try TestPipe()
        let (logger, writer) = try Self.logger(pipe, level)
        var made: [LogLevel] = []
        func message(_ level: LogLevel) -> String {
            made.append(level)
            return level.rawValue
        }
        logger.error(message(.error))
        logger.warning(message(.warning))
        logger.info(message(.info))
        logger.debug(message(.debug))
        let expected = LogLevel.allCases.filter { $0 <= level }
        #expect(made == expected)
        #expect(expected.map { logger.isOn($0) }.allSatisfy { $0 })
        for wanted in expected { #expect(try pipe.readLine().contains(#""level":"\#(wanted.rawValue)""#)) }
        #expect(writer.close(within: .seconds(10)))
        #expect(pipe.waitingByteCount == 0)
        Logger.silent.error(message(.debug))
        #expect(made == expected)
    }
}
