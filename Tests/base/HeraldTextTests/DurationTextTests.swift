import HeraldText
import Testing

@Suite("Durations as text")
struct DurationTextTests {
    @Test(
        "A whole number and a unit is a duration, and so is 0",
        arguments: [
            ("0", Duration.zero), ("100ms", .milliseconds(100)), ("10s", .seconds(10)), ("5m", .seconds(300)),
            ("24h", .seconds(86_400)), ("1d", .seconds(86_400)),
            ("9999999999d", .milliseconds(9_999_999_999 * 86_400_000)),
        ])
    func parses(text: String, duration: Duration) {
        #expect(DurationText.parse(text) == duration)
    }

    @Test(
        "Any other text is not a duration",
        arguments: [
            "", "5", "s", "5x", "5 s", " 5s", "-5s", "+5s", "1.5s", "05s", "0s", "1h30m", "5S", "٣s", "99999999999s",
            "5ss",
        ])
    func refuses(text: String) {
        #expect(DurationText.parse(text) == nil)
    }

    @Test(
        "A written duration is read back, and 24h stays 24h",
        arguments: ["0", "1ms", "1500ms", "10s", "90s", "5m", "24h", "25h", "2d", "7d"])
    func roundTrip(text: String) throws {
        #expect(DurationText.format(try #require(DurationText.parse(text))) == text)
    }
}
