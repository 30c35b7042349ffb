import HeraldCore
import HeraldEvents
import HeraldKafka
import HeraldTime
import HeraldWorker

/// What people may want to look at although the worker is ready.
extension Readiness {
    private static let faultAge: Milliseconds = .minutes(5)
    /// For long enough that a person sees it.
    private static let passedOverAge: Milliseconds = .hours(12)

    var warnings: [Finding] {
        report.outageFindings.filter { $0.severity == .warn } + failing + throttling
            + [
                lostRetries, missingDelays, copies, stranger, transaction, report.lastWord?.finding(now: now), refused,
                growth, faults, passedOver,
                report.cluster.drift,
            ].compactMap { $0 }
    }

    /// The missing topics of delays, in place of which others take retries.
    private var missingDelays: Finding? {
        let missing = report.cluster.missingTopics.filter { instead(of: $0) != nil }
        guard let first = missing.first, let instead = instead(of: first) else { return nil }
        var finding = ClusterReport.missing(missing)
        finding.severity = .warn
        finding.what += "; calls go on, and the retries that it would take go by way of \(instead)"
        return finding
    }

    /// Partitions that have lost a copy, until too few are left, which is a reason.
    private var copies: Finding? {
        let lacking = report.cluster.underReplicated
        guard !lacking.isEmpty, report.cluster.unusable.isEmpty, areBrokersReachable != false else { return nil }
        let isBack = report.cluster.silentBrokers.isEmpty
        let cause = isBack ? "a broker lags behind" : silentBrokers
        return Finding(
            .copiesMissing,
            "\(cause), so \(lacking.counted) \(lacking.count == 1 ? "has" : "have") fewer copies "
                + "(\(lacking.names))" + silentDuties(report.cluster.silentlyLed), place: lacking.map(\.description),
            step: isBack ? "wait: it copies what it lacks; when it lasts, look at its disk and network" : nil,
            numbers: ["partitions": lacking.count])
    }

    /// Push services that are held, none of whose calls gets through, or some of whose calls are refused; in an outage, or
    /// while the backend does not answer, that says why.
    private var failing: [Finding] {
        // Where no call is answered, none says anything of a push service.
        guard report.outages.isEmpty, backend == nil else { return [] }
        let held = report.holds.map { report.pushServices[$0.service] }
        let services = report.cluster.services
        return report.holdFindings + services.failing.filter { !held.contains($0.name) }.map(\.finding)
            + services.refused.filter { !held.contains($0.name) }.map(\.finding)
    }

    private var throttling: [Finding] {
        Throttling.Client.allCases.compactMap { report.throttling(of: $0, now: now)?.finding(now: now) }
    }

    private var stranger: Finding? {
        report.cluster.strangers?.words(in: report.group).map {
            Finding(.strangerInGroup, $0, step: [GroupDescription.Stranger].remedy)
        }
    }

    private var transaction: Finding? {
        let open = report.cluster.openTransactions
        return open.first.map { first in
            Finding(
                .behindOpenTransaction,
                "partition \(first.words)"
                    + (open.count > 1 ? ", and the same in \(open.count - 1) more partitions" : ""),
                place: open.map(\.partition.description), since: first.since, step: first.remedy)
        }
    }

    var refused: Finding? {
        // Of topics that are missing is told without them.
        let all = report.lanes.flatMap(\.refusedRecords).filter { !report.cluster.missingTopics.contains($0.topic) }
        // What waits is worse than what goes another way.
        let waiting = all.filter { $0.instead == nil }
        let refused = waiting.isEmpty ? all : waiting
        guard let first = refused.min(by: { $0.since < $1.since }) else { return nil }
        if let instead = first.instead {
            let retries = refused.reduce(0) { $0 + ($1.topic == first.topic ? $1.events : 0) }
            return Finding(
                .recordRefused,
                "\(retries) \(retries == 1 ? "retry has" : "retries have") gone by way of \(instead), because \(first.topic) "
                    + "does not take \(retries == 1 ? "it" : "them") (\(first.text)); calls go on",
                place: [first.topic], since: first.since,
                step: "\(first.remedy). Herald tries that topic again by itself", numbers: ["events": retries])
        }
        let topics = Set(refused.map(\.topic)).sorted()
        let count = refused.reduce(0) { $0 + $1.events }
        let (wait, theirs) = count == 1 ? ("event waits", "it") : ("events wait", "theirs")
        return Finding(
            .recordRefused,
            "\(count) \(wait), because \(topics.joined(separator: ", ")) \(topics.count == 1 ? "does" : "do") not take a record "
                + "of \(theirs) (\(first.text))", place: topics, since: first.since,
            step: "\(first.remedy). They are offered again by themselves, and all others continue",
            numbers: ["events": count])
    }

