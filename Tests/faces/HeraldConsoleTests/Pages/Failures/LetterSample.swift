import Foundation
import HeraldEvents
import HeraldReplay
import HeraldTime

/// Dead letters for an index.
enum LetterSample {
    /// 2026-11-21T08:40:26.123Z.
    static let moment: Int64 = 1_795_250_426_123

    /// A dead letter; an empty text removes a header.
    static func make(
        _ partition: Int32, _ offset: Int64, user: String = "ann", _ changes: [String: String] = [:]
    ) -> DeadLetterEntry {
        var headers = [
            "herald-id": "e\(offset)", "herald-pns": "apns,gcm", "herald-attempts": "8",
            "herald-origin": "notifications/3/\(offset)", "herald-reason": "attempts-exhausted",
            "herald-status": "503", "herald-detail": "the backend is away", "herald-source": "shop",
            "herald-dead-lettered-at": "\(moment + offset)",
        ]
        for (name, value) in changes { headers[name] = value.isEmpty ? nil : value }
        var list = HeaderList()
        for (name, value) in headers.sorted(by: { $0.key < $1.key }) { list.append(name, value) }
        var entry = DeadLetterEntry(decoder: RecordDecoder())
        entry.fill(
            partition: partition, offset: offset, timestamp: WallTime(milliseconds: moment), key: Array(user.utf8),
            value: Array(#"{"id":"e\#(offset)","user":"\#(user)","message":"Hello","pns":["apns","gcm"]}"#.utf8),
            headers: list)
        return entry
    }
}

/// Leases.
enum LeaseSample {
    /// The lease of a process on another machine.
    static func elsewhere() -> Lease? {
        let text =
            #"{"job":"replay-1","owner":"ann@far","process":{"boot":"b","namespace":"n","id":1,"started":"1"},"#
            + #""work":"replay --where x","since":1,"beat":1,"isOver":false}"#
        return Lease(decoding: Array(text.utf8))
    }
}
