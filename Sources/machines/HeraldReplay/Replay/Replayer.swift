internal import HeraldEvents
package import HeraldKafka
internal import HeraldTime
package import HeraldTools

/// What commands and a console do with dead letters: looks through them, plans and carries out.
package struct Replayer: Sendable {
    package var context: ReplayContext
    package let layout: ReplayContext.Layout

    /// One that has looked at the topics.
    ///
    /// - Parameter isWriting: whether the state and audit topics have to be there.
    package init(_ context: ReplayContext, reach: ClusterReach, admin: Admin, isWriting: Bool) throws {
        self.context = context
        layout = try context.layout(reach: reach, admin: admin, isWriting: isWriting)
    }

    /// Whether it is known what was replayed before: without a state topic nothing was.
    package var hasState: Bool { !layout.state.isEmpty }

    package var deadLetterPartitions: [Int32] { layout.deadLetters }

    /// Goes through the dead letters that a selection means, up to the present ends.
    ///
    /// - Parameters:
    ///   - onProgress: how many of how many offsets have been passed; `false` ends it.
    ///   - body: `false` ends it.
    /// - Returns: what was looked through.
    @discardableResult
    package func scan(
        _ selection: Selection, _ reader: DeadLetterReader, onProgress: (Int64, Int64) -> Bool,
        _ body: (inout DeadLetterEntry) throws -> Bool
    ) throws -> LetterRanges {
        let ranges = try reader.ranges(selection.condition.bounds, partitions: layout.deadLetters)
        let total = ranges.values.reduce(Int64(0)) { $0 + Int64($1.count) }
        func visit(_ entry: inout DeadLetterEntry) throws -> Bool {
            guard selection.condition.holds(for: &entry) else { return true }
            return try body(&entry)
        }
        try reader.scan(ranges, onProgress: { onProgress($0, total) }, visit)
        return ranges
    }

    /// Plans a replay: freezes the ends, and decides about each dead letter below them.
    package func plan(
        _ selection: Selection, _ rules: ReplayRules, _ state: StateReader?, onProgress: (Int64, Int64) -> Bool
    ) throws -> ReplayPlan {
        try state?.catchUp()
        let marks = state?.marks ?? MarkIndex()
        var outcomes = ReplayOutcomes()
        var plan = ReplayPlan()
        if rules.isAgain {
            outcomes = try self.outcomes(
                of: marks, since: selection.condition.bounds.earliest, onProgress: onProgress
            ).outcomes
        }
        let reader = try context.deadLetters()
        defer { reader.close() }
        try checkAge(of: marks, reader)
        let now = SystemClock.wall()
        var named = selection.named
        func visit(_ entry: inout DeadLetterEntry) -> Bool {
            named.note(&entry)
            plan.add(
                entry, rules.decision(for: &entry, marks, now: now),
                former: LetterFate(of: entry.facts, marks, outcomes).outcome, mistake: rules.mistake(in: entry))
            return true
        }
        plan.ranges = try scan(selection, reader, onProgress: onProgress, visit)
        plan.missing = named.missing
        return plan
    }

    /// Plans what is resolved: freezes the ends, and decides about each dead letter below them.
    package func resolvePlan(
        _ selection: Selection, _ state: StateReader?, onProgress: (Int64, Int64) -> Bool
    ) throws -> ResolvePlan {
        try state?.catchUp()
        let reader = try context.deadLetters()
        defer { reader.close() }
        var plan = ResolvePlan()
        var named = selection.named
        try scan(selection, reader, onProgress: onProgress) { entry in
            named.note(&entry)
            plan.add(entry, state?.marks)
            return true
        }
        plan.missing = named.missing
        return plan
    }

    /// A topic that was recreated begins at 0 again, and marks of the old one would leave its dead letters out.
    private func checkAge(of marks: MarkIndex, _ reader: DeadLetterReader) throws {
        for (partition, highest) in marks.highest {
            guard let end = try reader.end(of: partition), end <= highest else { continue }
            throw ToolFailure(
                "\(context.topics.state) knows of offset \(highest) in partition \(partition) of \(context.deadLetterTopic), "
                    + "which ends at \(end): the topic was recreated, so \(context.topics.state) has to be recreated too"
            )
        }
    }
}
