internal import HeraldEvents
internal import HeraldReplay
internal import HeraldText
internal import HeraldThreads
internal import HeraldTime
internal import HeraldTools

/// Makes plans on threads of its own, because a topic of millions takes time to read.
final class ReplayPlanner: Sendable {
    let cache = PlanCache()
    private let context: ConsoleContext
    private let queries: LetterQueries
    private let board: TroubleBoard
    private let isStopping = Guarded(false)
    /// Each plan reads the topic; further ones wait.
    private let threads: WorkerThreads

    init(
        _ context: ConsoleContext, _ queries: LetterQueries, _ board: TroubleBoard
    ) throws(SystemError) {
        threads = try WorkerThreads(name: "plan", count: 3)
        self.queries = queries
        self.board = board
        self.context = context
    }

    /// Begins a plan; returns its id.
    ///
    /// - Throws: a description of the request's fault.
    func plan(_ request: PlanRequest) throws -> String {
        guard !request.filter.isEmpty || request.edit != nil else {
            throw InvalidArgument(
                "say which dead letters: a group, a condition or ids; where \"offset >= 0\" is all of them")
        }
        var request = request
        if let place = request.edit?.place, request.filter.isEmpty { request.filter.ids = [place] }
        let selection = try request.filter.selection(now: SystemClock.wall())
        let options = try request.options(selection)
        // Mistakes in the request are reported at once.
        let rules = try request.rules(context.replay.rules, context.replay.decoder.pushServices)
        let id = cache.begin()
        let asked = request
        guard threads.run({ [self] in make(id, asked, selection, rules, options) }) else {
            throw ToolFailure("too many plans are wanted; try again in a moment")
        }
        return id
    }

    func stop() {
        isStopping.withLock { $0 = true }
        threads.stop()
    }

    private func make(
        _ id: String, _ request: PlanRequest, _ selection: Selection, _ rules: ReplayRules, _ options: ReplayOptions
    ) {
        do {
            let replayer = try context.replayer(isWriting: true)
            let state = try replayer.context.state(replayer.layout)
            defer { state?.close() }
            let progress: (Int64, Int64) -> Bool = { [self] passed, total in
                cache.note(.planning(passed: passed, total: total), of: id) && !isStopping.withLock { $0 }
            }
            let ready: ReadyPlan
            switch request.kind ?? .replay {
            case .replay:
                ready = try replay(replayer, state, request, selection, rules, options, progress)
            case .resolve:
                let plan = try replayer.resolvePlan(selection, state, onProgress: progress)
                try Self.check(plan.missing)
                ready = ReadyPlan(
                    work: .resolve(plan), request: request, selection: selection.text,
                    object: [
                        .init("matched", .integer(plan.matched)), .init("planned", .integer(plan.count)),
                    ])
            }
            guard !isStopping.withLock({ $0 }) else { throw ToolFailure("the console has ended") }
            cache.note(.ready(ready, until: .now + PlanCache.lifetime), of: id)
        } catch {
            cache.note(.failed(SafeText.escaped("\(error)")), of: id)
        }
    }

    private func replay(
        _ replayer: Replayer, _ state: StateReader?, _ request: PlanRequest, _ selection: Selection,
        _ rules: ReplayRules, _ options: ReplayOptions, _ onProgress: (Int64, Int64) -> Bool
    ) throws -> ReadyPlan {
        var rules = rules
        let isToldOfCampaigns = try replayer.lookUpCampaigns(for: &rules)
        let plan = try replayer.plan(selection, rules, state, onProgress: onProgress)
        try Self.check(plan.missing)
        if case .value(_, let place)? = rules.correction {
            try checkEdit(place, rules, replayer)
        }
        let isEstimated = options.rate == nil && plan.count > 0
        let forecast = ReplayForecast(
            plan, options, outcomesPerSecond: isEstimated ? replayer.outcomesPerSecond(now: SystemClock.wall()) : nil)
        var members = forecast.members.filter { $0.name != "leftOut" }
        let warnings = PlanWarnings(
            plan, isCorrected: rules.correction != nil, deadServices: board.deadServices)
        members += [
            .init("leftOut", plan.leftOutObject), .init("corrections", plan.correctionsObject),
            .init("pattern", queries.pattern(selection.condition)?.json ?? .null),
            .init("warnings", .words(warnings.sentences)), .init("takes", .string(forecast.words)),
            .init("ramp", .string(options.ramp.text)), .init("stopIfFailures", .number(options.stopShare)),
            .init("firstBatch", options.ramp.size(0).map { .integer(min($0, plan.count)) } ?? .null),
        ]
        if !isToldOfCampaigns {
            members.append(
                .init(
                    "notice",
                    "Which campaigns are cancelled or paused is not known: this user may not read the campaigns topic.")
            )
        }
        return ReadyPlan(
            work: .replay(plan, rules, options), request: request, selection: selection.text, object: members)
    }

