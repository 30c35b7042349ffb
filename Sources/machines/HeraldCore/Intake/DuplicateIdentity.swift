/// What makes two events the same one: their source, their identifier and their user, in one request partition.
enum DuplicateIdentity {
    /// The identity as 64 bits.
    ///
    /// - Parameters:
    ///   - source: The hash of the event's source; 0 when it is absent, which is another identity than empty.
    ///   - user: The hash of its user.
    ///   - salt: What tells the partition from all others.
    /// - seed: A secret of the process, so that no publisher can choose an event that is taken for another's.
    static func hash(
        source: UInt64, id: RawSpan, user: UInt64, partition salt: UInt64, seed: UInt64
    ) -> UInt64 {
        var hasher = ByteHash(seed: seed)
        hasher.add(salt)
        hasher.add(source)
        hasher.add(user)
        hasher.add(field: id)
        return hasher.finish()
    }

    /// The identity of the event's notification to one push service.
    static func hash(_ event: UInt64, service: Int) -> UInt64 {
        event &+ UInt64(service) &* 0x9E37_79B9_7F4A_7C15
    }
}
