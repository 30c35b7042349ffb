/// A doubly linked list of small numbers, each in it at most once; its links lie in one array, so that membership costs
/// no allocation.
struct IndexList {
    /// No number: before the first and after the last.
    static let none: Int32 = -1

    private struct Links {
        var previous = IndexList.none
        var next = IndexList.none
        var isListed = false
    }

    private var links: [Links] = []
    private(set) var first = IndexList.none
    private(set) var last = IndexList.none
    private(set) var count = 0

    func previous(_ index: Int32) -> Int32 { links[Int(index)].previous }

    /// Inserts the number after another listed one, or before all with `none`.
    mutating func insert(_ index: Int32, after previous: Int32) {
        while links.count <= Int(index) { links.append(Links()) }
        let next = previous == Self.none ? first : links[Int(previous)].next
        links[Int(index)] = Links(previous: previous, next: next, isListed: true)
        if previous == Self.none { first = index } else { links[Int(previous)].next = index }
        if next == Self.none { last = index } else { links[Int(next)].previous = index }
        count += 1
    }

    /// Removes the number; an unlisted one stays so.
    mutating func remove(_ index: Int32) {
        guard Int(index) < links.count, links[Int(index)].isListed else { return }
        let old = links[Int(index)]
        if old.previous == Self.none { first = old.next } else { links[Int(old.previous)].next = old.next }
        if old.next == Self.none { last = old.previous } else { links[Int(old.next)].previous = old.previous }
        links[Int(index)].isListed = false
        count -= 1
    }
}