    /// An edited value must be an event: otherwise the plan would only say that it is left out.
    private func checkEdit(_ place: String, _ rules: ReplayRules, _ replayer: Replayer) throws {
        var filter = LetterFilter()
        filter.ids = [place]
        let selection = try filter.selection(now: SystemClock.wall())
        let reader = try replayer.context.deadLetters()
        defer { reader.close() }
        func check(_ entry: inout DeadLetterEntry) throws -> Bool {
            do throws(InvalidArgument) {
                _ = try rules.correction?.applied(to: entry, replayer.context.decoder)
            } catch {
                throw ToolFailure("what was edited is no event: \(error)")
            }
            return false
        }
        try replayer.scan(selection, reader, onProgress: { _, _ in true }, check)
    }

    private static func check(_ missing: [String]) throws {
        guard !missing.isEmpty else { return }
        throw ToolFailure(
            "no dead letter matches \(missing.prefix(20).map { SafeText.quoted($0) }.joined(separator: ", "))")
    }

    // MARK: - Display

    func object(_ id: String, at now: ContinuousClock.Instant = .now) throws -> JSONValue {
        let state: String
        var members: [JSONValue.Member]
        switch try cache.state(of: id) {
        case .planning(let passed, let total):
            state = "planning"
            members = [.init("passed", .integer(Int(passed))), .init("total", .integer(Int(total)))]
        case .failed(let sentence):
            state = "failed"
            members = [.init("sentence", .string(sentence))]
        case .used(let name, let job):
            state = "used"
            members = [.init("by", .string(SafeText.escaped(name))), .init("job", .text(job))]
        case .ready(let plan, let until):
            state = now < until ? "ready" : "aged"
            members = self.members(of: plan, secondsLeft: max(0, Int((until - now) / .seconds(1))))
        }
        return .object([.init("id", .string(id)), .init("state", .string(state))] + members)
    }

    private func members(of plan: ReadyPlan, secondsLeft: Int) -> [JSONValue.Member] {
        let command = plan.request.command(configuration: context.configuration)
        let head: [JSONValue.Member] = [
            .init("kind", .string((plan.request.kind ?? .replay).rawValue)),
            .init("secondsLeft", .integer(secondsLeft)),
            .init("selection", .string(SafeText.escaped(plan.selection))), .init("request", plan.request.object),
            .init("isTyped", .bool(plan.count > PlanCache.untypedLimit)),
            .init("command", .array(command.map(JSONValue.string))),
        ]
        return head + plan.object.map { JSONValue.Member($0.name, $0.value.safe) }
    }
}

extension ReplayPlan {
    fileprivate var leftOutObject: JSONValue {
        .array(
            ReplayRules.Omission.allCases.compactMap { omission in
                leftOut[omission].map { count in
                    [
                        "reason": .string(omission.rawValue), "count": .integer(count),
                        "words": .string(words(of: omission)),
                    ]
                }
            })
    }

    fileprivate var correctionsObject: JSONValue {
        .array(corrections.map { ["place": .string($0.place), "words": .string($0.corrected.words)] })
    }
}
