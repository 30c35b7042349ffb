/// The newest elements up to a limit; each one beyond it drops and counts the oldest.
struct BoundedLog<Element> {
    let limit: Int
    private(set) var droppedCount = 0
    private var ring: [Element] = []
    private var oldest = 0

    init(limit: Int) {
        self.limit = max(limit, 1)
    }

    /// The remaining elements, oldest first.
    var elements: [Element] { Array(ring[oldest...] + ring[..<oldest]) }

    /// Adds an element and returns the one it displaced.
    @discardableResult
    mutating func append(_ element: Element) -> Element? {
        guard ring.count == limit else {
            ring.append(element)
            return nil
        }
        let displaced = ring[oldest]
        ring[oldest] = element
        oldest = (oldest + 1) % limit
        droppedCount += 1
        return displaced
    }

    mutating func removeAll() {
        ring = []
        oldest = 0
    }
}

extension BoundedLog: Sendable where Element: Sendable {}
