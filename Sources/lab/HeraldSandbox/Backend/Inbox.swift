import HeraldText
import HeraldTime

/// A notification that a device received from the reference backend.
struct InboxEntry {
    let platform: PushPlatform
    let payload: String
    let at: WallTime

    var json: JSONValue {
        ["pns": .string(platform.rawValue), "payload": .string(payload), "at": .string(RFC3339.text(at))]
    }
}

/// The devices' notifications; only the newest of each device, and of the newest devices, are kept.
struct Inbox<Entry: Sendable>: Sendable {
    /// The maximum number of handles; one more drops the oldest handle's inbox.
    private static var handleLimit: Int { 10_000 }

    private let entryLimit: Int
    private var entries: [String: BoundedLog<Entry>] = [:]
    private var handles = BoundedLog<String>(limit: Self.handleLimit)

    init(entryLimit: Int) {
        self.entryLimit = entryLimit
    }

    mutating func receive(_ entry: Entry, on handle: String) {
        if entries[handle] == nil {
            if let displaced = handles.append(handle) { entries[displaced] = nil }
            entries[handle] = BoundedLog(limit: entryLimit)
        }
        entries[handle]?.append(entry)
    }

    /// The device's notifications, oldest first; empty for a handle without any.
    func entries(of handle: String) -> [Entry] { entries[handle]?.elements ?? [] }

    func droppedCount(of handle: String) -> Int { entries[handle]?.droppedCount ?? 0 }
}
