import HeraldCore
import HeraldEvents
import HeraldTime
import TestSupport

/// What one simulated run is made of.
///
/// Everything else follows from the seed.
struct Scenario {
    var seed: UInt64
    var workers = 3
    var partitions: Int32 = 4
    var events = 400
    var users = 25
    /// How many events are published at one moment.
    var burst = 10
    var crashes = 4
    var stops = 2
    /// How often a worker is frozen (SIGSTOP, a paused virtual machine), some of them for longer than their session.
    var freezes = 2
    /// How often every topic gets one more partition.
    var growths = 1
    /// No worker's wall clock is off by more than this (milliseconds).
    var skew: Int64 = 0
    /// Whether the backend's password breaks, its name vanishes and so on for a while.
    var storms = true
    var calmBackend = false
    var hanging: Set<String> = []
    var forbidden: Set<String> = ["user-3"]
    /// Share of produced records that the producer or the broker refuses, in thousandths.
    var produceFailures = 20
    /// Share of appended records whose acknowledgement is lost or seconds late, in thousandths.
    var acknowledgementFailures = 5
    /// Share of commits that do not arrive, or whose reply is lost or seconds late, in thousandths.
    var commitFailures = 30
    var ordering = Ordering.key
    var maxInFlight = 40
    var immediate = 2
    var delays = ["5s", "30s", "5m"].compactMap { DelayName($0) }
    /// Plain events only: valid, without moments of their own.
    var plainEvents = false
    /// The run must be quiet after this much virtual time (milliseconds).
    var longest: Int64 = 3 * 3_600_000

    let topics = Topics()
    let pushServices = PushServices.standard

    init(seed: UInt64) {
        self.seed = seed
    }

    var engineConfiguration: EngineConfiguration {
        var configuration = EngineConfiguration(decoder: RecordDecoder(pushServices: pushServices))
        configuration.topics = topics
        configuration.retryDelays = delays
        configuration.ordering = ordering
        configuration.maxInFlight = maxInFlight
        configuration.retry = RetryPolicy(immediate: immediate, delays: delays.map(\.milliseconds))
        return configuration
    }

    var consumedTopics: [ConsumedTopic] {
        topics.requests.enumerated().map { index, name in
            ConsumedTopic(name: name, role: .request(weight: index == 0 ? 10 : 1))
        } + delays.map { ConsumedTopic(name: topics.retryTopic($0), role: .retry(delay: $0.milliseconds)) }
    }

    /// One published event: the record, its partition, and the services that must each get a final result ("" for an
    /// event that can't be read; none for a tombstone).
    func event(number: Int, now: Int64, random: inout SplitMix64) -> (
        record: LogRecord, topic: String, partition: Int32, services: [String]
    ) {
        let user = Int(random.next() % UInt64(users))
        let key = Array("user-\(user)".utf8)
        let partition = Int32(user % Int(partitions))
        let kind = plainEvents ? 99 : random.next() % 100
        let topic = topics.requests[user % 4 == 0 ? 1 : 0]
        var record = LogRecord(key: key, value: nil, timestamp: now)
        if kind < 2 { return (record, topic, partition, []) }
        if kind < 5 {
            record.value = Array(#"{"user":"user-\#(user)","pns":"#.utf8)
            return (record, topic, partition, [""])
        }
        let services = pushServices.names.filter { _ in random.next() % 2 == 0 }
        let chosen = services.isEmpty ? [pushServices.names[0]] : services
        var fields = [
            #""user":"user-\#(user)""#, #""message":"number \#(number)""#,
            #""pns":[\#(chosen.map { "\"\($0)\"" }.joined(separator: ","))]"#,
        ]
        if kind < 80 { fields.append(#""id":"event-\#(number)""#) }
        if kind < 12 { fields.append(#""expiresAt":"\#(moment(now + Int64(random.next() % 40_000)))""#) }
        if kind >= 12 && kind < 22 {
            fields.append(#""notBefore":"\#(moment(now + Int64(random.next() % (kind < 20 ? 60_000 : 900_000))))""#)
        }
        record.value = Array("{\(fields.joined(separator: ","))}".utf8)
        return (record, topic, partition, chosen)
    }

    /// Weather and workers as calm as can be.
    mutating func calm() {
        crashes = 0
        stops = 0
        freezes = 0
        growths = 0
        storms = false
        calmBackend = true
        forbidden = []
        plainEvents = true
        produceFailures = 0
        acknowledgementFailures = 0
        commitFailures = 0
    }

    private func moment(_ milliseconds: Int64) -> String {
        var text: [UInt8] = []
        RFC3339.append(WallTime(milliseconds: milliseconds), to: &text)
        return String(decoding: text, as: UTF8.self)
    }

    /// The duty and outcome that a result record is about.
    static func readResult(_ record: LogRecord) -> (Duty, String, DeadLetterReason?) {
        guard let value = record.value, let result = try? NotificationResult(decoding: value) else {
            return (Duty(origin: "unreadable", service: ""), "", nil)
        }
        return (
            Duty(origin: result.origin.description, service: result.pushService ?? ""),
            result.outcome.rawValue, result.reason
        )
    }
}

extension HeaderList {
    func text(_ name: HeaderName) -> String? {
        guard let value = lastValue(named: name.literal) else { return nil }
        return String(
            decoding: (0..<value.byteCount).map { value.unsafeLoad(fromByteOffset: $0, as: UInt8.self) }, as: UTF8.self)
    }

    /// What `herald-pns` lists.
    var services: [String] { (text(.pushServices) ?? "").split(separator: ",").map(String.init) }
}
