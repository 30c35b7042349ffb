import HeraldEvents
import HeraldKafka
import HeraldText
import HeraldTime
import HeraldTools

extension Verdict {
    /// What `/api/verdict` answers and the news `verdict` tells.
    ///
    /// - Parameter configuration: the file of settings that Herald's commands need to be told.
    func json(now: WallTime, configuration: String? = nil) -> JSONValue {
        guard case .object(let members) = first.json(now: now, configuration) else { return .null }
        let more: [JSONValue.Member] = [
            .init("retrying", .count(retrying)),
            .init("others", .array(others.map { $0.json(now: now, configuration) })),
        ]
        return .object(members + more)
    }
}

extension ToldFinding {
    fileprivate func json(now: WallTime, _ configuration: String?) -> JSONValue {
        [
            "state": .string(finding.severity.rawValue), "key": .string(key), "sentence": .string(sentence(now: now)),
            "headline": .string(finding.title), "since": .text(finding.since?.text),
            "sinceIsBefore": .bool(isSinceBound), "cause": .text(finding.what.isEmpty ? nil : finding.what),
            "where": .words(finding.place), "waiting": .count(waiting), "traits": .words(traits),
            "consequences": .array(
                consequences.map { one in
                    ["headline": .string(one.finding.title), "cause": .text(one.whole.isEmpty ? nil : one.whole)]
                }), "next": finding.step.isEmpty ? .null : next(configuration),
        ]
    }

    private func next(_ configuration: String?) -> JSONValue {
        let isOurs = finding.command.first == "herald"
        let command = finding.command + (isOurs ? configuration.map { ["--config", $0] } ?? [] : [])
        return [
            "sentence": .string(finding.stepSentence), "command": command.isEmpty ? .null : .words(command),
            "href": .text(href),
            "section": .string(finding.section), "alert": .text(finding.alert), "plan": plan ?? .null,
        ]
    }
}

extension VerdictLog.Span {
    /// - Parameter lateness: of the time that this one tells of.
    func json(_ lateness: Lateness?) -> JSONValue {
        .span(
            key, severity.rawValue, title, cause: what.isEmpty ? nil : what, from: from, to: isPresent ? nil : to,
            waiting: mostWaiting, late: lateness)
    }
}

extension LetterRun {
    func json(_ pattern: FailurePattern?) -> JSONValue {
        .span(
            "dead-letters", open > 0 ? "warn" : "good", "Dead letters", cause: pattern?.words(), from: from, to: to,
            count: tally.total, open: open)
    }
}

extension LateRun {
    var json: JSONValue {
        .span("late", "bad", "Delivered late", from: from, to: to, waiting: Int64(mostWaiting), late: lateness)
    }
}

extension JSONValue {
    /// An entry of the last day.
    fileprivate static func span(
        _ key: String, _ state: String, _ headline: String, cause: String? = nil, from: WallTime, to: WallTime?,
        waiting: Int64? = nil, count: Int? = nil, open: Int? = nil, late: Lateness? = nil
    ) -> Self {
        [
            "key": .string(key), "state": .string(state), "headline": .string(headline), "cause": .text(cause),
            "from": .string(from.text), "to": .text(to?.text), "waiting": .count(waiting),
            "count": .count(count.map(Int64.init)), "open": .count(open.map(Int64.init)), "late": late?.json ?? .null,
        ]
    }
}

extension Lateness {
    var json: JSONValue {
        [
            "count": .integer(count), "isExact": .bool(isExact),
            "worstMilliseconds": .integer(Int(worst.count)),
        ]
    }
}

extension LatePast.Report {
    /// What the lateness of the day is based on.
    var json: JSONValue {
        [
            "isComplete": .bool(isComplete), "lookedAt": .integer(lookedAt), "delivered": .integer(delivered),
            "scattered": scattered?.json ?? .null,
        ]
    }
}

extension NowModel {
    /// What `/api/now` answers: all points, and what is so now.
    var json: JSONValue {
        [
            "stepMilliseconds": .integer(Int(Milliseconds(NowHistory.step).count)),
            "points": .array(history.points.map(\.json)), "current": snapshot.map(\.json) ?? .null,
        ]
    }

    /// What the news `now` tells: the newest point, and what is so now.
    var newsJSON: JSONValue {
        ["point": history.points.last.map(\.json) ?? .null, "current": snapshot.map(\.json) ?? .null]
    }
}

