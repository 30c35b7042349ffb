import HeraldCore
import HeraldEvents
import HeraldKafka
import HeraldTelemetry
import HeraldThreads
import HeraldTime

/// Logs repeated trouble: the first time at once, and then at most once a minute for each reason, with its count.
///
/// All lanes of a process share one, because they see the same trouble.
final class TroubleLog: Sendable {
    /// The time between two lines with the same reason.
    static let interval: Milliseconds = .minutes(1)
    /// The number of reasons that are distinguished; further lines of librdkafka are not logged.
    static let reasonLimit = 256

    /// The reason of a counted line.
    enum Reason: Hashable {
        case deadLetters(DeadLetterReason)
        case unanswered(CallFailure, service: String)
        /// Temporary failures of a push service, such as 5xx.
        case failing(service: String)
        /// A Retry-After that is neither seconds nor a date, which is logged once.
        case ignoredRetryAfter
        /// Records of a request topic whose publication breaks the contract.
        case publisher(topic: String, PublisherFault)
        /// An obstacle of the lanes' group, in a sentence.
        case group(String)
        /// Brokers that make a client wait.
        case throttled(Throttling.Client)
        /// A line of librdkafka, without its variable parts.
        case kafka(String)
    }

    private struct Entry {
        var count = 0
        var loggedAt: MonotonicTime?
        /// What the latest of them says.
        var text = ""
    }

    typealias Write = @Sendable (_ text: String, _ fields: LogFields) -> Void

    private let warn: Write
    private let debug: Write
    private let entries = Guarded<[Reason: Entry]>([:])

    convenience init(logger: Logger) {
        self.init(warn: { logger.warning($0, $1) }, debug: { logger.debug($0, $1) })
    }

    init(warn: @escaping Write, debug: @escaping Write = { _, _ in }) {
        self.warn = warn
        self.debug = debug
    }

    /// Logs that topics are not as the settings want them, each time that it is another matter.
    func drift(_ finding: Finding) {
        warn(finding.sentence, ["topics": .string(finding.place.joined(separator: ", "))])
    }

    /// Counts news, and logs the lines that are due.
    func note(_ news: [(reason: Reason, count: Int)], now: MonotonicTime) {
        note(news.map { ($0.reason, $0.count, "") }, at: now)
    }

    private func note(_ news: [(reason: Reason, count: Int, text: String)], at now: MonotonicTime) {
        let due = entries.withLock { entries in
            for (reason, count, text) in news where Self.counts(reason, entries) {
                entries[reason, default: Entry()].count += count
                entries[reason]?.text = text
            }
            return Self.takeDue(&entries, now: now)
        }
        write(due)
    }

    private static func counts(_ reason: Reason, _ entries: [Reason: Entry]) -> Bool {
        switch reason {
        case .ignoredRetryAfter: entries[reason] == nil
        case .kafka: entries[reason] != nil || entries.count < reasonLimit
        case .deadLetters, .unanswered, .failing, .publisher, .group, .throttled: true
        }
    }

    /// Counts records whose publication breaks the contract.
    func publishers(_ news: [FaultyRecords], now: MonotonicTime) {
        note(news.map { (.publisher(topic: $0.topic, $0.fault), $0.count, $0.exampleText) }, at: now)
    }

    /// Logs that brokers have moved.
    func moved(_ brokers: [ClusterMetadata.Broker]) {
        let places = brokers.map { "\($0)" }.joined(separator: ", ")
        warn("brokers have moved, and are asked where they are now: \(places)", [:])
    }

    /// Counts a line or an error of a client; its lanes' clients all say the same, some of it twice.
    func kafka(_ notice: ClientNotice, now: MonotonicTime) {
        // Levels are syslog's: those up to 4 (warning) may concern operators.
        guard notice.level <= 4, !notice.isExpected else { return debug(notice.text, ["part": "librdkafka"]) }
        note([(.kafka(notice.essence), 1, notice.text)], at: now)
    }

    /// Counts the times that brokers made a client wait.
    func throttled(_ throttling: Throttling, count: Int, now: MonotonicTime) {
        note([(.throttled(throttling.client), count, throttling.finding(now: now).sentence)], at: now)
    }

    /// Logs an ignored Retry-After once.
    func ignoredRetryAfter(_ text: String, now: MonotonicTime) { note([(.ignoredRetryAfter, 1, text)], at: now) }

