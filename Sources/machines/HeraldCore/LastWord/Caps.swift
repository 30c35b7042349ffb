import HeraldBytes
package import HeraldEvents
package import HeraldTime

/// What the rules of caps count, for each home partition of the assignment.
///
/// A user's home is the number of the partition in which the user's events lie. Its deliveries are read from the same
/// partition of the caps topic before any promotional event of it is called; from then on the engine alone writes them.
package struct Caps: Sendable {
    private struct Home: Sendable {
        var table: CapTable
        var isRead = false
    }

    let rules: [CapRule]
    /// The sources that rules name.
    private let sources: [[UInt8]]
    private let tableRules: [CapTable.Rule]
    private var homes: [Int32: Home] = [:]
    /// Since when the homes are read that are not.
    private(set) var since = WallTime(milliseconds: 0)

    /// The place of a source that no rule names.
    package static let otherSource = UInt8.max

    package init(rules: [CapRule]) {
        self.rules = rules
        var sources: [[UInt8]] = []
        var tableRules: [CapTable.Rule] = []
        for rule in rules {
            var place: UInt8?
            if let source = rule.source.map({ Array($0.utf8) }) {
                if !sources.contains(source) { sources.append(source) }
                place = sources.firstIndex(of: source).map { UInt8($0) }
            }
            tableRules.append(CapTable.Rule(source: place, limit: rule.limit, per: rule.per))
        }
        (self.sources, self.tableRules) = (sources, tableRules)
    }

    var isOn: Bool { !rules.isEmpty }

    /// The place of a source.
    package func place(of source: RawSpan) -> UInt8 {
        for (index, name) in sources.enumerated() where source.hasSameBytes(as: name.span.bytes) { return UInt8(index) }
        return Self.otherSource
    }

    /// The hash of an event's source and id, the same in each process.
    static func event(id: RawSpan, source: RawSpan?) -> UInt64 {
        var hasher = ByteHash(seed: 0)
        if let source { hasher.add(field: source) }
        hasher.add(field: id)
        return hasher.finish()
    }

    // MARK: Homes

    /// The home partitions, in order.
    var partitions: [Int32] { homes.keys.sorted() }

    /// Begins an assignment with these home partitions, of which nothing is known.
    package mutating func assign(_ partitions: Set<Int32>, now: WallTime) {
        guard isOn else { return }
        since = now
        homes = Dictionary(uniqueKeysWithValues: partitions.map { ($0, Home(table: CapTable(rules: tableRules))) })
    }

    /// Forgets a home's users but these.
    package mutating func keepUsers(of home: Int32, where isKept: (UInt64) -> Bool) {
        homes[home]?.table.keepUsers(where: isKept)
    }

    /// Forgets all homes.
    mutating func removeAll() { homes = [:] }

    /// Whether what was delivered to the home's users is known.
    func isRead(_ home: Int32) -> Bool { homes[home]?.isRead ?? false }

    /// Takes a record of the caps topic; a later one of the same user replaces it.
    ///
    /// - Returns: False when it is broken: then nothing is known of the user.
    mutating func read(_ home: Int32, user: UInt64, value: RawSpan?, now: WallTime) -> Bool {
        guard let isRead = homes[home]?.isRead, !isRead else { return true }
        homes[home]?.table.removeAll(of: user)
        guard let value else { return true }
        guard let deliveries = CapRecord.deliveries(in: value) else { return false }
        for delivery in deliveries {
            guard let at = delivery.at.credible(now: now) else { continue }
            let source = delivery.source.map { place(of: $0.utf8.span.bytes) } ?? Self.otherSource
            homes[home]?.table.add(user: user, event: delivery.event, source: source, at: at)
        }
        return true
    }

    /// Notes that all of a home's records are read.
    mutating func readToEnd(_ home: Int32) { homes[home]?.isRead = true }

    /// The users of all homes, and the bytes of their tables.
    var size: (users: Int, bytes: Int) {
        homes.values.reduce((0, 0)) { ($0.0 + $1.table.users, $0.1 + $1.table.bytes) }
    }

    mutating func sweep(now: WallTime) {
        for home in partitions { homes[home]?.table.sweep(now: now) }
    }

    // MARK: Calls

    package func ruling(_ home: Int32, user: UInt64, event: UInt64, source: UInt8, now: WallTime) -> CapTable.Ruling {
        homes[home]?.table.ruling(user: user, event: event, source: source, now: now) ?? .none
    }

    package mutating func begin(_ home: Int32, user: UInt64, event: UInt64, source: UInt8) {
        homes[home]?.table.begin(user: user, event: event, source: source)
    }

    package mutating func end(_ home: Int32, user: UInt64, event: UInt64, source: UInt8, deliveredAt moment: WallTime?)
    {
        homes[home]?.table.end(user: user, event: event, source: source, deliveredAt: moment)
    }

    /// A user's record.
    func record(_ home: Int32, user: UInt64) -> [CapRecord.Delivery] {
        var deliveries: [CapRecord.Delivery] = []
        homes[home]?.table.forEachDelivery(of: user) { at, event, source in
            let name =
                sources.indices.contains(Int(source)) ? String(decoding: sources[Int(source)], as: UTF8.self) : nil
            deliveries.append(CapRecord.Delivery(at: at, event: event, source: name))
        }
        return deliveries
    }
}
