import HeraldCommandLine
import HeraldEvents
import HeraldTime
import Testing

@testable import HeraldDemo

@Suite("The demo's live table")
struct LiveTableTests {
    private static func lines(
        _ tracker: DemoTracker, columns: Int = 80, rows: Int = 24,
        paint: @escaping LiveTable.Paint = { text, _ in text }
    ) -> [String] {
        LiveTable(size: TerminalSize(columns: columns, rows: rows), paint: paint)
            .lines(tracker, title: "the title", hint: "a hint", now: WallTime(milliseconds: 0))
    }

    /// All scenes, some settled, some called, some waiting.
    private static func busy() throws -> DemoTracker {
        var played = try PlayedTracker(except: [1, 3, 4])
        played.call(1, "gcm", status: 503)
        played.retry(3, "gcm", attempts: 4, due: 2_345)
        return played.tracker
    }

    @Test(
        "Lines are narrower than the terminal, and fewer than its rows",
        arguments: [1, 5, 20, 40, 79, 80, 81, 120, 200, 500])
    func widths(_ columns: Int) throws {
        for rows in [1, 2, 5, 6, 24, 100] {
            let lines = Self.lines(try Self.busy(), columns: columns, rows: rows)
            #expect(lines.allSatisfy { $0.displayWidth < columns })
            #expect(lines.count <= max(1, rows - 1))
        }
    }

    @Test("At 80 columns a line has user, message, push service, state and calls")
    func line() throws {
        let lines = Self.lines(try Self.busy(), rows: 60).map { String($0.trimmingSuffix(" ")) }
        #expect(lines[1] == "USER     MESSAGE                 PNS   STATE                              CALLS")
        #expect(lines[2] == "alice    Your parcel is here     apns  ✓ delivered                            1")
        #expect(lines[3] == "                                 gcm   ✓ delivered                            1")
        #expect(lines[4] == "nina     CloudEvent as JSON      gcm   → answered 503                         1")
        #expect(lines[5] == "bob      Has opted out of ads    gcm   – suppressed: opted-out")
        #expect(lines[7] == "                                 gcm   ↻ retry.3s, due in 2.3 s")
        #expect(lines.contains("josé     No tag holds this user  apns  ✗ dead letter: invalid"))
        #expect(lines.last == "7 delivered · 4 dead-lettered · 1 expired · 2 suppressed · 5 under way  a hint")
    }

    @Test("200 columns have room for reason and status")
    func wide() throws {
        let lines = Self.lines(try Self.busy(), columns: 200, rows: 60)
        #expect(lines.contains { $0.contains("↻ retry.3s, due in 2.3 s (transient 503)") })
        #expect(lines.contains { $0.contains("✗ dead letter: rejected (400)") })
    }

    @Test("Control and direction characters from events never reach the terminal")
    func control() throws {
        var scene = DemoScript.scenes[0]
        scene.user = "a\u{1B}[2J\u{202E}"
        scene.message = "\r\n\u{9B}2J\u{7}\u{2028}日本語の長いメッセージ"
        let lines = Self.lines(try PlayedTracker([scene], except: [0]).tracker, columns: 200)
        for scalar in lines.joined().unicodeScalars {
            #expect(scalar.value >= 0x20 && !(0x7F...0x9F).contains(scalar.value))
            #expect(![0x2028, 0x202E].contains(scalar.value))
        }
        #expect(lines.allSatisfy { $0.displayWidth < 200 })
    }

    @Test("Colour comes from the painter alone, and takes no room")
    func paint() throws {
        let plain = Self.lines(try Self.busy())
        let painted = Self.lines(try Self.busy()) { text, _ in "<\(text)>" }
        #expect(zip(plain, painted).allSatisfy { $1.replacing("<", with: "").replacing(">", with: "") == $0 })
        #expect(painted.contains { $0.contains("<✓ delivered                      >") })
    }

    @Test("With too few rows, events in progress come first, then the newest, in the events' order")
    func choice() throws {
        let tracker = try Self.busy()
        let rows = LiveTable.rows(of: tracker, limit: 7)
        #expect(
            rows.map { "\($0.user) \($0.pushService)" } == [
                "nina gcm", "grace apns", "grace gcm", "grace wns", "judy apns", "kim gcm", "olivia wns",
            ])
        #expect(rows.map(\.isContinued) == [false, false, true, true, false, false, false])
        #expect(LiveTable.rows(of: tracker, limit: 2).map(\.pushService) == ["wns", "apns"])
        #expect(LiveTable.rows(of: tracker, limit: 2).allSatisfy { !$0.isContinued })
    }
}

extension String {
    fileprivate func trimmingSuffix(_ character: Character) -> Substring {
        var rest = self[...]
        while rest.last == character { rest.removeLast() }
        return rest
    }
}
