import HeraldCore
import HeraldEvents
import HeraldKafka
import HeraldTime
import HeraldWorker

/// What people may want to look at although the worker is ready.
extension Readiness {
    private static let faultAge: Milliseconds = .minutes(15)
    /// For long enough that a person sees it.
    private static let passedOverAge: Milliseconds = .hours(12)

    var warnings: [Finding] {
        failing + throttling
            + [stranger, transaction, refused, growth, faults, passedOver, report.cluster.drift].compactMap { $0 }
    }

    /// Push services of which every call fails; in an outage that says why.
    private var failing: [Finding] {
        guard report.outages.isEmpty else { return [] }
        return report.cluster.failingServices.map { service in
            Finding(
                .pushServiceFailing,
                "all \(service.calls) calls to \(service.name) within the last minute failed; its notifications are retried, "
                    + "and the others go on", place: [service.name], numbers: ["calls": service.calls])
        }
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

    private var refused: Finding? {
        let topics = report.lanes.flatMap(\.refusedRecords)
        guard let first = topics.max(by: { $0.since < $1.since }), let topic = first.topic else { return nil }
        let count = report.waiting(for: .recordRefused)
        let (wait, theirs) = count == 1 ? ("event waits", "it") : ("events wait", "theirs")
        return Finding(
            .recordRefused,
            "\(count) \(wait), because \(topic) does not take a record of \(theirs) (\(first.text))", place: [topic],
            step: "\(first.remedy ?? ""). They are offered again by themselves, and all others continue",
            numbers: ["events": count])
    }

    private var growth: Finding? {
        // In an outage it grows because of the outage, and retries are a lag too.
        guard report.outages.isEmpty, report.cluster.failingServices.isEmpty, report.cluster.openTransactions.isEmpty,
            throttling.isEmpty, refused == nil, report.lanes.allSatisfy({ $0.refusal == nil }),
            let growth = report.cluster.lagPerSecond, growth >= 1,
            // The growth is that of the brokers' last round; what was behind then may be done.
            report.lags.contains(where: { $0.offsets ?? 0 > 0 })
        else { return nil }
        let perSecond = Int(growth.rounded())
        let isBusy = report.lanes.contains { $0.calls > 0 || $0.events > 0 }
        return Finding(
            .lagGrowing, "the lag grows by \(perSecond) offsets each second",
            step: isBusy
                ? "more events arrive than the backend accepts; look at its latency and at the limits, or start more workers"
                : "no event has come to the worker, so this is not the backend; look at the brokers, and whether a topic "
                    + "takes batches that unpack to hundreds of megabytes (`herald topics plan`), for which a worker stands "
                    + "still",
            numbers: ["perSecond": perSecond])
    }

    /// The latest of publishers' faults, for a while after it was seen last.
    private var faults: Finding? {
        let recent = report.cluster.faultyRecords.filter { now.time(since: $0.at) < Self.faultAge }
        guard let latest = recent.max(by: { $0.at < $1.at }) else { return nil }
        let others = recent.count == 1 ? "" : ", and \(recent.count - 1) more such faults"
        return Finding(
            .publisherFaults,
            "records of \(latest.topic) \(latest.fault.words) (\(latest.exampleText))\(others), so that "
                + latest.fault.consequence, place: [latest.topic], step: latest.fault.remedy,
            numbers: ["records": latest.count])
    }

    /// The offsets that were passed over, those of the latest partition first.
    private var passedOver: Finding? {
        report.lanes.flatMap(\.meter.latestPassedOver).filter { now.time(since: $0.at) < Self.passedOverAge }
            .sorted { $0.at > $1.at }.map(\.what).finding(in: report.address)
    }
}
