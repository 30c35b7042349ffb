/// What makes two events the same one: their source, their identifier and their user, in one request partition.
enum DuplicateIdentity {
    /// The identity as 64 bits.
    ///
    /// - Parameters:
    ///   - source: The event's source; absent is another identity than empty.
    ///   - salt: What tells the partition from all others.
    ///   - seed: A secret of the process, so that nobody can choose an event that is taken for somebody else's.
    static func hash(
        source: RawSpan?, id: RawSpan, user: RawSpan, partition salt: UInt64, seed: UInt64
    ) -> UInt64 {
        var hasher = ByteHash(seed: seed)
        hasher.add(salt)
        if let source { hasher.add(field: source) } else { hasher.addAbsentField() }
        hasher.add(field: id)
        hasher.add(field: user)
        return hasher.finish()
    }

    /// The identity of the event's notification to one push service.
    static func hash(_ event: UInt64, service: Int) -> UInt64 {
        event &+ UInt64(service) &* 0x9E37_79B9_7F4A_7C15
    }
}
