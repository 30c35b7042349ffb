import HeraldEvents
import HeraldSandbox

struct DemoDevice: Sendable {
    let user: String
    let pushService: String
    let handle: String

    /// The devices; the report shows the first two.
    static let all = [
        Self(user: "alice", pushService: "apns", handle: "0A11CEFF"),
        Self(user: "grace", pushService: "wns", handle: "https://wns.example/?token=grace%2Btablet"),
        Self(user: "alice", pushService: "gcm", handle: "alice-phone"),
        Self(user: "erin", pushService: "gcm", handle: "erin-phone"),
    ]
    static let shownCount = 2

    /// The devices that miss notifications delivered to their users, one line each.
    static func differences(_ tracker: DemoTracker, _ backend: DemoBackend) -> [String] {
        all.compactMap { device in
            let delivered = tracker.results.count {
                $0.user == device.user && $0.pushService == device.pushService && $0.outcome == .delivered
            }
            let received = backend.payloads(device).count
            guard delivered != received else { return nil }
            return "\(device.user)'s device on \(device.pushService) received \(received) notifications "
                + "instead of \(delivered)"
        }
    }
}
