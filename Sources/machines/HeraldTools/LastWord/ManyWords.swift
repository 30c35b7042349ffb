package import HeraldEvents

/// The names of many users, by hashes of this process: some 10 bytes for each, twice that with a secret for kept words.
package struct UserHashes: Sendable {
    private var own: Set<Int> = []
    /// The users' hashes by those of the keys under which their opt-outs outlive an erasure.
    private var ofKept: [Int: Int] = [:]
    private let kept: KeptNames?

    package init(kept: KeptNames?) { self.kept = kept }

    package var isEmpty: Bool { own.isEmpty }

    package mutating func insert(_ user: String) {
        guard own.insert(user.hashValue).inserted, let kept else { return }
        ofKept[Self.hash(kept.key(of: user.utf8.span.bytes))] = user.hashValue
    }

    fileprivate func user(ofKey hash: Int) -> (user: Int, isKept: Bool)? {
        if own.contains(hash) { return (hash, false) }
        return ofKept[hash].map { ($0, true) }
    }

    fileprivate static func hash(_ key: [UInt8]) -> Int { String(decoding: key, as: UTF8.self).hashValue }
}

/// What the preferences topic says of many users, record after record: pure.
package struct ManyWords {
    private let users: UserHashes
    private let pushServices: PushServices
    private var own: [Int: Preference] = [:]
    private var kept: [Int: Preference] = [:]

    package init(of users: UserHashes, pushServices: PushServices) {
        (self.users, self.pushServices) = (users, pushServices)
    }

    /// What holds for a user, and whether it was kept of one who is forgotten; `nil` when there is nothing.
    package subscript(user: String) -> (word: Preference, isKept: Bool)? {
        let hash = user.hashValue
        return own[hash].map { ($0, false) } ?? kept[hash].map { ($0, true) }
    }

    /// Takes the next record.
    package mutating func take(key: [UInt8], value: [UInt8]?) {
        guard let (user, isKept) = users.user(ofKey: UserHashes.hash(key)) else { return }
        let former = isKept ? nil : (own[user] ?? kept[user]).map { LastWordContext.Entry(preference: $0) }
        let word = value.map { LastWordContext.Entry($0, after: former, pushServices: pushServices).preference }
        if isKept { kept[user] = word } else { own[user] = word }
    }
}
