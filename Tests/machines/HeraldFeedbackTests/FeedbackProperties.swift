import HeraldBytes
import HeraldCore
import HeraldEvents
import HeraldHub
import HeraldTime
import Testing

@testable import HeraldFeedback

/// A hub, a topic, a group's offsets and a follower that is killed at random, with a clock of their own.
///
/// The topic's records and the durable state outlive every follower; all else is lost with it.
private struct FeedbackWorld {
    private struct Durable {
        var offset: Int64 = 0
        var metadata = ""
    }

    private static let wall = WallTime(milliseconds: 1_795_250_426_000)
    private static let partitionCount: Int32 = 2

    private var random: SplitMix64
    private let configuration: FeedbackEngine.Configuration
    private var now: Int64 = 0
    private var engine: FeedbackEngine
    /// By partition and offset; `nil` for a record without a delivered message, and no entry where a transaction ends.
    private var records: [[Int64: NotificationResult?]] = []
    private var next: [Int64] = []
    private var durable: [Durable] = []
    private var recorded: [String: Int] = [:]
    private var underWay: [(token: UInt64, at: Int64)] = []
    private var writing: (batch: FeedbackEngine.Batch, at: Int64)?
    private var isHubAway = false
    private var askMoments: [Int64] = []
    /// The first violation, if there is one.
    private(set) var violation: String?
    private(set) var messageCount = 0
    private(set) var killCount = 0

    init(seed: UInt64) throws {
        random = SplitMix64(seed: seed)
        var configuration = FeedbackEngine.Configuration()
        configuration.asksPerSecond = Double(Int.random(in: 1...50, using: &random))
        configuration.inFlightLimit = .random(in: 1...8, using: &random)
        configuration.messageLimit = .random(in: 1...40, using: &random)
        configuration.batchLimit = .random(in: 1...10, using: &random)
        self.configuration = configuration
        engine = FeedbackEngine(configuration, now: Self.moment(0))
        for partition in 0..<Self.partitionCount {
            var topic: [Int64: NotificationResult?] = [:]
            var offset: Int64 = 0
            for _ in 0..<Int.random(in: 0...60, using: &random) {
                offset += Int64.random(in: 1...3, using: &random)
                topic[offset] = try makeResult(partition, offset)
            }
            records.append(topic)
            durable.append(Durable())
        }
        begin()
    }

    private mutating func makeResult(_ partition: Int32, _ offset: Int64) throws -> NotificationResult? {
        guard Int.random(in: 0..<4, using: &random) > 0 else { return nil }
        messageCount += 1
        let sentAt = Self.wall.advanced(by: .random(in: .hours(-1)...(.minutes(10)), using: &random))
        var result = try NotificationResult(
            decoding: Array(
                """
                {"pns":"apns","outcome":"delivered","backendId":"\(partition)-\(offset)","completedAt":"\
                2026-11-21T08:40:26Z","origin":{"topic":"n","partition":\(partition),"offset":\(offset)}}
                """.utf8))
        result.completedAt = sentAt
        return result
    }

    private static func moment(_ milliseconds: Int64) -> MonotonicTime {
        MonotonicTime(nanoseconds: milliseconds * 1_000_000)
    }

    private static func identity(_ partition: Int32) -> PartitionIdentity {
        PartitionIdentity(cluster: "c", topic: "r", partition: partition)
    }

    /// Starts a new follower with the durable state.
    private mutating func begin() {
        engine = FeedbackEngine(configuration, now: Self.moment(now))
        underWay = []
        writing = nil
        next = durable.map(\.offset)
        for partition in 0..<Self.partitionCount {
            let place = durable[Int(partition)]
            let map = CompletionMap(text: place.metadata, committed: place.offset, of: Self.identity(partition))
            if map == nil { violation = "a note cannot be read" }
            engine.begin(
                partition, at: place.offset, done: map ?? CompletionMap(), identity: Self.identity(partition))
        }
    }

    /// Continues until everything is recorded, or for `steps` steps.
    mutating func run(steps: Int) {
        for step in 0..<steps where violation == nil {
            // Near the end nothing fails, so that open messages can only be lost.
            let isCalm = step > steps / 2
            if isCalm { isHubAway = false }
            now += .random(in: 0...(Bool.random(using: &random) ? 20 : isCalm ? 60_000 : 5_000), using: &random)
            switch Int.random(in: 0..<20, using: &random) {
            case 0 where !isCalm: kill()
            case 1 where !isCalm: isHubAway.toggle()
            default: turn()
            }
            if engine.held > configuration.messageLimit { violation = "\(engine.held) messages are in memory" }
        }
    }

