/// The registrations of a hub, indexed by id, tag, handle and installation; a value without clock or randomness.
struct RegistrationStore: Sendable {
    /// The number of remembered ids, issued or deleted.
    static let idLimit = 100_000

    let limit: Int
    private let tagsIgnoreCase: Bool
    private var registrations: [String: HubRegistration] = [:]
    private var idsByTag = IDIndex()
    private var idsByHandle = IDIndex()
    private var idsByInstallation = IDIndex()
    private var deleted: Set<String> = []
    private var deletedInOrder = BoundedLog<String>(limit: Self.idLimit)
    private var lastNumber = 0

    init(limit: Int, tagsIgnoreCase: Bool) {
        self.limit = limit
        self.tagsIgnoreCase = tagsIgnoreCase
    }

    subscript(_ id: String) -> HubRegistration? { registrations[id] }

    func hasRoom(for count: Int) -> Bool { registrations.count + count <= limit }

    func wasDeleted(_ id: String) -> Bool { deleted.contains(id) }

    mutating func put(_ registration: HubRegistration, id: String, at time: Int64) -> HubRegistration {
        var registration = registration
        let former = remove(id)
        lastNumber += 1
        registration.id = id
        registration.number = former?.number ?? lastNumber
        registration.version = (former?.version ?? 0) + 1
        registration.publishedAt = former?.publishedAt ?? time
        registration.updatedAt = time
        registrations[id] = registration
        for tag in registration.tags { idsByTag.insert(id, at: key(tag)) }
        idsByHandle.insert(id, at: registration.handle)
        if let installation = registration.installation { idsByInstallation.insert(id, at: installation) }
        return registration
    }

    /// Deletes a registration and remembers its id as deleted.
    mutating func delete(_ id: String) {
        guard remove(id) != nil, deleted.insert(id).inserted else { return }
        if let forgotten = deletedInOrder.append(id) { deleted.remove(forgotten) }
    }

    /// The registrations of one installation, in order of creation.
    func registrations(ofInstallation id: String) -> [HubRegistration] { inOrder(idsByInstallation[id]) }

    /// The registrations with this tag or handle, or all, after a number, in order of creation.
    func list(tag: String? = nil, handle: String? = nil, behind number: Int = 0) -> [HubRegistration] {
        let found: [HubRegistration] =
            if let tag {
                inOrder(idsByTag[key(tag)])
            } else if let handle {
                inOrder(idsByHandle[handle].union(idsByHandle[handle.uppercased()]))
            } else {
                registrations.values.sorted { $0.number < $1.number }
            }
        return found.filter { $0.number > number }
    }

    /// The registrations that a send reaches, in order of creation.
    func targets(of notification: HubNotification, at time: Int64) -> [HubRegistration] {
        let found: [HubRegistration]
        switch notification.audience {
        case .everybody: found = Array(registrations.values)
        case .handles: return []
        case .tags(let expression):
            let expression = tagsIgnoreCase ? expression.mapping { $0.lowercased() } : expression
            let ids = candidates(expression)
            found = (ids.map { $0.compactMap { registrations[$0] } } ?? Array(registrations.values)).filter {
                expression.matches(Set($0.tags.map { key($0) }))
            }
        }
        return found.filter { registration in
            let isOfFormat =
                notification.platform == nil
                ? registration.template != nil
                : registration.template == nil && registration.platform == notification.platform
            return isOfFormat && registration.expiresAt ?? .max > time
        }.sorted { $0.number < $1.number }
    }

    /// A superset of the ids that the expression matches; `nil` is all.
    private func candidates(_ expression: TagExpression) -> Set<String>? {
        switch expression {
        case .tag(let tag): return idsByTag[tag]
        case .not: return nil
        case .all(let parts): return parts.lazy.compactMap { candidates($0) }.min { $0.count < $1.count }
        case .any(let parts):
            var union: Set<String> = []
            for part in parts {
                guard let ids = candidates(part) else { return nil }
                union.formUnion(ids)
            }
            return union
        }
    }

    private mutating func remove(_ id: String) -> HubRegistration? {
        guard let former = registrations.removeValue(forKey: id) else { return nil }
        for tag in former.tags { idsByTag.remove(id, at: key(tag)) }
        idsByHandle.remove(id, at: former.handle)
        if let installation = former.installation { idsByInstallation.remove(id, at: installation) }
        return former
    }

    private func inOrder(_ ids: Set<String>) -> [HubRegistration] {
        ids.compactMap { registrations[$0] }.sorted { $0.number < $1.number }
    }

    private func key(_ tag: String) -> String { tagsIgnoreCase ? tag.lowercased() : tag }
}
