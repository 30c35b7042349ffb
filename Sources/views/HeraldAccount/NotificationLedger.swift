package import HeraldEvents
package import HeraldKafka

/// The notifications that request records ask for, and the standing of each.
///
/// It takes one byte for a notification and two for an event, and keeps no ids, users or texts: a place in it is the
/// record's place. So an account of a day of millions fits into memory.
package struct NotificationLedger {
    /// What is known of a notification.
    package enum Standing: Hashable, Sendable {
        /// It has no result, and nothing shows that it is still on its way.
        case missing
        /// The results that could tell were deleted, or cannot be read yet.
        case unknown
        /// The workers' group has not passed its record.
        case untaken
        /// It waits in the retry topic with this index.
        case delayed(Int)
        /// A result tells how it ended.
        case settled(Outcome)
    }

    /// An event that the workers replayed, by the name that its results have.
    private struct ReplayName: Hashable {
        var origin: Origin
        var number: Int
    }

    private struct Place {
        var log: Int
        var offset: Int64
    }

    /// A partition of a request topic.
    private struct Log {
        let topic: String
        let partition: Int32
        var chunks: [Int64: Chunk] = [:]
        /// The group's offset: what lies there and behind is not done yet.
        var committed: Int64 = 0
        /// Of events before this not all results can be known.
        var knownFrom: Int64 = 0
    }

    /// The events of adjoining offsets.
    private struct Chunk {
        static let offsetCount: Int64 = 4_096

        /// One more than the index of the event's source, and whether it is a replay; 0 for no event.
        var events = [UInt16](repeating: 0, count: Int(offsetCount))
        /// For each push service a code for each offset; empty until one is asked for.
        var codes: [[UInt8]]

        init(serviceCount: Int) { codes = Array(repeating: [], count: serviceCount) }
    }

    /// What a byte says.
    private enum Code {
        static let absent: UInt8 = 0
        static let asked: UInt8 = 1
        static let delayed: UInt8 = 2
        static let settled: UInt8 = 0x60
        /// Several results tell of it.
        static let repeated: UInt8 = 0x80
    }

    private static let replayFlag: UInt16 = 0x8000

    /// The push services, and behind them one for events that do not decode.
    private let services: [String]
    private var undecoded: Int { services.count }
    private var logs: [Log] = []
    private var logIndexes: [String: [Int32: Int]] = [:]
    private var sources: [String?] = [nil]
    private var sourceIndexes: [String: UInt16] = [:]
    private var replays: [ReplayName: [(services: PushServiceSet, place: Place)]] = [:]
    /// Records without a value, which ask for nothing.
    package private(set) var tombstoneCount = 0

    /// - Parameter services: the names of the push services, in the order of their indices.
    package init(services: [String]) { self.services = services }

    // MARK: What was asked for

    /// Opens the account of a partition.
    ///
    /// - Parameters:
    ///   - committed: the group's offset; `nil` without one.
    package mutating func open(topic: String, partition: Int32, committed: Int64?) {
        logs[logIndex(topic, partition)].committed = committed ?? 0
    }

    /// Adds a request record.
    ///
    /// - Parameters:
    ///   - services: what it asks for; none for one that does not decode.
    ///   - replay: the event that it replays, and its number.
    package mutating func addEvent(
        at record: Origin, services: PushServiceSet, source: String?, replay: (of: Origin, number: Int)? = nil
    ) {
        let place = Place(log: logIndex(record.topic, record.partition), offset: record.offset)
        let tag = sourceIndex(source) + 1 | (replay == nil ? 0 : Self.replayFlag)
        change(place) { chunk, index in
            chunk.events[index] = tag
            if services.isEmpty { Self.set(&chunk.codes[chunk.codes.count - 1], index, Code.asked) }
            for service in services { Self.set(&chunk.codes[service], index, Code.asked) }
        }
        guard let replay else { return }
        replays[ReplayName(origin: replay.of, number: replay.number), default: []].append((services, place))
    }

    package mutating func addTombstone() { tombstoneCount += 1 }

    // MARK: What became of it

    /// Notes that an event waits in a retry topic for these push services.
    package mutating func addWaiting(
        of origin: Origin, replays number: Int, services: PushServiceSet, inDelay delay: Int
    ) {
        for service in services {
            guard let place = place(of: origin, number, service) else { continue }
            changeKnown(place) { chunk, index in
                guard Self.code(chunk.codes[service], index) != Code.absent else { return }
                chunk.codes[service][index] = min(Code.delayed + UInt8(clamping: delay), Code.settled - 1)
            }
        }
    }

    /// Notes a result; results of other events change nothing.
    package mutating func add(_ result: NotificationResult) {
        let named = result.pushService.flatMap { services.firstIndex(of: $0) }
        guard let place = place(of: result.origin, result.replays, named) else { return }
        let code = Code.settled + Self.index(of: result.outcome)
        let undecoded = undecoded
        changeKnown(place) { chunk, index in
            func settle(_ service: Int) {
                let before = chunk.codes[service][index]
                chunk.codes[service][index] = before < Code.settled ? code : code | Code.repeated
            }
            let asked = chunk.codes.indices.filter { Self.code(chunk.codes[$0], index) != Code.absent }
            // Workers with other settings may read what does not decode here, and the other way round.
            if let named, asked.contains(named) {
                settle(named)
            } else if asked == [undecoded] || result.pushService == nil {
                for service in asked { settle(service) }
            }
        }
    }

    /// Says that results of events before these offsets may be missing: of all events when none are given.
    package mutating func forgetResults(before offsets: [TopicPartition: Int64]?) {
        for index in logs.indices {
            let partition = TopicPartition(topic: logs[index].topic, partition: logs[index].partition)
            logs[index].knownFrom = offsets.map { $0[partition] ?? 0 } ?? .max
        }
    }

    // MARK: The sums

    /// Calls `body` with each notification, in the order of topics, partitions and offsets.
    ///
    /// Its last argument says whether several results tell of it.
    package func forEachNotification(
        _ body: (_ event: Event, _ service: String?, _ standing: Standing, _ isRepeated: Bool) -> Void
    ) {
        for log in logs.sorted(by: { ($0.topic, $0.partition) < ($1.topic, $1.partition) }) {
            for (number, chunk) in log.chunks.sorted(by: { $0.key < $1.key }) {
                for (index, tag) in chunk.events.enumerated() where tag != 0 {
                    let offset = number * Chunk.offsetCount + Int64(index)
                    var event = Event(
                        topic: log.topic, partition: log.partition, offset: offset,
                        source: sources[Int(tag & ~Self.replayFlag) - 1], isReplay: tag & Self.replayFlag != 0)
                    for (service, codes) in chunk.codes.enumerated() {
                        let code = Self.code(codes, index)
                        guard code != Code.absent else { continue }
                        body(
                            event, service == undecoded ? nil : services[service], standing(code, offset, log),
                            code & Code.repeated != 0)
                        event.isFirst = false
                    }
                }
            }
        }
    }

    /// The event that a notification belongs to.
    package struct Event {
        package let topic: String
        package let partition: Int32
        package let offset: Int64
        package let source: String?
        package let isReplay: Bool
        /// Whether this is its first notification.
        package fileprivate(set) var isFirst = true
    }

    private func standing(_ code: UInt8, _ offset: Int64, _ log: Log) -> Standing {
        switch code & ~Code.repeated {
        case Code.asked where offset >= log.committed: .untaken
        case Code.asked: offset < log.knownFrom ? .unknown : .missing
        case ..<Code.settled: .delayed(Int(code - Code.delayed))
        default: .settled(Outcome.allCases[Int(code & ~Code.repeated - Code.settled)])
        }
    }

    // MARK: Places

    private func place(of origin: Origin, _ number: Int, _ service: Int?) -> Place? {
        guard number == 0 else {
            let sent = replays[ReplayName(origin: origin, number: number)] ?? []
            return (sent.first { replay in service.map { replay.services.contains($0) } ?? true } ?? sent.first)?.place
        }
        return logIndexes[origin.topic]?[origin.partition].map { Place(log: $0, offset: origin.offset) }
    }

    private mutating func logIndex(_ topic: String, _ partition: Int32) -> Int {
        if let index = logIndexes[topic]?[partition] { return index }
        logs.append(Log(topic: topic, partition: partition))
        logIndexes[topic, default: [:]][partition] = logs.count - 1
        return logs.count - 1
    }

    private mutating func sourceIndex(_ source: String?) -> UInt16 {
        guard let source else { return 0 }
        if let index = sourceIndexes[source] { return index }
        // Beyond this many sources, events count as those without one.
        guard sources.count < Self.replayFlag - 1 else { return 0 }
        sources.append(source)
        sourceIndexes[source] = UInt16(sources.count - 1)
        return UInt16(sources.count - 1)
    }

    private mutating func change(_ place: Place, _ body: (inout Chunk, Int) -> Void) {
        let (number, index) = place.offset.quotientAndRemainder(dividingBy: Chunk.offsetCount)
        body(&logs[place.log].chunks[number, default: Chunk(serviceCount: services.count + 1)], Int(index))
    }

    /// Most results of a busy topic are of events outside of the account.
    private mutating func changeKnown(_ place: Place, _ body: (inout Chunk, Int) -> Void) {
        guard logs[place.log].chunks[place.offset / Chunk.offsetCount] != nil else { return }
        change(place, body)
    }

    private static func code(_ codes: [UInt8], _ index: Int) -> UInt8 { codes.isEmpty ? Code.absent : codes[index] }

    private static func set(_ codes: inout [UInt8], _ index: Int, _ code: UInt8) {
        if codes.isEmpty { codes = Array(repeating: Code.absent, count: Int(Chunk.offsetCount)) }
        codes[index] = code
    }

    private static func index(of outcome: Outcome) -> UInt8 { UInt8(Outcome.allCases.firstIndex(of: outcome) ?? 0) }
}
