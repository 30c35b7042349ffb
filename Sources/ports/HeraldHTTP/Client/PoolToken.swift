/// The numbers of a ``ConnectionPool``'s descriptors in the 56 bits that an ``EventToken`` leaves it.
struct PoolToken {
    enum Kind: UInt8 {
        /// A socket that libcurl is connecting; `number` is the descriptor.
        case connecting
        /// A connection of the pool; `number` is its slot.
        case connection
        /// The answer about the origin's name is there.
        case resolver
    }

    var kind: Kind
    var group = 0
    var number: Int
}

extension PoolToken {
    init?(_ token: EventToken) {
        guard let kind = Kind(rawValue: UInt8(truncatingIfNeeded: token.payload >> 48)) else { return nil }
        self.init(
            kind: kind, group: Int(UInt16(truncatingIfNeeded: token.payload >> 32)),
            number: Int(UInt32(truncatingIfNeeded: token.payload)))
    }

    func eventToken(owner: UInt8) -> EventToken {
        EventToken(
            owner: owner,
            payload: UInt64(kind.rawValue) << 48 | UInt64(UInt16(truncatingIfNeeded: group)) << 32
                | UInt64(UInt32(truncatingIfNeeded: number)))
    }
}