    private mutating func kill() {
        killCount += 1
        // A requested commit may have been made, or not.
        if Bool.random(using: &random) { commit() }
        begin()
    }

    private mutating func turn() {
        read()
        ask()
        answer()
        if writing == nil {
            for partition in 0..<Self.partitionCount {
                let end = (records[Int(partition)].keys.max() ?? 0) + 2
                if next[Int(partition)] >= end { engine.reachedEnd(of: partition, at: end) }
            }
            if let batch = engine.takeBatch(now: Self.moment(now)) {
                if batch.feedback.count > configuration.batchLimit { violation = "a batch is too large" }
                writing = (batch, now + .random(in: 0...50, using: &random))
            }
        } else if let writing, writing.at <= now {
            commit()
            engine.committed()
        }
    }

    private mutating func commit() {
        guard let batch = writing?.batch else { return }
        writing = nil
        for feedback in batch.feedback { recorded[feedback.backendID, default: 0] += 1 }
        for position in batch.positions {
            let former = durable[Int(position.partition)].offset
            if position.offset < former { violation = "an offset went back" }
            durable[Int(position.partition)] = Durable(offset: position.offset, metadata: position.metadata)
            // No open message may lie below the offset.
            for offset in former..<max(former, position.offset) {
                if let result = records[Int(position.partition)][offset] ?? nil,
                    recorded[result.backendID ?? ""] == nil
                {
                    violation = "\(position.partition)/\(offset) was passed and is not recorded"
                }
            }
        }
    }

    private mutating func read() {
        for partition in 0..<Self.partitionCount {
            let end = (records[Int(partition)].keys.max() ?? 0) + 2
            var taken = 0
            while next[Int(partition)] < end, taken < 5 {
                let offset = next[Int(partition)]
                if let record = records[Int(partition)][offset] {
                    guard engine.mayTake(partition, offset) else { break }
                    engine.take(
                        record, byteCount: 100, partition: partition, offset: offset, now: Self.moment(now),
                        wall: Self.wall.advanced(by: .milliseconds(now)))
                    taken += 1
                }
                next[Int(partition)] += 1
            }
        }
    }

    private mutating func ask() {
        while let ask = engine.nextAsk(now: Self.moment(now)) {
            if underWay.count >= configuration.inFlightLimit { violation = "too many questions at once" }
            underWay.append((ask.token, now + .random(in: 1...2_000, using: &random)))
            askMoments.append(now)
            let second = askMoments.count { $0 > now - 1_000 }
            if Double(second) > configuration.asksPerSecond * 1.1 + 1, killCount == 0 {
                violation = "\(second) questions in a second"
            }
        }
    }

    private mutating func answer() {
        underWay.shuffle(using: &random)
        while let index = underWay.firstIndex(where: { $0.at <= now }) {
            let token = underWay.remove(at: index).token
            engine.answered(
                token, makeAnswer(), now: Self.moment(now), wall: Self.wall.advanced(by: .milliseconds(now)))
        }
    }

    private mutating func makeAnswer() -> MessageAnswer {
        if isHubAway {
            return .unavailable(
                reason: "away", retryAfter: Bool.random(using: &random) ? .milliseconds(500) : nil)
        }
        switch Int.random(in: 0..<6, using: &random) {
        case 0: return .notKnown
        case 1: return .details(MessageDetails(state: .init("Processing"), outcomes: [:]))
        case 2: return .unavailable(reason: "HTTP 429", retryAfter: nil)
        default: return .details(MessageDetails(state: .init("Completed"), outcomes: ["Success": 1]))
        }
    }

    /// The violation at the end.
    func verdict() -> String? {
        if let violation { return violation }
        if let twice = recorded.first(where: { $0.value > 1 }) {
            return "\(twice.key) was recorded \(twice.value) times"
        }
        if recorded.count != messageCount { return "\(messageCount - recorded.count) of \(messageCount) are lost" }
        return nil
    }
}

@Suite("A follower that is killed at random")
struct FeedbackProperties {
    @Test("It loses nothing, records nothing twice, and keeps its limits", arguments: 0..<60)
    func kills(seed: Int) throws {
        var world = try FeedbackWorld(seed: UInt64(seed))
        world.run(steps: 4_000)
        #expect(world.verdict() == nil, "seed \(seed), \(world.killCount) kills")
    }
}
