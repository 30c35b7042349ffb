import HeraldDriver
public import HeraldKafka
import HeraldTelemetry
import HeraldThreads
import HeraldTime

/// The configuration of caps.
public struct CapConfiguration: Sendable {
    /// Their topic.
    public var topic: String
    /// librdkafka's properties for reading: `read_committed`.
    public var readerProperties: ClientProperties

    /// A configuration.
    public init(topic: String, readerProperties: ClientProperties) {
        self.topic = topic
        self.readerProperties = readerProperties
    }
}

/// Reads the home partitions of a process's lanes at each assignment, on a thread of its own.
final class CapReader: Sendable {
    private struct Request: Sendable {
        let lane: Int
        let assignment: Int
        let partitions: [Int32]
        let mailbox: Mailbox
    }

    private struct State {
        var isStopping = false
        var requests: [Request] = []
        var report: CapReport?
    }

    /// What one lane asked for.
    private final class Reading {
        let request: Request
        let since = SystemClock.monotonic()
        var left: Set<Int32>
        var reader: TopicReader?
        var partitions: Set<Int32> = []
        var again = MonotonicTime.distantPast
        var trouble: CapReport.Trouble?

        init(_ request: Request) {
            self.request = request
            left = Set(request.partitions)
        }

        func close() {
            reader?.close()
            reader = nil
        }
    }

    private static let recordsPerTurn = 500
    /// A lane that has so many letters is not given more: it takes all of them in one turn.
    private static let mostLetters = 4
    /// The time until the next look whether it has taken them.
    private static let letterPause: Milliseconds = .milliseconds(5)
    private static let pause: Milliseconds = .seconds(1)
    private static let silence = Duration.seconds(10)
    private static let idlePause: Milliseconds = .seconds(5)

    private let configuration: CapConfiguration
    private let logger: Logger
    private let state = Guarded(State())
    private let wakeup: Wakeup

    init(_ configuration: CapConfiguration, logger: Logger) throws(SystemError) {
        self.configuration = configuration
        self.logger = logger
        wakeup = try Wakeup()
    }

    /// Reads these home partitions for a lane, in place of what it asked for before; from any thread.
    func read(_ partitions: [Int32], lane: Int, assignment: Int, into mailbox: Mailbox) {
        state.withLock {
            $0.requests.append(
                Request(lane: lane, assignment: assignment, partitions: partitions, mailbox: mailbox))
        }
        wakeup.signal()
    }

    /// What is being read; `nil` while nothing is; from any thread.
    var report: CapReport? { state.withLock { $0.report } }

    /// Ends ``run()``; from any thread.
    func stop() {
        state.withLock { $0.isStopping = true }
        wakeup.signal()
    }

    // MARK: The thread

    /// The thread's work, until ``stop()``.
    func run() {
        var readings: [Int: Reading] = [:]
        defer { for reading in readings.values { reading.close() } }
        while true {
            let (isStopping, requests) = state.withLock { state in
                defer { state.requests = [] }
                return (state.isStopping, state.requests)
            }
            if isStopping { return }
            for request in requests {
                readings[request.lane]?.close()
                readings[request.lane] = Reading(request)
            }
            var next: MonotonicTime? = SystemClock.monotonic().advanced(by: Self.idlePause)
            for (lane, reading) in readings {
                if advance(reading) { next = nil } else { next = next.map { min($0, reading.again) } }
                if reading.left.isEmpty {
                    reading.close()
                    readings[lane] = nil
                }
            }
            note(readings.values)
            guard let next else { continue }
            let wait = next.time(since: SystemClock.monotonic())
            if wait > .zero, wakeup.wait(for: wait.duration) { wakeup.drain() }
        }
    }

    private func note(_ readings: some Collection<Reading>) {
        let trouble = readings.lazy.compactMap(\.trouble).first
        let report = readings.map(\.since).min().map {
            CapReport(
                topic: configuration.topic, partitions: readings.flatMap(\.left).sorted(), since: $0, trouble: trouble)
        }
        state.withLock { $0.report = report }
    }

    /// Reads on; true when there may be more at once.
    private func advance(_ reading: Reading) -> Bool {
        let now = SystemClock.monotonic()
        do throws(KafkaError) {
            if reading.reader == nil {
                guard now >= reading.again else { return false }
                guard try begin(reading) else {
                    reading.again = now.advanced(by: Self.pause)
                    return false
                }
            }
            return try readOn(reading)
        } catch {
            note(.unreadable(error), reading)
            reading.close()
            reading.again = SystemClock.monotonic().advanced(by: Self.pause)
            return false
        }
    }

    /// Begins to read the partitions that there are; false without one.
    private func begin(_ reading: Reading) throws(KafkaError) -> Bool {
        let reader = try TopicReader(
            properties: configuration.readerProperties, silence: Self.silence, patience: CampaignWatch.patience,
            questions: TopicFollower.questionTimeout.duration)
        reading.reader = reader
        let there = try reader.consumer.queries.partitions(
            of: configuration.topic, timeout: TopicFollower.questionTimeout)
        let wanted = there.filter { reading.left.contains($0.partition) }
        guard !wanted.isEmpty else {
            reading.close()
            note(.tooFew(there.count), reading)
            return false
        }
        reading.partitions = Set(wanted.map(\.partition))
        reader.consumer.queue.notify(wakeup)
        try reader.begin(Dictionary(uniqueKeysWithValues: wanted.map { ($0, .beginning) }), to: CapMessage.end)
        return true
    }

    private func readOn(_ reading: Reading) throws(KafkaError) -> Bool {
        guard let reader = reading.reader else { return false }
        _ = reader.consumer.takeNotices()
        let (mailbox, assignment) = (reading.request.mailbox, reading.request.assignment)
        guard mailbox.count < Self.mostLetters else {
            reading.again = SystemClock.monotonic().advanced(by: Self.letterPause)
            return false
        }
        var records: [CapMessage] = []
        while records.count < Self.recordsPerTurn, case .record(let message) = try reader.next() {
            records.append(
                CapMessage(
                    partition: message.partition, key: message.withKey(Self.copy), value: message.withValue(Self.copy)))
            message.release()
        }
        if !records.isEmpty { mailbox.post(.caps(assignment: assignment, records)) }
        // A transaction that is open in one of them holds back no other.
        let read = reading.left.intersection(reader.reached.map(\.partition))
        if !read.isEmpty {
            mailbox.post(.capsRead(assignment: assignment, read.sorted()))
            reading.left.subtract(read)
        }
        if reading.left.isDisjoint(with: reading.partitions) {
            reading.close()
            (reading.trouble, reading.again) = (nil, .distantPast)
            return !reading.left.isEmpty
        }
        guard records.count < Self.recordsPerTurn else { return true }
        reading.again = SystemClock.monotonic().advanced(by: Self.pause)
        return false
    }

    private static func copy(_ bytes: RawSpan?) -> [UInt8]? {
        guard let bytes else { return nil }
        return bytes.withUnsafeBytes { Array($0) }
    }

    private func note(_ trouble: CapReport.Trouble, _ reading: Reading) {
        if reading.trouble == nil {
            logger.warning(
                "\(configuration.topic) \(trouble.words), so promotional events wait; \(trouble.step(configuration.topic))"
            )
        }
        reading.trouble = trouble
    }
}
