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
