import HeraldEvents
import HeraldReplay
import HeraldTime

/// Sample dead letters.
enum SampleEntry {
    /// 2026-11-21T08:40:26.123Z.
    static let moment = WallTime(milliseconds: 1_795_250_426_123)

    /// A dead letter of `ann`, with changed headers; an empty text removes a header.
    static func make(
        partition: Int32 = 2, offset: Int64 = 17, value: String? = nil, key: String? = "ann",
        _ changes: [String: String] = [:]
    ) -> DeadLetterEntry {
        var headers = [
            "herald-id": "e1", "herald-pns": "apns,gcm", "herald-attempts": "8",
            "herald-origin": "notifications/3/99", "herald-reason": "attempts-exhausted", "herald-status": "503",
            "herald-detail": "the backend is away", "herald-source": "shop",
            "herald-dead-lettered-at": "\(moment.milliseconds)", "herald-first-attempt-at": "1795250000000",
        ]
        for (name, value) in changes { headers[name] = value.isEmpty ? nil : value }
        var list = HeaderList()
        list.append("x-own", "kept")
        for (name, value) in headers.sorted(by: { $0.key < $1.key }) { list.append(name, value) }
        var entry = DeadLetterEntry(decoder: RecordDecoder())
        let event = #"{"id":"e1","user":"ann","message":"Hello","pns":["apns","gcm","wns"]}"#
        entry.fill(
            partition: partition, offset: offset, timestamp: moment, key: key.map { Array($0.utf8) },
            value: Array((value ?? event).utf8), headers: list)
        return entry
    }
}
