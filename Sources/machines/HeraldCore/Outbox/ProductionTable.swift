/// The records of settled events that are on their way to the broker, a chain for each event's slot.
struct ProductionTable: Sendable {
    private static let none: Int32 = -1

    private struct Place: Sendable {
        /// The number of uses of the place, and within one use of productions of its record.
        var generation: UInt32 = 0
        var production: Production?
        /// The number of its refusals, as far as they are counted.
        var refusals = 0
        /// The next record of the same event.
        var next = ProductionTable.none
    }

    private var places: [Place] = []
    private var freePlaces: [Int32] = []
    /// The first record of each slot's event.
    private var first: [Int32]
    /// The number of records.
    private(set) var count = 0

    init(slots: Int) {
        first = Array(repeating: Self.none, count: slots)
    }

    /// Grows to this many slots, never fewer than before.
    mutating func grow(slots: Int) { first += Array(repeating: Self.none, count: slots - first.count) }

    /// The record with this name; `nil` when its event was given up, or it was produced again since.
    subscript(id: ProductionID) -> Production? {
        guard Int(id.index) < places.count, places[Int(id.index)].generation == id.generation else { return nil }
        return places[Int(id.index)].production
    }

    func id(of index: Int32) -> ProductionID {
        ProductionID(index: index, generation: places[Int(index)].generation)
    }

    /// The first record of a slot's event.
    func first(of slot: Int32) -> Int32? { valid(first[Int(slot)]) }

    /// The record of the same event behind this one.
    func next(behind index: Int32) -> Int32? { valid(places[Int(index)].next) }

    /// Adds a record behind those of the same event.
    @discardableResult
    mutating func add(_ production: Production) -> Int32 {
        let index: Int32
        if let free = freePlaces.popLast() {
            index = free
        } else {
            index = Int32(places.count)
            places.append(Place())
        }
        places[Int(index)].production = production
        places[Int(index)].refusals = 0
        places[Int(index)].next = Self.none
        count += 1
        var last = first[Int(production.slot.index)]
        guard last != Self.none else {
            first[Int(production.slot.index)] = index
            return index
        }
        while let next = next(behind: last) { last = next }
        places[Int(last)].next = index
        return index
    }

    /// Replaces a record by a smaller one, or one of another kind.
    mutating func replace(_ index: Int32, with production: Production) { places[Int(index)].production = production }

    /// Notes a refusal; returns the number of earlier ones.
    mutating func noteRefusal(_ index: Int32) -> Int {
        defer { places[Int(index)].refusals += 1 }
        return places[Int(index)].refusals
    }

    /// Whether it was refused before, as far as that is counted.
    func isRefused(_ index: Int32) -> Bool { places[Int(index)].refusals > 0 }

    /// Renames the event's records, so that reports about former productions are not about them.
    mutating func rename(of slot: Int32) {
        var index = first[Int(slot)]
        while index != Self.none {
            places[Int(index)].generation &+= 1
            index = places[Int(index)].next
        }
    }

    /// Removes an acknowledged record; true when the event has no other.
    mutating func remove(_ index: Int32, of slot: Int32) -> Bool {
        let next = places[Int(index)].next
        if first[Int(slot)] == index {
            first[Int(slot)] = next
        } else {
            var before = first[Int(slot)]
            while places[Int(before)].next != index { before = places[Int(before)].next }
            places[Int(before)].next = next
        }
        free(index)
        return first[Int(slot)] == Self.none
    }

    /// Removes the event's records: it is gone, or all of them are acknowledged.
    mutating func removeAll(of slot: Int32) {
        var index = first[Int(slot)]
        first[Int(slot)] = Self.none
        while index != Self.none {
            let next = places[Int(index)].next
            free(index)
            index = next
        }
    }

    private mutating func free(_ index: Int32) {
        places[Int(index)].production = nil
        places[Int(index)].generation &+= 1
        freePlaces.append(index)
        count -= 1
    }

    private func valid(_ index: Int32) -> Int32? { index == Self.none ? nil : index }
}