    /// What waits grows, and nothing else that is found explains it: the step follows from what the events wait for.
    private var growth: Finding? {
        guard isReady, report.cluster.services.failing.isEmpty, report.holds.isEmpty,
            report.cluster.openTransactions.isEmpty,
            throttling.isEmpty, refused == nil, report.lanes.allSatisfy({ $0.refusal == nil }),
            let growth = report.cluster.lagPerSecond, growth >= 1,
            // The growth is that of the brokers' last round: what was behind then may be done.
            report.lags.contains(where: { $0.partition.delay == nil && Double($0.offsets ?? 0) >= growth })
        else { return nil }
        let perSecond = Int(growth.rounded())
        let most = WaitReason.Kind.allCases.map { ($0, report.waiting(for: $0)) }.max { $0.1 < $1.1 }
        let bound = most.flatMap { $0.1 > 0 ? LagBound($0.0) : nil }
        let isBusy = report.lanes.contains { $0.calls > 0 || $0.events > 0 }
        let (place, step) = remedy(bound ?? (isBusy ? .calls : .fetching))
        return Finding(
            .lagGrowing,
            "the lag grows by \(perSecond) offsets each second"
                + (bound != nil ? "; most events in memory: \(most?.0.word ?? "")" : ""),
            place: place, step: step, numbers: ["perSecond": perSecond])
    }

    /// What to do, and the push services that it is about: what the events of a moment wait for may follow from slow calls.
    private func remedy(_ bound: LagBound) -> (place: [String], step: String) {
        let slow = report.cluster.services.slow
        if bound.mayFollowFromSlowCalls, let slowest = slow.first {
            let names = slow.filter { one in
                slowest.time.map { longest in one.time.map { 2 * $0 >= longest } ?? true } ?? (one.time == nil)
            }.map(\.name)
            let whose = names.count == report.pushServices.count ? "" : " to \(names.joined(separator: " and "))"
            let time = slowest.time.map { "\($0.wholeSeconds) s" } ?? "longer than backend.timeout"
            return (
                names,
                "calls\(whose) take \(time); see why in the backend: more workers help only where it "
                    + "bears more calls at a time"
            )
        }
        let lanes = report.lanes
        let isFull =
            report.waiting(for: .callsInFlight) > 0
            || lanes.contains { $0.inFlightLimit > 0 && 10 * $0.calls >= 9 * $0.inFlightLimit }
        if bound == .calls, !isFull {
            let calls = lanes.reduce(0) { $0 + $1.calls }
            return (
                [],
                "the calls in flight (\(calls) of at most \(lanes.reduce(0) { $0 + $1.inFlightLimit })) are not the bound; see with "
                    + "`herald explain` what the oldest events wait for"
            )
        }
        return ([], bound.step)
    }

    /// What limits a worker that cannot keep up.
    private enum LagBound {
        case backend, calls, limits, order, commits, fetching

        init(_ kind: WaitReason.Kind) {
            self =
                switch kind {
                case .backendPause, .learnedLimit, .outage, .pushServiceHeld, .credentialsRenewal,
                    .credentialsDoubt:
                    .backend
                case .calling, .nextTurn, .callsInFlight, .quickRetry, .otherPushServices: .calls
                case .serviceLimit, .totalLimit: .limits
                case .behindUser, .behindPartition, .behindSame, .sameUnderWay: .order
                case .unrecordedOutcomes, .stoodStill, .unacknowledged, .transaction, .transactionEnds, .producer,
                    .recordRefused:
                    .commits
                case .notBefore, .retryDue, .campaignPaused, .preferencesBehind, .stopping: .fetching
                }
        }

        var mayFollowFromSlowCalls: Bool {
            switch self {
            case .calls, .order, .commits: true
            case .backend, .limits, .fetching: false
            }
        }

        var step: String {
            switch self {
            case .backend, .calls:
                "more events arrive than the backend accepts; look at its latency and at the limits, or start more workers"
            case .limits: "raise limits.perSecond or limits.pushServices, if the backend bears more"
            case .order: "a few users or one partition have most of the events; see which with `herald explain`"
            case .commits: "the brokers take outcomes more slowly than events arrive; look at their latency and disks"
            case .fetching:
                "hardly an event has come to the worker, so this is not the backend; look at the brokers, and whether a topic "
                    + "takes batches that unpack to hundreds of megabytes (`herald topics plan`), for which a worker stands "
                    + "still"
            }
        }
    }

    /// The latest of publishers' faults, for a while after it was seen last.
    private var faults: Finding? {
        let recent = report.cluster.faultyRecords.filter { now.time(since: $0.at.monotonic) < Self.faultAge }
        guard let latest = recent.max(by: { $0.at.monotonic < $1.at.monotonic }) else { return nil }
        let others = recent.count == 1 ? "" : ", and \(recent.count - 1) more such faults"
        let records =
            latest.count == 1
            ? "1 record of \(latest.topic) \(latest.fault.wordsOfOne)"
            : "\(latest.count) records of \(latest.topic) \(latest.fault.words)"
        return Finding(
            .publisherFaults,
            "\(records) (\(latest.exampleText)), seen last at \(RFC3339.text(latest.at.wall))\(others), so that "
                + latest.fault.consequence, place: [latest.topic], step: latest.fault.remedy,
            numbers: ["records": latest.count])
    }

    /// The offsets that were passed over, those of the latest partition first.
    private var passedOver: Finding? {
        report.lanes.flatMap(\.meter.latestPassedOver).filter { now.time(since: $0.at) < Self.passedOverAge }
            .sorted { $0.at > $1.at }.map(\.what).finding(in: report.address)
    }
}
