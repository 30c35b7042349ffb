import HeraldBytes
import HeraldTime
import Testing

@testable import HeraldCore

@Suite("What caps count of a user")
struct CapTableTests {
    private static let other = Caps.otherSource

    private func time(_ seconds: Int64) -> WallTime { WallTime(milliseconds: 1_000_000_000_000 + seconds * 1_000) }

    private func table(_ rules: (source: UInt8?, limit: Int, seconds: Int64)...) -> CapTable {
        CapTable(rules: rules.map { CapTable.Rule(source: $0.source, limit: $0.limit, per: .seconds($0.seconds)) })
    }

    private func deliver(_ table: inout CapTable, _ event: UInt64, _ source: UInt8 = other, at seconds: Int64) {
        table.begin(user: 1, event: event, source: source)
        table.end(user: 1, event: event, source: source, deliveredAt: time(seconds))
    }

    private func ruling(
        _ table: CapTable, _ event: UInt64, _ source: UInt8 = other, at seconds: Int64
    ) -> CapTable.Ruling {
        table.ruling(user: 1, event: event, source: source, now: time(seconds))
    }

    @Test("is over when its time has passed since its delivery, to the millisecond")
    func slides() {
        var table = table((nil, 2, 60))
        deliver(&table, 1, at: 0)
        #expect(ruling(table, 3, at: 1) == .none)
        deliver(&table, 2, at: 30)
        #expect(ruling(table, 3, at: 30) == .capped(rule: 0, next: time(60)))
        #expect(
            table.ruling(user: 1, event: 3, source: Self.other, now: time(60).advanced(by: -.milliseconds(1))) != .none)
        #expect(ruling(table, 3, at: 60) == .none)
        deliver(&table, 3, at: 60)
        #expect(ruling(table, 4, at: 60) == .capped(rule: 0, next: time(90)))
        #expect(table.ruling(user: 2, event: 4, source: Self.other, now: time(60)) == .none)
    }

    @Test("is an event once, at its latest delivery, which is not in its own way")
    func once() {
        var table = table((nil, 2, 60))
        deliver(&table, 1, at: 0)
        deliver(&table, 1, at: 10)
        #expect(ruling(table, 2, at: 10) == .none)
        deliver(&table, 2, at: 20)
        #expect(ruling(table, 1, at: 30) == .none)
        #expect(ruling(table, 3, at: 30) == .capped(rule: 0, next: time(70)))
        // Its own delivery is over: it counts as another one.
        deliver(&table, 3, at: 75)
        #expect(ruling(table, 1, at: 76) == .capped(rule: 0, next: time(80)))
    }

    @Test("are the sources that a rule names, and the rule that lasts longest speaks")
    func sources() {
        var table = table((0, 1, 60), (nil, 2, 3_600))
        deliver(&table, 1, 0, at: 0)
        #expect(ruling(table, 2, 0, at: 10) == .capped(rule: 0, next: time(60)))
        #expect(ruling(table, 2, 1, at: 10) == .none)
        deliver(&table, 2, 1, at: 10)
        #expect(ruling(table, 3, 0, at: 10) == .capped(rule: 1, next: time(3_600)))
        #expect(ruling(table, 3, 0, at: 3_600) == .none)
    }

    @Test("waits for calls under way that decide, and for no others")
    func underWay() {
        var table = table((nil, 2, 60))
        table.begin(user: 1, event: 1, source: Self.other)
        #expect(ruling(table, 2, at: 0) == .none)
        table.begin(user: 1, event: 2, source: Self.other)
        table.begin(user: 1, event: 2, source: Self.other)
        #expect(ruling(table, 3, at: 0) == .waits)
        #expect(ruling(table, 2, at: 0) == .none)
        table.end(user: 1, event: 2, source: Self.other, deliveredAt: nil)
        #expect(ruling(table, 3, at: 0) == .waits)
        table.end(user: 1, event: 2, source: Self.other, deliveredAt: nil)
        #expect(ruling(table, 3, at: 0) == .none)
        table.end(user: 1, event: 1, source: Self.other, deliveredAt: nil)
        #expect(table.users == 0)
    }

    @Test("keeps an event's place while one of its calls is under way, though the clock is set back")
    func clockSetBack() {
        var table = table((nil, 1, 60))
        deliver(&table, 1, at: 0)
        #expect(ruling(table, 2, at: 60) == .none)
        table.begin(user: 1, event: 2, source: Self.other)
        #expect(ruling(table, 2, at: 58) == .none)
        #expect(ruling(table, 3, at: 58) == .capped(rule: 0, next: time(60)))
    }

    @Test("is known in records by the same hash for ever, with and without a source")
    func recordedHash() {
        let (id, source) = (Array("order-1".utf8), Array("shop".utf8))
        #expect(Caps.event(id: id.span.bytes, source: source.span.bytes) == 3_900_477_636_043_992_788)
        #expect(Caps.event(id: id.span.bytes, source: nil) == 15_720_753_298_790_197_617)
    }

    @Test("is bounded: the newest of each rule, and nothing that is older than all rules look back")
    func bounds() {
        var table = table((nil, 3, 60))
        for event in 0..<100 { deliver(&table, UInt64(event), at: Int64(event)) }
        var kept: [UInt64] = []
        table.forEachDelivery(of: 1) { _, event, _ in kept.append(event) }
        #expect(kept == [99, 98, 97])
        for user in 2..<500 {
            table.add(user: UInt64(user), event: 1, source: Self.other, at: time(100))
        }
        for _ in 0..<100 { table.sweep(now: time(150)) }
        #expect(table.users == 499)
        for _ in 0..<100 { table.sweep(now: time(221)) }
        #expect(table.users == 0)
        deliver(&table, 7, at: 300)
        #expect(table.users == 1)
    }

    /// What the table has to say, by looking at everything that ever happened.
    private struct Model {
        var deliveries: [(user: UInt64, event: UInt64, source: UInt8, at: Int64)] = []
        var calls: [UInt64: [(event: UInt64, source: UInt8)]] = [:]

        func ruling(
            _ rules: [CapTable.Rule], user: UInt64, event: UInt64, source: UInt8, now: Int64
        ) -> CapTable.Ruling {
            var ruling = CapTable.Ruling.none
            for (index, rule) in rules.enumerated() where rule.counts(source) {
                var latest: [UInt64: Int64] = [:]
                for delivery in deliveries
                where delivery.user == user && rule.counts(delivery.source) && delivery.at > now - rule.per.count {
                    latest[delivery.event] = max(latest[delivery.event] ?? .min, delivery.at)
                }
                let called = Set((calls[user] ?? []).filter { rule.counts($0.source) }.map(\.event))
                if latest[event] != nil || called.contains(event) { continue }
                let open = called.subtracting(latest.keys)
                if latest.count >= rule.limit {
                    let next = latest.values.sorted(by: >)[rule.limit - 1] + rule.per.count
                    if case .capped(_, let later) = ruling, later.milliseconds >= next { continue }
                    ruling = .capped(rule: index, next: WallTime(milliseconds: next))
                } else if latest.count + open.count >= rule.limit, ruling == .none {
                    ruling = .waits
                }
            }
            return ruling
        }
    }

    @Test("is what a look at everything says, over random calls, answers and sweeps", arguments: 1...20)
    func model(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        func below(_ bound: UInt64) -> UInt64 { random.next() % bound }
        let rules = (0..<1 + below(3)).map { _ in
            CapTable.Rule(
                source: below(2) == 0 ? nil : UInt8(below(2)), limit: 1 + Int(below(4)),
                per: .seconds(Int64(10 + below(100))))
        }
        var table = CapTable(rules: rules)
        var model = Model()
        var now = time(0).milliseconds
        for _ in 0..<3_000 {
            now += Int64(below(4_000))
            let (user, event) = (below(4), below(40))
            let source = UInt8(event % 3)
            switch below(8) {
            case 0: table.sweep(now: WallTime(milliseconds: now))
            case 1..<5:
                let expected = model.ruling(rules, user: user, event: event, source: source, now: now)
                let said = table.ruling(user: user, event: event, source: source, now: WallTime(milliseconds: now))
                #expect(said == expected)
                guard expected == .none else { break }
                table.begin(user: user, event: event, source: source)
                model.calls[user, default: []].append((event, source))
            default:
                guard let call = model.calls[user]?.popLast() else { break }
                let isDelivered = below(3) > 0
                table.end(
                    user: user, event: call.event, source: call.source,
                    deliveredAt: isDelivered ? WallTime(milliseconds: now) : nil)
                if isDelivered { model.deliveries.append((user, call.event, call.source, now)) }
            }
        }
    }
}