    private static func takeDue(_ entries: inout [Reason: Entry], now: MonotonicTime) -> [(Reason, Entry)] {
        var due: [(Reason, Entry)] = []
        for (reason, entry) in entries {
            let isPast = entry.loggedAt.map { reason != .ignoredRetryAfter && now.time(since: $0) >= interval } ?? true
            guard isPast else { continue }
            guard entry.count > 0 else {
                entries[reason] = nil
                continue
            }
            due.append((reason, entry))
            entries[reason] = Entry(loggedAt: now)
        }
        return due
    }

    private func write(_ due: [(Reason, Entry)]) {
        for (reason, entry) in due {
            switch reason {
            case .deadLetters(let why):
                warn(
                    "dead letters: herald dlq list shows them",
                    ["reason": .string(why.rawValue), "count": .int(entry.count)])
            case .unanswered(let failure, let service):
                warn(
                    "calls had no answer from the backend; their events are retried",
                    [
                        "pns": .string(service), "reason": .string(failure.label), "count": .int(entry.count),
                    ])
            case .failing(let service):
                warn(
                    "calls were answered with a failure that can pass, such as 5xx; their events are retried",
                    ["pns": .string(service), "count": .int(entry.count)])
            case .ignoredRetryAfter:
                warn(
                    "the backend's Retry-After is ignored: it says neither a whole number of seconds nor an HTTP date. "
                        + "Events are retried by retry.delays",
                    ["value": .string(entry.text)])
            case .publisher(let topic, let fault):
                warn(
                    "records of \(topic) \(fault.words): \(fault.consequence); \(fault.remedy)",
                    [
                        "topic": .string(topic), "fault": .string(fault.rawValue), "count": .int(entry.count),
                        "example": .string(entry.text),
                    ])
            case .group(let sentence): warn(sentence, [:])
            case .throttled: warn(entry.text, ["count": .int(entry.count)])
            case .kafka:
                // Its errors are warnings, because it fixes most of them by itself.
                warn(entry.text, ["part": "librdkafka", "count": .int(entry.count)])
            }
        }
    }
}

extension Counters {
    /// The troubles since then that concern operators.
    ///
    /// - Parameter services: their names, in the order of the counters.
    func troubles(since before: Counters, services: [[UInt8]]) -> [(reason: TroubleLog.Reason, count: Int)] {
        var troubles: [(reason: TroubleLog.Reason, count: Int)] = []
        for reason in DeadLetterReason.allCases {
            let count = deadLetters(reason) - before.deadLetters(reason)
            if count > 0 { troubles.append((.deadLetters(reason), count)) }
        }
        func ended(_ end: CallEnd, _ service: Int) -> Int {
            calls(end, service: service) - before.calls(end, service: service)
        }
        for (service, name) in services.enumerated() {
            let name = String(decoding: name, as: UTF8.self)
            let count = ended(.answered(.transient), service)
            if count > 0 { troubles.append((.failing(service: name), count)) }
            for failure in [CallFailure.refused, .reset, .timeout, .brokenHTTP] {
                let count = ended(.unanswered(failure), service)
                if count > 0 { troubles.append((.unanswered(failure, service: name), count)) }
            }
        }
        return troubles
    }
}

extension ClientNotice {
    /// Whether nothing follows from it: that a producer has a consumer's property, because all clients share `kafka.properties`,
    /// or that an old broker, such as the embedded one, cannot be told to make no topics.
    var isExpected: Bool {
        text.hasPrefix("CONFWARN: ") && text.contains("will be ignored by this ")
            || text.hasPrefix("AUTOCREATE: ") && text.contains("not supported by broker")
    }

    /// The message without the name of librdkafka's thread and client, and without how long it took: the same message
    /// comes as a line and as an error, from every client.
    var essence: String {
        var rest = Substring(text)
        if let thread = rest.firstRange(of: "[thrd:"), let end = rest[thread.upperBound...].firstRange(of: "]: ") {
            rest = rest[end.upperBound...]
        } else if let error, let end = rest.firstRange(of: "\(error.name): ") {
            rest = rest[end.upperBound...]
        }
        if let tail = rest.firstRange(of: " (after ") { rest = rest[..<tail.lowerBound] }
        return String(rest)
    }
}
