/// A queue in one array that grows when it must and is never copied: first in, first out.
struct Ring<Element: BitwiseCopyable & Sendable>: Sendable {
    private var storage: [Element]
    private var head = 0
    private(set) var count = 0

    /// A queue with room for `capacity` elements before it grows.
    init(capacity: Int, filler: Element) {
        var size = 16
        while size < capacity { size *= 2 }
        storage = Array(repeating: filler, count: size)
    }

    var isEmpty: Bool { count == 0 }

    /// The element at this place, counted from the first.
    subscript(place: Int) -> Element {
        get { storage[(head + place) & (storage.count - 1)] }
        set { storage[(head + place) & (storage.count - 1)] = newValue }
    }

    mutating func append(_ element: Element) {
        if count == storage.count { grow() }
        storage[(head + count) & (storage.count - 1)] = element
        count += 1
    }

    /// The element that ``popFirst()`` would give.
    var first: Element? { count > 0 ? storage[head] : nil }

    mutating func popFirst() -> Element? {
        guard count > 0 else { return nil }
        let element = storage[head]
        head = (head + 1) & (storage.count - 1)
        count -= 1
        return element
    }

    /// The element that was appended last.
    var last: Element? { count > 0 ? self[count - 1] : nil }

    /// Takes the last element back; there is one.
    mutating func removeLast() { count -= 1 }

    mutating func removeAll() {
        head = 0
        count = 0
    }

    private mutating func grow() {
        let filler = storage[0]
        var larger = [Element](repeating: filler, count: storage.count * 2)
        for index in 0..<count { larger[index] = storage[(head + index) & (storage.count - 1)] }
        storage = larger
        head = 0
    }
}