extension NowPoint {
    /// Rates are rounded to thousandths; what is 0 is left out.
    fileprivate var json: JSONValue {
        [
            "at": .string(at.text), "outcomes": Self.json(outcomes), "calls": Self.json(calls),
            "inFlight": .rounded(inFlight), "inFlightLimit": .rounded(inFlightLimit),
            "oldestSeconds": .rounded(oldestSeconds), "halfSeconds": .rounded(halfSeconds),
            "mostSeconds": .rounded(mostSeconds), "waiting": .count(waiting), "retrying": .count(retrying),
            "workers": .integer(workers), "ready": .integer(ready), "outages": .words(outages),
        ]
    }

    private static func json(_ rates: [RateMeter.Series: Double]) -> JSONValue {
        var services: [String: [JSONValue.Member]] = [:]
        for (series, rate) in rates.sorted(by: { $0.key.end < $1.key.end }) {
            services[series.service, default: []].append(.init(series.end, .rounded(rate)))
        }
        return .object(services.sorted { $0.key < $1.key }.map { .init($0.key, .object($0.value)) })
    }
}

extension NowModel.Snapshot {
    /// So many partitions are told at most: those furthest behind.
    private static let partitionLimit = 50
    /// Settings may name 64.
    private static let serviceLimit = 65

    fileprivate var json: JSONValue {
        var limits: [String: Double] = [:]
        for service in workers.flatMap({ $0.status?.services ?? [] }) {
            if let limit = service.callsPerSecond { limits[service.pns, default: 0] += limit }
        }
        let observation = group.observation
        let behind = (observation?.partitions ?? []).filter { $0.lag > 0 }
            .sorted { ($0.due, $0.lag) > ($1.due, $1.lag) }.prefix(Self.partitionLimit)
        return [
            "at": .string(now.text), "workers": .array(workers.map(\.json)),
            "limits": .array(
                limits.sorted { $0.key < $1.key }.prefix(Self.serviceLimit).map {
                    ["pns": .string($0.key), "callsPerSecond": .rounded($0.value)]
                }),
            "group": groupJSON,
            "partitions": .array(behind.map(\.json)),
            "backlog": .array((observation?.backlogs ?? []).map(\.json)),
            "backlogWithinSeconds": .array(GroupObservation.dueWithin.map { .integer(Int($0 / .seconds(1))) }),
            "deadLettersOfHour": .count(letters.map { Int64($0.whole.total) }),
        ]
    }

    private var groupJSON: JSONValue {
        let problem: String?
        switch group {
        case .unasked: problem = "the brokers have not answered yet"
        case .known: problem = nil
        case .untold(let reason, _), .unreachable(let reason, _), .tooFewBrokers(let reason, _): problem = reason
        }
        let observation = group.observation
        return [
            "problem": .text(problem), "at": .text(observation?.at.text),
            "state": .text(observation?.state),
            "members": .count(observation.map { Int64($0.members.count) }),
            "waiting": .count(observation?.waiting), "retrying": .count(observation?.retrying),
        ]
    }
}

extension GroupObservation.Partition {
    fileprivate var json: JSONValue {
        [
            "topic": .string(place.topic), "partition": .integer(Int(place.partition)), "delay": .text(delay),
            "lag": .integer(Int(lag)), "overdue": .integer(Int(overdue)), "hasMember": .bool(hasMember),
            "oldest": .text(oldest?.text), "stillSince": .text(stillSince?.text),
        ]
    }
}

extension GroupObservation.Backlog {
    fileprivate var json: JSONValue {
        [
            "delay": .string(delay), "waiting": .integer(Int(waiting)),
            "due": .array(due.map { .integer(Int($0)) }),
        ]
    }
}

extension WorkerObservation {
    fileprivate var json: JSONValue {
        let (word, sentence): (String, String?) =
            switch state {
            case .unasked: ("unasked", nil)
            case .silent(let silence): (silence.isOlder ? "older" : "silent", silence.reason)
            case .answered(let status):
                (status.isReady ? "ready" : "not-ready", (status.reasons + status.warnings).first?.sentence)
            }
        return [
            "address": .string(address), "state": .string(word), "sentence": .text(sentence),
            "version": .text(status?.version), "partitions": .count(status.map { Int64($0.assignment.partitions) }),
            "inFlight": .rounded(status?.inFlight), "inFlightLimit": .rounded(status?.inFlightLimit),
            "oldestSeconds": .rounded(status?.oldestSeconds),
        ]
    }
}

extension JSONValue {
    fileprivate static func rounded(_ number: Double?) -> Self {
        guard let number, number.isFinite else { return .null }
        return .number((number * 1_000).rounded() / 1_000)
    }
}
