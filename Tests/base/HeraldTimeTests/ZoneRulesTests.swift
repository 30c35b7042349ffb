import Foundation
import HeraldTime
import TestSupport
import Testing

@Suite("Time zones")
struct ZoneRulesTests {
    private static let folder = "/usr/share/zoneinfo"

    private func rules(_ name: String) throws -> ZoneRules {
        let bytes = try Data(contentsOf: URL(filePath: "\(Self.folder)/\(name)"))
        return try ZoneFile.rules(Array(bytes).span.bytes)
    }

    /// Offsets right before and after each change of each zone, and moments of local times around it, as Python has
    /// them: a zone's name, or `O SECOND OFFSET`, or `L MINUTE SECOND`.
    private static let python = """
        import datetime, sys, zoneinfo
        utc, step = datetime.timezone.utc, 15 * 86400
        begin, end = (int(datetime.datetime(year, 1, 1, tzinfo=utc).timestamp()) for year in (1990, 2090))
        def offset(zone, second):
            return int(datetime.datetime.fromtimestamp(second, zone).utcoffset().total_seconds())
        for name in sorted(zoneinfo.available_timezones()):
            zone = zoneinfo.ZoneInfo(name)
            print(name)
            former = offset(zone, begin)
            for second in range(begin, end, step):
                now = offset(zone, second)
                if now == former: continue
                low, high = second - step, second
                while high - low > 1:
                    middle = (low + high) // 2
                    if offset(zone, middle) == former: low = middle
                    else: high = middle
                print('O', low, former)
                print('O', high, offset(zone, high))
                for local in (high + change + minutes * 60 for change in (former, now) for minutes in (-30, 0, 30)):
                    wall = datetime.datetime.fromtimestamp(local // 60 * 60, utc).replace(tzinfo=zone)
                    print('L', local // 60, int(wall.timestamp()))
                former = now
        """

    @Test("Each change of each zone until 2090, and local times beside it, are where Python has them")
    func allZones() throws {
        let output = FileManager.default.temporaryDirectory.appending(path: "herald-zones-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: output) }
        #expect(try ChildProcess(["python3", "-c", Self.python], output: output).wait() == 0)
        var zone = ZoneRules(offset: 0)
        var (name, zones, lines) = ("", 0, 0)
        for line in try String(contentsOf: output, encoding: .utf8).split(separator: "\n") {
            let words = line.split(separator: " ")
            guard words.count == 3, let first = Int64(words[1]), let second = Int64(words[2]) else {
                name = String(line)
                zone = try rules(name)
                zones += 1
                continue
            }
            lines += 1
            if words[0] == "O" {
                let moment = WallTime(milliseconds: first * 1_000)
                #expect(Int64(zone.offset(at: moment)) == second, "\(name) at \(first)")
            } else {
                let day = Int64((Double(first) / 1_440).rounded(.down))
                let moment = zone.moment(day: day, minute: Int(first - day * 1_440))
                #expect(moment.milliseconds == second * 1_000, "\(name), local minute \(first)")
            }
        }
        #expect(zones > 400 && lines > 50_000)
    }

    @Test(
        "A rule counts days in each of its three forms, in years with and without a leap day",
        arguments: [
            // March the first is the 60th day, the 29th of February not counted.
            ("X0Y,J60/0,J300", "2023-02-28T23:59:59Z", 0), ("X0Y,J60/0,J300", "2023-03-01T00:00:00Z", 3_600),
            ("X0Y,J60/0,J300", "2024-02-29T23:59:59Z", 0), ("X0Y,J60/0,J300", "2024-03-01T00:00:00Z", 3_600),
            // Or the 59th day after the first of January, and in a leap year the 60th.
            ("X0Y,59/0,300", "2023-02-28T23:59:59Z", 0), ("X0Y,59/0,300", "2023-03-01T00:00:00Z", 3_600),
            ("X0Y,59/0,300", "2024-02-28T23:59:59Z", 0), ("X0Y,59/0,300", "2024-02-29T00:00:00Z", 3_600),
            // On the last Sunday's day before, at 22:00 by the clock of winter.
            ("<-03>3<-02>,M3.5.0/-2,M10.5.0/-1", "2024-03-31T00:59:59Z", -10_800),
            ("<-03>3<-02>,M3.5.0/-2,M10.5.0/-1", "2024-03-31T01:00:00Z", -7_200),
            // Summer all the year.
            ("EST5EDT,0/0,J365/25", "2026-12-31T23:59:59Z", -14_400),
            ("EST5EDT,0/0,J365/25", "2027-01-01T00:00:00Z", -14_400),
            ("<+0330>-3:30", "2026-01-01T00:00:00Z", 12_600),
        ] as [(String, String, Int32)])
    func forms(rule: String, moment: String, offset: Int32) throws {
        let moment = try #require(parse(moment))
        #expect(try ZoneFile.rules(file(footer: rule).span.bytes).offset(at: moment) == offset)
    }

    private func parse(_ text: String) -> WallTime? { RFC3339.parse(Array(text.utf8).span.bytes) }

    /// A file of version 2 without changes, whose only type is UTC.
    private func file(footer: String) -> [UInt8] {
        let header = Array("TZif2".utf8) + [UInt8](repeating: 0, count: 15)
        func counts(_ types: UInt8, _ characters: UInt8) -> [UInt8] {
            [UInt8](repeating: 0, count: 19) + [types, 0, 0, 0, characters]
        }
        let data = [UInt8](repeating: 0, count: 6) + Array("X\0".utf8)
        return (header + counts(1, 2) + data) + (header + counts(1, 2) + data) + Array("\n\(footer)\n".utf8)
    }

    @Test(
        "What is no zone's file is refused",
        arguments: [
            ("", "is no compiled time zone"), ("TZif2", "is no compiled time zone"),
            ("cut", "is no compiled time zone"),
            ("one", "is of version 1; 2 or later is read"), ("footer", "has a footer that is no rule"),
            ("line", "has no footer"),
        ])
    func malformed(kind: String, problem: String) {
        let whole = file(footer: "UTC0")
        let bytes: [UInt8] =
            switch kind {
            case "cut": Array(whole.prefix(80))
            case "one": Array("TZif1".utf8) + whole.dropFirst(5)
            case "footer": file(footer: "CET-1CEST,M3.5.0")
            case "line": whole.dropLast()
            default: Array(kind.utf8)
            }
        #expect(throws: ZoneFile.Malformed.self) { try ZoneFile.rules(bytes.span.bytes) }
        do { _ = try ZoneFile.rules(bytes.span.bytes) } catch { #expect("\(error)" == problem) }
    }
}
