import HeraldBytes
import HeraldEvents
import HeraldTime
import Testing

@Suite("The history of attempts")
struct AttemptHistoryTests {
    private func entry(_ number: Int64, error: String? = nil) -> AttemptEntry {
        AttemptEntry(
            at: WallTime(milliseconds: number), pushService: "apns", status: error == nil ? 503 : nil, error: error,
            duration: .milliseconds(number))
    }

    private func append(_ entries: [AttemptEntry], to existing: String) -> String {
        var writer = AttemptHistoryWriter()
        // The former history must leave no traces.
        writer.begin(with: #"[{"former":1}]"#.utf8.span.bytes)
        writer.begin(with: existing.utf8.span.bytes)
        for entry in entries { writer.append(entry) }
        var output: [UInt8] = []
        writer.write(to: &output)
        return String(decoding: output, as: UTF8.self)
    }

    @Test("Attempts are written in the contract's form")
    func written() {
        #expect(
            append([entry(12), entry(10_000, error: "timeout")], to: "")
                == #"[{"at":"1970-01-01T00:00:00.012Z","pns":"apns","status":503,"ms":12},"#
                + #"{"at":"1970-01-01T00:00:10.000Z","pns":"apns","error":"timeout","ms":10000}]"#)
        #expect(append([], to: "") == "[]")
    }

    @Test("New attempts follow the former ones, which are unchanged")
    func appended() {
        #expect(append([entry(1)], to: #" [ {"x": [1, 2]} , {} ] "#).hasPrefix(#"[{"x": [1, 2]},{},{"at":"#))
        let all = append([entry(2)], to: append([entry(1)], to: "[]"))
        #expect(AttemptHistory.decode(all.utf8.span.bytes) == [entry(1), entry(2)])
    }

    @Test(
        "A damaged history starts anew",
        arguments: ["x", "{}", "[", "[1]", "[{}", "[{}]]", "[{},1]", "[{\"a\":}]", "\u{FEFF}[]", "[\"x\"]"])
    func damaged(existing: String) {
        #expect(append([entry(1)], to: existing) == append([entry(1)], to: ""))
        #expect(AttemptHistory.decode(existing.utf8.span.bytes).isEmpty)
    }

    @Test("The oldest go first when it exceeds 8 KiB")
    func trimmed() {
        var history = ""
        for number in 0..<300 as Range<Int64> { history = append([entry(number)], to: history) }
        let entries = AttemptHistory.decode(history.utf8.span.bytes)
        #expect(history.utf8.count <= AttemptHistory.maximumByteCount)
        #expect(history.utf8.count > AttemptHistory.maximumByteCount - 100)
        #expect(entries.last == entry(299))
        #expect(entries.map(\.duration.count) == Array((300 - Int64(entries.count))..<300))
    }

    @Test("Exactly 8 KiB are kept, and a single attempt above that is not")
    func boundary() {
        let overhead = append([entry(1, error: "")], to: "").utf8.count
        let exact = entry(1, error: String(repeating: "x", count: 8_192 - overhead))
        #expect(append([exact], to: "").utf8.count == 8_192)
        let larger = entry(1, error: String(repeating: "x", count: 8_193 - overhead))
        #expect(append([larger], to: "") == "[]")
        #expect(append([exact], to: "[{}]").utf8.count == 8_192)
    }
}
