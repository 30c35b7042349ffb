import HeraldCore
import HeraldEvents
import HeraldKafka
import HeraldTime
import HeraldWorker

/// A worker's reading of its home partitions of the caps topic, as the process's reader does it.
struct CapReading {
    let assignment: Int
    let homes: [Int32]
    var reader: LogReader
}

extension SimulatedWorker {
    func readCaps(of homes: [Int32], assignment: Int) {
        log("reads the caps of \(homes)")
        guard let topic = simulation.cluster.number(of: simulation.scenario.topics.caps) else { return }
        var reader = LogReader(homes.map { Place(topic: topic, partition: Int($0)) })
        reader.aim(at: CapMessage.end)
        capReading = CapReading(assignment: assignment, homes: homes, reader: reader)
        readOnCapsLater()
    }

    private func readOnCapsLater() {
        simulation.schedule(.news(process, .caps), after: simulation.chance[.caps].pick([0, 5, 50, 300]))
    }

    /// Reads on, and tells the lane.
    func readOnCaps() {
        guard var reading = capReading else { return }
        var records: [CapMessage] = []
        let isDone = reading.reader.turn(simulation) { name, record in
            records.append(CapMessage(partition: Int32(name.place.partition), key: record.key, value: record.value))
        }
        if !records.isEmpty { tell(.caps(assignment: reading.assignment, records)) }
        if isDone {
            log("has read the caps of \(reading.homes)")
            tell(.capsRead(assignment: reading.assignment, reading.homes))
            capReading = nil
        } else {
            capReading = reading
            readOnCapsLater()
        }
    }

    /// Notes that its lane has heard of a delivery that caps count.
    func noteCapped(_ token: CallToken, _ result: CallResult) {
        guard simulation.scenario.hasCaps, judged(result, by: statuses).verdict == .delivered,
            let record = record(in: token.slot)
        else { return }
        for duty in record.record.duties
        where simulation.checkers.duties[duty].service == Int(token.service)
            && simulation.checkers.duties[duty].subject.isPromotional
        {
            simulation.checkers.capHeard(duty, home: record.name.place.partition, at: now.wall.milliseconds)
        }
    }
}

/// The deliveries that caps count, as the checkers know them.
struct CapLedger {
    struct Home: Hashable {
        var user: Int
        var partition: Int
    }

    struct Delivery {
        /// The same for each push service, and for each repetition.
        var event: String
        var source: Int?
        var at: Int64
    }

    let rules: [CapRule]
    /// Those that are recorded, and those that a worker has heard of.
    var recorded: [Home: [Delivery]] = [:]
    var heard: [Home: [Delivery]] = [:]

    func matches(_ rule: CapRule, _ source: Int?) -> Bool {
        rule.source == nil || rule.source == source.map(Scenario.sourceName)
    }

    /// The events that a rule counts at a moment.
    func events(_ deliveries: [Delivery], _ rule: CapRule, until at: Int64, tolerance: Int64 = 0) -> Set<String> {
        Set(
            deliveries.filter { matches(rule, $0.source) && $0.at > at - rule.per.count && $0.at <= at + tolerance }
                .map(\.event))
    }
}

extension Checkers {
    private func delivery(_ duty: Int, at: Int64) -> CapLedger.Delivery {
        let facts = duties[duty]
        let name = facts.subject.id.map { "\(facts.subject.source ?? -1) \($0)" } ?? text(facts.source)
        return CapLedger.Delivery(event: name, source: facts.subject.source, at: at)
    }

    mutating func capHeard(_ duty: Int, home: Int, at: Int64) {
        caps.heard[.init(user: duties[duty].user, partition: home), default: []].append(delivery(duty, at: at))
    }

    /// Notes a recorded delivery of a promotional event.
    mutating func capRecorded(_ effect: Effect) {
        guard !caps.rules.isEmpty, case .result(.delivered, _, _, _) = effect.kind else { return }
        for duty in effect.duties where duties[duty].subject.isPromotional {
            let home = CapLedger.Home(user: duties[duty].user, partition: effect.settles.place.partition)
            caps.recorded[home, default: []].append(delivery(duty, at: effect.at))
        }
    }

    /// Nobody is stopped by caps while no rule is used up by other events.
    mutating func checkCapped(_ duty: Int, home: Int, at: Int64) {
        let own = delivery(duty, at: at)
        let heard = caps.heard[.init(user: duties[duty].user, partition: home)] ?? []
        // Of a delivery that died with its worker nobody knows.
        let (caps, tolerance, isExcused) = (caps, tolerance, duties[duty].isExcused)
        let isUsedUp = caps.rules.contains { rule in
            guard caps.matches(rule, own.source) else { return false }
            let others = caps.events(heard, rule, until: at, tolerance: tolerance).subtracting([own.event])
            // It may have been delivered to another push service later, when its turn had come.
            let wasDelivered = caps.events(heard, rule, until: at, tolerance: -tolerance).contains(own.event)
            return others.count >= rule.limit && (isExcused || !wasDelivered)
        }
        if !isUsedUp || !duties[duty].subject.isPromotional {
            fail("\(text(duty)) was capped at \(at), and fewer than a rule allows were delivered")
        }
    }

    /// No window of a user has more recorded deliveries than a rule allows.
    mutating func checkCaps() {
        for (home, deliveries) in caps.recorded {
            for rule in caps.rules {
                for delivery in deliveries where caps.matches(rule, delivery.source) {
                    let events = caps.events(deliveries, rule, until: delivery.at)
                    guard events.count > rule.limit else { continue }
                    fail(
                        "user \(home.user) got \(events.count) events within \(rule.per.count) ms until \(delivery.at), and "
                            + "\(rule.limit) are allowed: \(events.sorted().joined(separator: ", "))")
                    return
                }
            }
        }
    }
}
