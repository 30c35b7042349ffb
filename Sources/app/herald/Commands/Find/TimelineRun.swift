import HeraldCommandLine
import HeraldEvents
import HeraldKafka
import HeraldSettings
import HeraldText
import HeraldTime
import HeraldTimeline
import HeraldTools

/// The common part of `herald find` and `herald explain`: a search with a bar, and its gaps.
struct TimelineRun {
    static let since = CommandOption.optional(
        "since", .text("TIME"), "Only what was recorded since a moment (2026-11-21T08:40:26Z), or so long ago (2d).")
    static let allPartitions = CommandOption.flag(
        "all-partitions", "Read all partitions, also those in which the user's records should not be.")

    let search: TimelineSearch
    let admin: HeraldKafka.Admin
    let reach: ClusterReach
    let settings: Settings
    private let console: Console

    init(_ invocation: Invocation) throws {
        settings = try invocation.settings(requiring: [.kafka])
        search = try settings.timelineSearch()
        admin = try settings.adminClient()
        reach = settings.clusterReach
        console = invocation.console
    }

    /// The reasons that workers give for waiting events; names silent workers on standard error.
    func waiting(_ found: TimelineSearch.Found, _ query: TimelineQuery) -> [Origin: Explanation.Waiting] {
        do {
            let waiting = try search.waiting(found, query, reach: reach, admin: admin)
            for silent in waiting.values.first?.unheard ?? [] {
                console.remark(SafeText.escaped("The worker at \(silent.worker) was not heard (\(silent.reason))."))
            }
            return waiting
        } catch {
            console.remark(SafeText.escaped("What they wait for is not known: \(error)."))
            return [:]
        }
    }

    /// Why push services are not called any more, by what users and recalls say now.
    func said(_ found: TimelineSearch.Found) -> [Origin: [String: StandingWords.Said]] {
        do {
            return try search.said(of: found.timelines, reach: reach, admin: admin)
        } catch {
            console.remark(SafeText.escaped("What users and recalls say of them now is not known: \(error)."))
            return [:]
        }
    }

    /// Prints on standard error which requests that may have been meant were deleted before they were read.
    func sayLostRequests(_ query: TimelineQuery) {
        do {
            guard let lost = try search.lostRequests(query, reach: reach, admin: admin) else { return }
            console.remark(SafeText.escaped(lost))
        } catch {
            console.remark(
                SafeText.escaped("Whether requests were deleted before they were read is not known: \(error)."))
        }
    }

    /// Searches, and prints the gaps of the answer on standard error.
    func run(_ query: TimelineQuery) throws -> TimelineSearch.Found {
        let stop = try StopRequest.listen()
        let found = try stop.reading(console) { bar in
            try search.run(query, reach: reach, admin: admin) { passed, total in
                bar.show(passed, of: total, "\(passed) of \(total) records read\(bar.pace)")
            }
        }
        for reason in found.unread { console.remark("Not read: \(SafeText.escaped(reason)).") }
        for open in found.openTransactions {
            console.remark(SafeText.escaped("Not read: \(open.words). To do: \(open.remedy)."))
        }
        if query.since != nil, !found.knowsTimes {
            console.remark("This broker cannot find records by their time: all of them were read.")
        }
        if !found.strayTopics.isEmpty {
            console.remark(
                "Events of this user are not where the key of their user belongs in "
                    + "\(found.strayTopics.joined(separator: ", ")): their producer has another partitioner or key, so "
                    + "that some may be missing here. --all-partitions finds them all; docs/PUBLISHING.md says how to "
                    + "publish them.")
        }
        if !found.grownTopics.isEmpty {
            console.remark(
                "Events of this user are where the key of their user belonged when "
                    + "\(found.grownTopics.joined(separator: ", ")) had fewer partitions: older records stay there when "
                    + "partitions are added, so that some may be missing here. --all-partitions finds them all.")
        }
        if found.isCut {
            console.remark("Only the newest \(query.limit) events of each partition are shown; see --limit.")
        }
        return found
    }
}

/// An event's timeline for people; it contains no messages.
enum TimelinePage {
    /// Lines for people; everything from records is made safe to show.
    ///
    /// - Parameters:
    ///   - waiting: the workers' reason for its waiting.
    ///   - loss: how it was lost, if it was.
    ///   - said: why push services are not called any more.
    static func lines(
        _ event: EventTimeline, _ waiting: Explanation.Waiting?, _ loss: EventLoss? = nil,
        _ said: [String: StandingWords.Said] = [:]
    ) -> [String] {
        var head = [event.id ?? "\(event.origin)"]
        if let user = event.user { head.append("for \(user)") }
        if let source = event.source { head.append("by \(source)") }
        if let campaign = event.campaign { head.append("in campaign \(campaign)") }
        let names = event.open.joined(separator: ", ")
        let dropped =
            event.droppedCount > 0 ? ["  \(event.droppedCount) older steps are left out"] : []
        let fault = event.fault.map { ["  its record \($0.wordsOfOne): \($0.consequence)"] } ?? []
        let ends = said.sorted { $0.key < $1.key }.map { name, said in
            "\(name): \(event.open.contains(name) ? "will not be called" : "a replay ends as suppressed"): \(said.words)"
        }
        return [SafeText.escaped(head.joined(separator: " "))] + fault + dropped
            + event.steps.map { "  \($0.at.text)  \(SafeText.escaped($0.words))" }
            + (event.open.isEmpty || event.isMalformed
                ? []
                : ["  " + SafeText.escaped(loss.map { "\(names): \($0.words)" } ?? "no outcome yet for \(names)")])
            + ends.map { "  " + SafeText.escaped($0) } + (waiting?.sentences ?? []).map { "  " + SafeText.escaped($0) }
    }
}
