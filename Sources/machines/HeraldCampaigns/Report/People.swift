internal import HeraldKafka
internal import HeraldTools

/// The people of a campaign by their users, with marks, in 10 to 13 bytes each: pure.
///
/// Two users are taken for one as rarely as in a ``RecipientSet``.
package struct People: Sendable {
    private var set = RecipientSet()
    /// How many were reached.
    package private(set) var reached = 0

    /// Adds marks to a user; those that were there before.
    @discardableResult
    mutating func mark(_ user: String, _ marks: RecipientSet.Marks) -> RecipientSet.Marks {
        let former = set.insert(Self.id(user), marks)
        if marks.contains(.reached), !former.contains(.reached) { reached += 1 }
        return former
    }

    /// The marks of a user; none of one who is not there.
    func marks(of user: String) -> RecipientSet.Marks { set.marks(of: Self.id(user)) }

    /// How many there are.
    var count: Int { self.set.count }

    /// Takes marks back from all.
    mutating func forget(_ marks: RecipientSet.Marks) { set.removeFromAll(marks) }

    private static func id(_ user: String) -> RecipientID {
        func half(_ salt: UInt8) -> UInt64 {
            var hasher = Hasher()
            hasher.combine(salt)
            // Not as a text, of which two ways to write ü are one.
            var user = user
            user.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
            return UInt64(bitPattern: Int64(hasher.finalize()))
        }
        return RecipientID(high: half(0), low: half(1))
    }
}

extension CampaignContext {
    /// Hands out the users whose events a campaign has published, as far as the request topic still holds them.
    ///
    /// - Parameter onProgress: how many of how many records were passed; `false` ends it.
    /// - Returns: whether the end was reached.
    package func publishedUsers(
        of definition: CampaignDefinition, _ layout: Layout, onProgress: (Int64, Int64) -> Bool,
        _ body: (String) throws -> Void
    ) throws -> Bool {
        let ids = RecipientIDs(campaign: definition.name)
        let reader = try published(definition, layout)
        defer { reader.close() }
        return try reader.catchUp(onProgress: onProgress) { message in
            guard PublishedEvents.id(of: message, ids) != nil, let key = message.keyCopy else { return }
            try body(String(decoding: key, as: UTF8.self))
        }
    }
}
