import HeraldHub
import HeraldText

/// The registrations of the reference backend: issued ids and the devices stored under them.
///
/// A value without clock or randomness. Ids of another run are unknown, because each run has its own prefix.
struct DeviceRegistry {
    /// A device's own description and its owner.
    struct Device: Equatable {
        var platform: PushPlatform
        var handle: String
        /// Includes the tag `username:{owner}`, which the backend adds.
        var tags: [String]
        var owner: String
    }

    enum PutOutcome: Equatable {
        case done
        case foreignTag(String)
        /// The id was deleted or never issued.
        case gone
    }

    /// The maximum number of registrations, with or without a device.
    static let limit = 10_000

    private struct Registration {
        let number: Int
        var device: Device?
    }

    private let prefix: String
    private var lastNumber = 0
    private var registrations: [String: Registration] = [:]
    private var idsByHandle: [String: Set<String>] = [:]
    private var idsByOwner: [String: Set<String>] = [:]

    init(prefix: String) {
        self.prefix = prefix
    }

    /// A registration id: the first one with this handle, whose duplicates are deleted, or a new one.
    ///
    /// `nil` when the limit is reached.
    mutating func giveID(forHandle handle: String?) -> String? {
        if let handle, let first = inOrder(idsByHandle[handle]).first {
            for other in inOrder(idsByHandle[handle]).dropFirst() { delete(other) }
            return first
        }
        guard registrations.count < Self.limit else { return nil }
        lastNumber += 1
        let id = "\(prefix)-\(lastNumber)"
        registrations[id] = Registration(number: lastNumber)
        return id
    }

    /// Creates or replaces the device of a registration for its owner.
    mutating func put(_ id: String, platform: PushPlatform, handle: String, tags: [String], owner: String) -> PutOutcome
    {
        let ownTag = "username:" + owner
        if let foreign = BackendAction.foreignTag(tags, caller: owner) { return .foreignTag(foreign) }
        guard registrations[id] != nil else { return .gone }
        setDevice(of: id, nil)
        let allTags = tags.contains(ownTag) ? tags : tags + [ownTag]
        setDevice(of: id, Device(platform: platform, handle: handle, tags: allTags, owner: owner))
        return .done
    }

    /// Deletes a registration; a missing one is not an error.
    mutating func delete(_ id: String) {
        setDevice(of: id, nil)
        registrations[id] = nil
    }

    /// The devices with the tag `username:{user}`, in the order of their ids.
    ///
    /// Tags of other users are refused, so these are the user's own devices.
    func devices(ofUser user: String) -> [Device] {
        inOrder(idsByOwner[user]).compactMap { registrations[$0]?.device }
    }

    private mutating func setDevice(of id: String, _ device: Device?) {
        if let former = registrations[id]?.device {
            Self.remove(id, from: &idsByHandle, at: former.handle)
            Self.remove(id, from: &idsByOwner, at: former.owner)
        }
        registrations[id]?.device = device
        if let device {
            idsByHandle[device.handle, default: []].insert(id)
            idsByOwner[device.owner, default: []].insert(id)
        }
    }

    private static func remove(_ id: String, from index: inout [String: Set<String>], at key: String) {
        index[key]?.remove(id)
        if index[key]?.isEmpty == true { index[key] = nil }
    }

    private func inOrder(_ ids: Set<String>?) -> [String] {
        guard let ids else { return [] }
        return ids.sorted { registrations[$0]?.number ?? 0 < registrations[$1]?.number ?? 0 }
    }
}

/// A push service known to the reference backend, with the payloads of its devices.
enum PushPlatform: String, CaseIterable, Sendable {
    case wns
    case gcm
    case apns

    /// The payload in the platform's own form, with the text escaped.
    func payload(for text: String) -> String {
        switch self {
        case .wns:
            #"<toast><visual><binding template="ToastText01"><text id="1">"# + XMLText.escaped(text)
                + "</text></binding></visual></toast>"
        case .apns: JSONValue.object([.init("aps", ["alert": .string(text)])]).compact
        case .gcm: JSONValue.object([.init("data", ["message": .string(text)])]).compact
        }
    }
}
