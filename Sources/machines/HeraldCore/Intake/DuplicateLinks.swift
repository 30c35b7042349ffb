/// The links from numbered notifications to the earlier ones that they may duplicate.
///
/// A ring in the order of the numbers, only of possible duplicates: few of all, so that the others take no room. Eight
/// bytes for each; it grows by doubling. Numbers that are remembered together are less than 2³¹ apart.
struct DuplicateLinks {
    private struct Link: BitwiseCopyable {
        /// The low half of the number.
        var number: UInt32
        /// The distance to the first one.
        var distance: UInt32
    }

    private static let smallestCapacity = 16

    /// A power of two of entries, or none.
    private var ring: [Link] = []
    private var oldest = 0
    private var count = 0

    var byteCount: Int { ring.capacity * MemoryLayout<Link>.stride }

    /// Notes that `number`, which is larger than all before, may be a duplicate of `first`.
    mutating func append(_ number: Int, first: Int) {
        if count == ring.count { grow() }
        ring[place(count)] = Link(
            number: UInt32(truncatingIfNeeded: number), distance: UInt32(truncatingIfNeeded: number &- first))
        count &+= 1
    }

    /// The notification that `number` may duplicate.
    func first(of number: Int) -> Int? {
        let wanted = UInt32(truncatingIfNeeded: number)
        var low = 0
        var high = count
        while low < high {
            let middle = (low &+ high) / 2
            let link = ring[place(middle)]
            if link.number == wanted { return number &- Int(link.distance) }
            if Int32(bitPattern: link.number &- wanted) < 0 { low = middle &+ 1 } else { high = middle }
        }
        return nil
    }

    /// Forgets `number`, the smallest remembered one, if it is here.
    @inline(__always)
    mutating func drop(_ number: Int) {
        guard count > 0, ring[oldest].number == UInt32(truncatingIfNeeded: number) else { return }
        oldest = place(1)
        count &-= 1
    }

    @inline(__always)
    private func place(_ index: Int) -> Int { (oldest &+ index) & (ring.count &- 1) }

    private mutating func grow() {
        var larger = [Link](
            repeating: Link(number: 0, distance: 0), count: max(Self.smallestCapacity, 2 * ring.count))
        for index in 0..<count { larger[index] = ring[place(index)] }
        ring = larger
        oldest = 0
    }
}
