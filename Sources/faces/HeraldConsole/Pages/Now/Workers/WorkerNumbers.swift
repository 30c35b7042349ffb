import HeraldEvents
import HeraldText

/// What a worker's metrics say, as far as the console shows it; what an older worker does not have is absent or empty.
struct WorkerNumbers: Sendable, Equatable {
    /// A push service and how its notifications, or calls, ended.
    struct Series: Hashable, Sendable {
        var service: String
        var end: String
    }

    /// So many push services are counted at most: settings may name 64, and events can come without one.
    static let serviceLimit = 65
    /// So many different ends of calls, delays and topics are taken at most.
    static let wordLimit = 64

    /// When the process was started, in seconds since the Unix epoch.
    var startSeconds: Double?
    var notifications: [Series: Double] = [:]
    var calls: [Series: Double] = [:]
    var deadLetters: Double?
    var inFlight: Double?
    var inFlightLimit: Double?
    /// Calls a second that a push service bears, where the backend has asked for fewer.
    var rateLimits: [String: Double] = [:]
    /// The outages that are on.
    var outages: [String] = []
    /// How long the oldest event has waited (seconds).
    var oldestSeconds: Double?
    /// How many notifications ended within so many seconds of their publication, by these bounds; of all request topics.
    var endToEnd: [Double: Double] = [:]
    var partitions: Double?
    /// By delay.
    var retryBacklog: [String: Double] = [:]
    var brokersReachable: Bool?
    var version: String?

    init() {}

    /// - Returns: `nil` for a text without a metric of Herald's.
    init?(_ text: [UInt8]) {
        var count = 0
        var services: Set<String> = []
        MetricsText.read(text, prefix: "herald_") { sample in
            count += 1
            if let service = sample.labels["pns"], !services.contains(service) {
                guard services.count < Self.serviceLimit, service.utf8.count <= Self.wordLimit else { return }
                services.insert(service)
            }
            add(sample)
        }
        guard count > 0 else { return nil }
        MetricsText.read(text, prefix: "process_start_time_seconds") { startSeconds = $0.value }
    }

    private mutating func add(_ sample: MetricsText.Sample) {
        let value = max(0, sample.value)
        switch sample.name {
        case "herald_notifications_total":
            // The ends are the contract's.
            guard let outcome = sample.labels["outcome"].flatMap(Outcome.init), value.isFinite else { return }
            notifications[Series(service: sample.word("pns"), end: outcome.rawValue), default: 0] += value
        case "herald_calls_total":
            let series = Series(service: sample.word("pns"), end: sample.word("result"))
            guard value.isFinite, calls.count < Self.serviceLimit * Self.wordLimit else { return }
            calls[series, default: 0] += value
        case "herald_dead_letters_total" where value.isFinite: deadLetters = (deadLetters ?? 0) + value
        case "herald_inflight": inFlight = value
        case "herald_limit_inflight": inFlightLimit = value
        case "herald_limit_calls_per_second" where value.isFinite: rateLimits[sample.word("pns")] = value
        case "herald_outage" where value > 0 && outages.count < Self.wordLimit: outages.append(sample.word("reason"))
        case "herald_oldest_event_age_seconds" where value.isFinite: oldestSeconds = max(oldestSeconds ?? 0, value)
        case "herald_end_to_end_seconds_bucket" where value.isFinite:
            guard let bound = sample.labels["le"].flatMap(MetricsText.number) else { return }
            guard endToEnd[bound] != nil || endToEnd.count < Self.wordLimit else { return }
            endToEnd[bound, default: 0] += value
        case "herald_partitions_assigned": partitions = value
        case "herald_retry_backlog" where retryBacklog.count < Self.wordLimit && value.isFinite:
            retryBacklog[sample.word("delay")] = value
        case "herald_brokers_reachable": brokersReachable = value > 0
        case "herald_build_info": version = sample.word("version")
        default: break
        }
    }
}

extension MetricsText.Sample {
    /// A label's value, made safe to show and not longer than a word.
    fileprivate func word(_ label: String) -> String {
        SafeText.escaped(String((labels[label] ?? "").prefix(WorkerNumbers.wordLimit)))
    }
}
