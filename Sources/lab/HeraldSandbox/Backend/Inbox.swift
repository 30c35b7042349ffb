import HeraldText
import HeraldTime

/// What a device received from the reference backend.
struct InboxEntry: Equatable {
    var platform: PushPlatform
    var payload: String
    var at: WallTime
}

/// What the devices received; of each device and of the devices themselves only the newest are kept.
struct Inbox<Entry: Sendable>: Sendable {
    /// Of so many handles the inbox is kept; one more, and that of the oldest is dropped.
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

    /// What the device received, oldest first; nothing for a handle that received nothing.
    func entries(of handle: String) -> [Entry] { entries[handle]?.elements ?? [] }

    /// How many of the device's notifications were dropped because newer ones came.
    func droppedCount(of handle: String) -> Int { entries[handle]?.droppedCount ?? 0 }
}

extension [InboxEntry] {
    var json: [UInt8] {
        let entries: [JSONValue] = map { entry in
            [
                "pns": .string(entry.platform.rawValue), "payload": .string(entry.payload),
                "at": .string(RFC3339.text(entry.at)),
            ]
        }
        return JSONValue.array(entries).bytes
    }
}
