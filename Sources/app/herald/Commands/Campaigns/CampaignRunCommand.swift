import HeraldCampaigns
import HeraldCommandLine
import HeraldEvents
import HeraldSettings
import HeraldText
import HeraldThreads
import HeraldTime
import HeraldTools

enum CampaignRunCommand: HeraldCommand {
    static let once = CommandOption.flag("once", "Publish those that are due now to their end, and exit.")

    static let declaration = CommandDeclaration(
        "run", "Publish detached campaigns when they are due.",
        details:
            "It publishes campaigns that were started with --detach, each from two minutes before its moment on, as long as no "
            + "publisher of it is heard of, and those that another one has left. A console with --allow-changes does the same: "
            + "one of them is enough, and several never notify anybody twice. An audience that is damaged or missing is said "
            + "before anybody is published, and tried again each minute. It deletes audiences of campaigns that are over. "
            + "On SIGTERM or SIGINT it ends what it publishes so that another one goes on.\n\n"
            + "With --once it exits with 0 if all are delivered, with 3 if some are not, and with 1 if one could not be published.",
        options: [once],
        examples: [
            .init("herald campaign run", "Beside the workers."),
            .init("herald campaign run --once", "From a timer."),
        ])
    static let usedSettings: UsedSettings =
        .cluster + .workers + .topics("requests", "results", "retry", "campaigns", "audiences", "audit") + .events
    static let isService = true

    static func run(_ invocation: Invocation) async throws -> ExitStatus {
        let settings = try invocation.settings(requiring: [.kafka])
        let context = settings.campaignContext(environment: invocation.environment)
        let (reach, admin) = (settings.clusterReach, try settings.adminClient())
        let stop = try StopRequest.listen()
        stop.beginWork()
        let run = CampaignRun(
            context,
            StoredPublication(
                context, users: settings.backend.users, maximumEventBytes: settings.limits.eventBytes,
                directory: invocation.temporaryDirectory), stop
        ) {
            try context.layout(reach: reach, admin: admin, isWriting: true)
        }
        return try run.run(isOnce: invocation.parsed[once], invocation.console)
    }
}

/// The publishers of one process, each on a thread of its own; the main thread says what becomes of them.
private final class CampaignRun {
    private struct State {
        var running: [String: OwnThread] = [:]
        var ended: Set<String> = []
        var lines: [String] = []
        var status = ExitStatus.done
    }

    /// So often it looks for campaigns that are due.
    private static let interval = Milliseconds.seconds(1)

    private let context: CampaignContext
    private let publication: StoredPublication
    private let stop: StopRequest
    private let lookAtTopics: @Sendable () throws -> CampaignContext.Layout
    private let state = Guarded(State())
    private let news: Wakeup?

    init(
        _ context: CampaignContext, _ publication: StoredPublication, _ stop: StopRequest,
        lookAtTopics: @escaping @Sendable () throws -> CampaignContext.Layout
    ) {
        (self.context, self.publication, self.stop) = (context, publication, stop)
        self.lookAtTopics = lookAtTopics
        news = try? Wakeup()
    }

    func run(isOnce: Bool, _ console: Console) throws -> ExitStatus {
        var campaigns: DetachedCampaigns?
        var trouble: String?
        defer { campaigns?.close() }
        while !stop.isMade {
            do {
                let known = try campaigns ?? DetachedCampaigns(context, lookAtTopics: lookAtTopics)
                campaigns = known
                let running = running
                for campaign in try known.due() where !running.contains(campaign.name) { try begin(campaign) }
                if !isOnce || running.isEmpty { try known.sweep() }
                trouble = nil
            } catch {
                if isOnce, running.isEmpty { throw error }
                campaigns?.close()
                campaigns = nil
                let words = SafeText.escaped("\(error)")
                if words != trouble { console.complain("herald: \(words); it is tried again") }
                trouble = words
            }
            say(console)
            if isOnce, running.isEmpty { break }
            _ = news?.wait(for: Self.interval.duration)
        }
        for thread in state.withLock({ Array($0.running.values) }) { thread.join() }
        say(console)
        return isOnce ? state.withLock { $0.status } : .done
    }

    private var running: Set<String> {
        state.withLock { state in
            for name in state.ended { state.running[name] = nil }
            state.ended = []
            return Set(state.running.keys)
        }
    }

    private func say(_ console: Console) {
        let lines = state.withLock { state in
            defer { state.lines = [] }
            return state.lines
        }
        for line in lines { console.complain(SafeText.escaped(line)) }
    }

    private func begin(_ campaign: CampaignIndex.Campaign) throws {
        let name = campaign.name
        let thread = try OwnThread(name: "campaign") { [publication, stop, state, lookAtTopics, news, context] in
            let (lines, status) = Self.publish(
                campaign, publication, by: context.operatorName, stop, lookAtTopics
            ) { line in state.withLock { $0.lines.append(line) } }
            state.withLock { state in
                state.lines += lines
                if status != .done, state.status != .failed { state.status = status }
                state.ended.insert(name)
            }
            news?.signal()
        }
        state.withLock { state in
            state.lines.append("Campaign \(name): its audience is read back.")
            state.running[name] = thread
        }
    }

    /// Publishes one; what is said of its end, and the exit status of that.
    private static func publish(
        _ campaign: CampaignIndex.Campaign, _ publication: StoredPublication, by name: String, _ stop: StopRequest,
        _ lookAtTopics: @escaping @Sendable () throws -> CampaignContext.Layout, _ say: @escaping (String) -> Void
    ) -> ([String], ExitStatus) {
        do {
            let published = try publication.publish(
                campaign, lookAtTopics: lookAtTopics, stoppedBy: { stop.isMade ? name : nil }, handsOver: { true },
                onNews: { news in
                    switch news {
                    case .paused(let control):
                        say(
                            "Campaign \(campaign.name) is \(control.map { CampaignWords.state(.paused, $0) } ?? "paused")."
                        )
                    case .held(let count, let name):
                        say("Campaign \(campaign.name): \(CampaignWords.held(count, name: name))")
                    case .continues, .resumed, .unreachable, .step, .goesOnWithout, .allPublished: break
                    }
                }, onTurn: { _, _ in })
            guard let (end, progress) = published else {
                return (["Campaign \(campaign.name) is left to its present publisher."], .done)
            }
            let sentence = progress.sentence(
                end, name: campaign.name, again: "a console or herald campaign run goes on with the rest")
            let status: ExitStatus =
                switch end {
                case .complete: progress.undelivered == 0 ? .done : .partlyDone
                case .detached, .takenOver: .done
                case .interrupted, .failing, .outcomeTimeout, .cancelled, .expired: .partlyDone
                case .failed: .failed
                }
            return (["Campaign \(campaign.name): \(sentence)"], status)
        } catch {
            return (["herald: \(error)"], .failed)
        }
    }
}
