import HeraldText

/// The registrations of the reference backend: issued ids and the devices stored under them.
///
/// A value without clock or randomness. Ids of another run are unknown, because each run has its own prefix.
struct DeviceRegistry {
    struct Device {
        let platform: PushPlatform
        let handle: String
        let owner: String
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
    private var idsByHandle = IDIndex()
    private var idsByOwner = IDIndex()

    init(prefix: String) {
        self.prefix = prefix
    }

    /// A registration id: the first one with this handle, whose duplicates are deleted, or a new one.
    ///
    /// `nil` when the limit is reached.
    mutating func giveID(forHandle handle: String?) -> String? {
        if let handle, case let known = inOrder(idsByHandle[handle]), let first = known.first {
            for other in known.dropFirst() { delete(other) }
            return first
        }
        guard registrations.count < Self.limit else { return nil }
        lastNumber += 1
        let id = "\(prefix)-\(lastNumber)"
        registrations[id] = Registration(number: lastNumber)
        return id
    }

    /// Creates or replaces the device of a registration for its owner; the answer is 403 for a tag of another user,
    /// and 410 for an id that was deleted or never issued.
    mutating func put(_ id: String, platform: PushPlatform, handle: String, tags: [String], owner: String) -> Reply {
        if BackendAction.foreignTag(tags, caller: owner) != nil { return .foreignTag }
        guard registrations[id] != nil else { return .gone }
        setDevice(of: id, Device(platform: platform, handle: handle, owner: owner))
        return .ok
    }

    /// Deletes a registration; a missing one is not an error.
    mutating func delete(_ id: String) {
        setDevice(of: id, nil)
        registrations[id] = nil
    }

    /// The devices with the tag `username:{user}`, in the order of their ids, perhaps those on one push service.
    ///
    /// Tags of other users are refused, so these are the user's own devices.
    func devices(ofUser user: String, on platform: PushPlatform? = nil) -> [Device] {
        inOrder(idsByOwner[user]).compactMap { registrations[$0]?.device }
            .filter { platform == nil || $0.platform == platform }
    }

    private mutating func setDevice(of id: String, _ device: Device?) {
        if let former = registrations[id]?.device {
            idsByHandle.remove(id, at: former.handle)
            idsByOwner.remove(id, at: former.owner)
        }
        registrations[id]?.device = device
        if let device {
            idsByHandle.insert(id, at: device.handle)
            idsByOwner.insert(id, at: device.owner)
        }
    }

    private func inOrder(_ ids: Set<String>) -> [String] {
        ids.sorted { registrations[$0]?.number ?? 0 < registrations[$1]?.number ?? 0 }
    }
}

/// Ids by a property that several may share.
struct IDIndex: Sendable {
    private var ids: [String: Set<String>] = [:]

    subscript(_ key: String) -> Set<String> { ids[key] ?? [] }

    mutating func insert(_ id: String, at key: String) { ids[key, default: []].insert(id) }

    mutating func remove(_ id: String, at key: String) {
        ids[key]?.remove(id)
        if ids[key]?.isEmpty == true { ids[key] = nil }
    }
}

extension Reply {
    static let foreignTag = Self.failure(403, "a tag names another user")
    static let gone = Self.failure(410, "the registration is gone")
}

/// A push service known to the reference backend.
enum PushPlatform: String, CaseIterable, Sendable {
    case wns
    case gcm
    case apns
}
