package import HeraldTime

/// The latest deliveries of one home partition's users, as far as a rule of caps can still count them, and their calls
/// under way.
///
/// An event stands there once, at its latest delivery. A user has the newest deliveries of each rule, `limit` of each; what
/// is older than all rules look back goes, when its user is called and little by little.
package struct CapTable: Sendable {
    /// What caps say of a call.
    package enum Ruling: Equatable, Sendable {
        /// It may begin.
        case none
        /// It may be one too many, which the calls under way for other events of its user decide.
        case waits
        /// This rule is used up until that moment.
        case capped(rule: Int, next: WallTime)
    }

    /// A rule, with the place of its source among those that rules name.
    struct Rule: Sendable {
        /// `nil`: all sources.
        var source: UInt8?
        var limit: Int
        var per: Milliseconds

        func counts(_ source: UInt8) -> Bool { self.source == nil || self.source == source }
    }

    private struct Node: Sendable {
        var user: UInt64
        var event: UInt64
        /// Its latest delivery, in milliseconds; ``undelivered`` before the first.
        var at: Int64
        /// The next of the user's, whose delivery was before this one's.
        var next: Int32
        /// The calls under way.
        var calls: UInt16
        var source: UInt8
    }

    private static let none: Int32 = -1
    private static let undelivered = Int64.min
    /// How much longer than any rule looks back a delivery stays: workers' clocks differ.
    private static let slack: Milliseconds = .minutes(1)
    /// A sweep looks at one of so many nodes.
    private static let sweeps = 64

    private let rules: [Rule]
    private let longest: Milliseconds
    private var first: [UInt64: Int32] = [:]
    private var nodes: [Node] = []
    private var free: Int32 = Self.none
    /// Where the next sweep begins.
    private var swept = 0
    /// How many nodes each rule has counted; for ``prune(_:now:)`` alone.
    private var counted: [Int]

    init(rules: [Rule]) {
        self.rules = rules
        longest = (rules.map(\.per).max() ?? .zero) + Self.slack
        counted = rules.map { _ in 0 }
    }

    /// The users who have a delivery, or a call under way.
    var users: Int { first.count }

    /// The bytes that it has.
    var bytes: Int { nodes.capacity * MemoryLayout<Node>.stride + first.capacity * 4 * MemoryLayout<UInt32>.stride }

    /// What caps say of a call.
    func ruling(user: UInt64, event: UInt64, source: UInt8, now: WallTime) -> Ruling {
        guard let first = first[user] else { return .none }
        var ruling = Ruling.none
        for (index, rule) in rules.enumerated() where rule.counts(source) {
            let since = now.advanced(by: -rule.per).milliseconds
            var (delivered, underWay, isCounted) = (0, 0, false)
            var next = WallTime(milliseconds: 0)
            var place = first
            while place != Self.none, !isCounted {
                let node = nodes[Int(place)]
                place = node.next
                if node.event == event {
                    // While one of its calls is under way it keeps its place, whatever the clock says by now.
                    isCounted = node.calls > 0 || node.at > since
                } else if rule.counts(node.source), node.at > since {
                    delivered += 1
                    if delivered == rule.limit { next = WallTime(milliseconds: node.at).advanced(by: rule.per) }
                } else if rule.counts(node.source), node.calls > 0 {
                    underWay += 1
                }
            }
            if isCounted { continue }
            if delivered >= rule.limit {
                if case .capped(_, let later) = ruling, later >= next { continue }
                ruling = .capped(rule: index, next: next)
            } else if delivered + underWay >= rule.limit, ruling == .none {
                ruling = .waits
            }
        }
        return ruling
    }

    // MARK: Changes

    /// Notes that a call begins.
    mutating func begin(user: UInt64, event: UInt64, source: UInt8) {
        let place = find(event, of: user) ?? insert(user: user, event: event, at: Self.undelivered, source: source)
        nodes[Int(place)].calls += 1
    }

    /// Notes that a call has ended: with a delivery at this moment, or with none.
    mutating func end(user: UInt64, event: UInt64, source: UInt8, deliveredAt moment: WallTime?) {
        guard let place = find(event, of: user) else { return }
        var node = nodes[Int(place)]
        node.calls = node.calls == 0 ? 0 : node.calls - 1
        if let moment { node.at = max(node.at, moment.milliseconds) }
        if moment == nil, node.calls > 0 || node.at != Self.undelivered {
            nodes[Int(place)] = node
            return
        }
        remove(place)
        guard let moment else { return }
        let again = insert(user: user, event: event, at: node.at, source: source)
        nodes[Int(again)].calls = node.calls
        prune(user, now: moment)
    }

    /// Notes a delivery that is known from a record.
    mutating func add(user: UInt64, event: UInt64, source: UInt8, at moment: WallTime) {
        if let place = find(event, of: user) {
            guard nodes[Int(place)].at < moment.milliseconds else { return }
            remove(place)
        }
        _ = insert(user: user, event: event, at: moment.milliseconds, source: source)
    }

    /// Forgets a user's deliveries.
    mutating func removeAll(of user: UInt64) {
        while let place = first[user] { remove(place) }
    }

    /// Forgets all users but these.
    mutating func keepUsers(where isKept: (UInt64) -> Bool) {
        for user in first.keys where !isKept(user) { removeAll(of: user) }
    }

    /// Calls `body` with a user's deliveries, the latest first.
    func forEachDelivery(of user: UInt64, _ body: (_ at: WallTime, _ event: UInt64, _ source: UInt8) -> Void) {
        var place = first[user] ?? Self.none
        while place != Self.none {
            let node = nodes[Int(place)]
            if node.at != Self.undelivered { body(WallTime(milliseconds: node.at), node.event, node.source) }
            place = node.next
        }
    }

    /// Forgets some of the deliveries that no rule counts any more.
    mutating func sweep(now: WallTime) {
        let oldest = now.advanced(by: -longest).milliseconds
        for _ in 0..<min(nodes.count, Self.sweeps + nodes.count / Self.sweeps) {
            if swept >= nodes.count { swept = 0 }
            let node = nodes[swept]
            // One that is free has no delivery.
            if node.at != Self.undelivered, node.calls == 0, node.at <= oldest { remove(Int32(swept)) }
            swept += 1
        }
    }

    /// Forgets a user's deliveries that no rule counts any more, or ever will.
    private mutating func prune(_ user: UInt64, now: WallTime) {
        let oldest = now.advanced(by: -longest).milliseconds
        for index in rules.indices { counted[index] = 0 }
        var place = first[user] ?? Self.none
        while place != Self.none {
            let node = nodes[Int(place)]
            var isWanted = node.calls > 0
            if node.at > oldest {
                for (index, rule) in rules.enumerated() where rule.counts(node.source) && counted[index] < rule.limit {
                    counted[index] += 1
                    isWanted = true
                }
            }
            if !isWanted { remove(place) }
            place = node.next
        }
    }

    // MARK: Nodes

    private func find(_ event: UInt64, of user: UInt64) -> Int32? {
        var place = first[user] ?? Self.none
        while place != Self.none {
            if nodes[Int(place)].event == event { return place }
            place = nodes[Int(place)].next
        }
        return nil
    }

    private mutating func insert(user: UInt64, event: UInt64, at: Int64, source: UInt8) -> Int32 {
        var node = Node(user: user, event: event, at: at, next: Self.none, calls: 0, source: source)
        let before = last(of: user) { $0.at > at }
        node.next = before.map { nodes[Int($0)].next } ?? first[user] ?? Self.none
        let place: Int32
        if free == Self.none {
            place = Int32(nodes.count)
            nodes.append(node)
        } else {
            place = free
            free = nodes[Int(place)].next
            nodes[Int(place)] = node
        }
        if let before { nodes[Int(before)].next = place } else { first[user] = place }
        return place
    }

    /// The last of the user's first nodes that are so.
    private func last(of user: UInt64, where isSo: (Node) -> Bool) -> Int32? {
        var last: Int32?
        var place = first[user] ?? Self.none
        while place != Self.none, isSo(nodes[Int(place)]) {
            last = place
            place = nodes[Int(place)].next
        }
        return last
    }

    private mutating func remove(_ place: Int32) {
        let node = nodes[Int(place)]
        if first[node.user] == place {
            first[node.user] = node.next == Self.none ? nil : node.next
        } else {
            var before = first[node.user] ?? Self.none
            while before != Self.none, nodes[Int(before)].next != place { before = nodes[Int(before)].next }
            if before != Self.none { nodes[Int(before)].next = node.next }
        }
        nodes[Int(place)] = Node(user: 0, event: 0, at: Self.undelivered, next: free, calls: 0, source: 0)
        free = place
    }
}
