import HeraldTime
import Testing

@Suite("RFC 3339 date-times")
struct RFC3339Tests {
    private func parse(_ text: String) -> Int64? {
        RFC3339.parse(Array(text.utf8).span.bytes)?.milliseconds
    }

    private func format(_ milliseconds: Int64) -> String {
        var output: [UInt8] = []
        RFC3339.append(WallTime(milliseconds: milliseconds), to: &output)
        return String(decoding: output, as: UTF8.self)
    }

    @Test(
        "Every legal form is read",
        arguments: [
            ("1970-01-01T00:00:00Z", 0), ("1970-01-01t00:00:00z", 0), ("2026-11-21T08:40:26.123Z", 1_795_250_426_123),
            ("2026-11-21T09:40:26.123+01:00", 1_795_250_426_123), ("2026-11-20T22:40:26.123-10:00", 1_795_250_426_123),
            ("1970-01-01T00:00:00-00:00", 0), ("1970-01-01T00:00:00.1Z", 100), ("1970-01-01T00:00:00.1239999999Z", 123),
            ("2000-02-29T00:00:00Z", 951_782_400_000), ("1969-12-31T23:59:59.999Z", -1),
            ("2016-12-31T23:59:60Z", 1_483_228_800_000), ("2017-01-01T00:59:60.5+01:00", 1_483_228_800_500),
            ("0000-01-01T00:00:00Z", -62_167_219_200_000), ("9999-12-31T23:59:59.999Z", 253_402_300_799_999),
        ] as [(String, Int64)])
    func legal(text: String, milliseconds: Int64) {
        #expect(parse(text) == milliseconds)
    }

    @Test(
        "Every other form is refused",
        arguments: [
            "", "2026", "2026-11-21", "2026-11-21T08:40:26", "2026-11-21 08:40:26Z", "2026-11-21T08:40Z",
            "2026-02-29T00:00:00Z", "1900-02-29T00:00:00Z", "2026-04-31T00:00:00Z", "2026-00-01T00:00:00Z",
            "2026-13-01T00:00:00Z", "2026-01-00T00:00:00Z", "2026-01-01T24:00:00Z", "2026-01-01T00:60:00Z",
            "2026-01-01T00:00:61Z", "2026-01-01T12:00:60Z", "2026-01-01T00:00:00.Z", "2026-01-01T00:00:00,5Z",
            "2026-01-01T00:00:00+24:00", "2026-01-01T00:00:00+01:60", "2026-01-01T00:00:00+0100",
            "2026-01-01T00:00:00+1:00", "2026-01-01T00:00:00ZZ", " 2026-01-01T00:00:00Z", "2026-01-01T00:00:00Z ",
            "+026-01-01T00:00:00Z", "20260-01-01T00:00:00Z", "2026-1-01T00:00:00Z", "٢٠٢٦-01-01T00:00:00Z",
            "2026-01-01T00:00:00", "2026-01-01T00:00:00.5",
        ])
    func illegal(text: String) {
        #expect(parse(text) == nil)
    }

    @Test("A written moment is read back as the same moment, on every day of four centuries")
    func roundTrip() {
        var milliseconds: Int64 = -11_676_096_000_000 + 12_345_678
        for _ in 0..<(146_097 + 1) {
            let text = format(milliseconds)
            if parse(text) != milliseconds || text.utf8.count != RFC3339.formattedByteCount {
                Issue.record("\(milliseconds) was written as \(text)")
                return
            }
            milliseconds += 86_400_000
        }
    }

    @Test(
        "Moments are written in UTC with milliseconds, and bounded to four-digit years",
        arguments: [
            (0, "1970-01-01T00:00:00.000Z"), (-1, "1969-12-31T23:59:59.999Z"),
            (1_795_250_426_123, "2026-11-21T08:40:26.123Z"), (951_782_400_007, "2000-02-29T00:00:00.007Z"),
            (Int64.max, "9999-12-31T23:59:59.999Z"), (Int64.min, "0000-01-01T00:00:00.000Z"),
        ] as [(Int64, String)])
    func written(milliseconds: Int64, text: String) {
        #expect(format(milliseconds) == text)
    }

    @Test("The first and the last day of every month are written with the calendar's date")
    func calendar() {
        var milliseconds = RFC3339.earliest.milliseconds
        var ofDay: Int64 = 0
        for year in 0...9_999 {
            let isLeap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
            for month in 1...12 {
                let lastDay = month == 2 ? (isLeap ? 29 : 28) : [4, 6, 9, 11].contains(month) ? 30 : 31
                for day in [1, lastDay] {
                    let (hour, minute, second) = (ofDay / 3_600_000, ofDay / 60_000 % 60, ofDay / 1_000 % 60)
                    let date = "\(padded(year, 4))-\(padded(month))-\(padded(day))"
                    let time = "\(padded(Int(hour))):\(padded(Int(minute))):\(padded(Int(second)))"
                    let text = format(milliseconds + Int64(day - 1) * 86_400_000 + ofDay)
                    if text != "\(date)T\(time).\(padded(Int(ofDay % 1_000), 3))Z" {
                        Issue.record("\(date)T\(time) was written as \(text)")
                        return
                    }
                    ofDay = (ofDay + 12_345_679) % 86_400_000
                }
                milliseconds += Int64(lastDay) * 86_400_000
            }
        }
        #expect(milliseconds == RFC3339.latest.milliseconds + 1)
    }

    private func padded(_ number: Int, _ digits: Int = 2) -> String {
        let text = String(number)
        return String(repeating: "0", count: digits - text.utf8.count) + text
    }
}
