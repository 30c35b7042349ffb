import HeraldBytes
import TestSupport
import Testing

@testable import HeraldCore

@Suite("The order of users' events")
struct UserOrderTests {
    @Test("lets one event of a user go at a time, in the order of arrival")
    func fifo() {
        var order = UserOrder(slots: 8)
        expectEnter(&order, 3, user: 42, true)
        expectEnter(&order, 1, user: 42, false)
        expectEnter(&order, 7, user: 42, false)
        expectLeave(&order, 3, next: 1)
        expectEnter(&order, 3, user: 42, false)
        expectLeave(&order, 1, next: 7)
        expectLeave(&order, 7, next: 3)
        expectLeave(&order, 3, next: nil)
        expectEnter(&order, 0, user: 42, true)
    }

    @Test("lets different users go at once, even those of one bucket")
    func independent() {
        var order = UserOrder(slots: 8)
        // Sixteen buckets: these three users share one.
        expectEnter(&order, 0, user: 5, true)
        expectEnter(&order, 1, user: 21, true)
        expectEnter(&order, 2, user: 37, true)
        expectEnter(&order, 3, user: 21, false)
        expectLeave(&order, 1, next: 3)
        expectLeave(&order, 0, next: nil)
        expectLeave(&order, 2, next: nil)
        expectLeave(&order, 3, next: nil)
    }

    @Test("agrees with plain lists for any sequence of events", arguments: UInt64(1)...20)
    func model(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        let capacity = 64
        var order = UserOrder(slots: capacity)
        var free = Array(0..<Int32(capacity))
        var lines: [UInt64: [Int32]] = [:]
        for _ in 0..<5_000 {
            if !free.isEmpty && random.next() % 2 == 0 {
                let slot = free.remove(at: Int(random.next() % UInt64(free.count)))
                let user = (random.next() % 12) * 16
                lines[user, default: []].append(slot)
                expectEnter(&order, slot, user: user, (lines[user]?.count == 1))
            } else if let user = lines.keys.sorted().randomElement(using: &random), let first = lines[user]?.first {
                lines[user]?.removeFirst()
                free.append(first)
                expectLeave(&order, first, next: lines[user]?.first)
                if lines[user]?.isEmpty == true { lines[user] = nil }
            }
        }
    }
}

private func expectEnter(
    _ order: inout UserOrder, _ slot: Int32, user: UInt64, _ isFirst: Bool,
    at location: SourceLocation = #_sourceLocation
) {
    let first = order.enter(slot, line: user)
    #expect(first == isFirst, sourceLocation: location)
}

private func expectLeave(
    _ order: inout UserOrder, _ slot: Int32, next: Int32?, at location: SourceLocation = #_sourceLocation
) {
    let successor = order.leave(slot)
    #expect(successor == next, sourceLocation: location)
}
