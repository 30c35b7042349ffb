/// Some of the configured push services, each by its index in ``PushServices/names``; iteration gives indices.
public struct PushServiceSet: Sequence, Hashable, Sendable, ExpressibleByArrayLiteral {
    /// One bit for each push service.
    public var rawValue: UInt64

    /// The empty set.
    @inlinable
    public init() {
        rawValue = 0
    }

    /// The set with these bits.
    @inlinable
    public init(rawValue: UInt64) {
        self.rawValue = rawValue
    }

    /// The set of one push service; an index outside of 0 to 63 gives the empty set.
    @inlinable
    public init(index: Int) {
        rawValue = index < 0 ? 0 : 1 << index
    }

    /// The set of the push services with these indices.
    public init(arrayLiteral indices: Int...) {
        rawValue = 0
        for index in indices { insert(index) }
    }

    /// The number of push services in the set.
    @inlinable
    public var count: Int { rawValue.nonzeroBitCount }

    /// Whether no push service is in the set.
    @inlinable
    public var isEmpty: Bool { rawValue == 0 }

    /// The smallest index.
    @inlinable
    public var first: Int? { isEmpty ? nil : rawValue.trailingZeroBitCount }

    /// Whether the push service with this index is in the set.
    @inlinable
    public func contains(_ index: Int) -> Bool { rawValue & Self(index: index).rawValue != 0 }

    /// Adds the push service with this index.
    @inlinable
    public mutating func insert(_ index: Int) { rawValue |= Self(index: index).rawValue }

    /// Removes the push service with this index.
    @inlinable
    public mutating func remove(_ index: Int) { rawValue &= ~Self(index: index).rawValue }

    /// The union of the sets.
    @inlinable
    public func union(_ other: Self) -> Self { Self(rawValue: rawValue | other.rawValue) }

    /// The intersection of the sets.
    @inlinable
    public func intersection(_ other: Self) -> Self { Self(rawValue: rawValue & other.rawValue) }

    /// The difference of this set and the other.
    @inlinable
    public func subtracting(_ other: Self) -> Self { Self(rawValue: rawValue & ~other.rawValue) }

    /// Whether everything in this set is in the other too.
    @inlinable
    public func isSubset(of other: Self) -> Bool { rawValue & ~other.rawValue == 0 }

    /// Iterates over the indices from the smallest on.
    @inlinable
    public func makeIterator() -> Iterator { Iterator(rest: rawValue) }

    /// Iterates over the indices of a set.
    public struct Iterator: IteratorProtocol {
        @usableFromInline var rest: UInt64

        @inlinable
        init(rest: UInt64) {
            self.rest = rest
        }

        /// The next index.
        @inlinable
        public mutating func next() -> Int? {
            guard rest != 0 else { return nil }
            defer { rest &= rest - 1 }
            return rest.trailingZeroBitCount
        }
    }
}
