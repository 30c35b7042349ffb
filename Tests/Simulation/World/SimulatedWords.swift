import HeraldCore
import HeraldEvents
import HeraldTime

/// A worker's follower of the topics of preferences and recalls, and a model of what it has applied.
final class SimulatedWords {
    static let maxLag = Milliseconds.seconds(5)

    let table: LastWord
    /// What it has applied, by what was read of the present topics or of the former ones.
    private var optOuts: [Int: (optOut: OptOut, quiet: QuietHours?, remakes: Int)] = [:]
    private var recalls: [Saying.Recall: Int] = [:]
    private var campaigns: [Int: Int] = [:]
    private var position = 0
    private var remakes: Int
    private var currentAsOf: Int64?
    /// What of the preferences was applied when each duty was called, the last time last, as offsets.
    private var positionsAtCalls: [Int: [Int]] = [:]
    /// Whether a duty may have two records, each with its own last call.
    private let mayRepeat: Bool

    init(hashSeed: UInt64, _ world: LastWords, pushServices: PushServices, mayRepeat: Bool) {
        self.mayRepeat = mayRepeat
        table = LastWord(hashSeed: hashSeed, pushServices: pushServices, maxLag: Self.maxLag, rules: QuietClock.rules)
        remakes = world.remakes
        table.notePreferences(before: 0)
    }

    /// Reads on, to the end or not.
    ///
    /// - Parameter asked: when it asked for the ends; `nil` when it does not come so far.
    func read(_ world: LastWords, asked: Int64?) {
        if remakes != world.remakes {
            remakes = world.remakes
            position = 0
            table.beginAgain()
            table.notePreferences(before: 0)
        }
        let left = world.sayings.count - position
        let end = asked == nil ? position + left / 2 : world.sayings.count
        for saying in world.sayings[position..<end] { apply(saying) }
        position = end
        table.notePreferences(before: Int64(position))
        guard let asked else { return }
        table.noteCurrent(asOf: MonotonicTime(nanoseconds: (asked - Simulation.start) * 1_000_000))
        optOuts = optOuts.filter { $0.value.remakes == remakes }
        recalls = recalls.filter { $0.value == remakes }
        campaigns = campaigns.filter { $0.value == remakes }
        currentAsOf = asked
    }

    private func apply(_ saying: Saying) {
        switch saying {
        case .word(let user, let optOut, let quiet):
            table.set(optOut, quiet: quiet, of: Self.name(user).utf8.span.bytes)
            optOuts[user] = optOut.flatMap { $0.isEmpty && quiet == nil ? nil : ($0, quiet, remakes) }
        case .broken(let user, let understood):
            table.refuse(understood, of: Self.name(user).utf8.span.bytes)
            var optOut = understood
            let former = optOuts[user]?.optOut ?? OptOut()
            if former.isEmpty { optOut.isOfPromotional = true } else { optOut.add(former) }
            optOuts[user] = (optOut, optOuts[user]?.quiet, remakes)
        case .event(let recall, let isRecalled):
            let (id, user) = (recall.id.utf8.span.bytes, Self.name(recall.user).utf8.span.bytes)
            if let source = recall.source {
                table.recall(
                    id: id, source: Scenario.sourceName(source).utf8.span.bytes, user: user, isRecalled, words: "ops")
            } else {
                table.recall(id: id, source: nil, user: user, isRecalled, words: "ops")
            }
            recalls[recall] = isRecalled ? remakes : nil
        case .campaign(let campaign, let isRecalled):
            table.recall(campaign: Scenario.campaignName(campaign).utf8.span.bytes, isRecalled)
            campaigns[campaign] = isRecalled ? remakes : nil
        }
    }

    func noteCall(_ duty: Int) { positionsAtCalls[duty, default: []].append(position) }

    /// What is wrong with the offset that a result names.
    func objection(to offset: Int64?, of duty: Int, _ outcome: Outcome) -> String? {
        if outcome == .suppressed { return offset == nil ? "it is suppressed by preferences before no offset" : nil }
        // Others may have ended without a call since they came back from a retry topic.
        guard outcome == .delivered || offset != nil else { return nil }
        guard let positions = positionsAtCalls[duty], let position = positions.last, offset != Int64(position),
            !mayRepeat || !positions.contains(where: { Int64($0) == offset })
        else { return nil }
        return "its last call was made by preferences before \(position), not \(offset.map { "\($0)" } ?? "none")"
    }

    private static func name(_ user: Int) -> String { "user-\(user)" }

    /// Why a call must not begin, by what was applied.
    func objection(to duty: Duty, service: String, now: Int64) -> String? {
        if let optOut = optOuts[duty.user]?.optOut, optOut.covers(duty.subject, service) {
            return "user \(duty.user) has opted out: \(optOut)"
        }
        if let recall = duty.subject.recall(of: duty.user), recalls[recall] != nil { return "it was recalled" }
        if let campaign = duty.campaign, campaigns[campaign] != nil { return "its campaign was recalled" }
        guard duty.subject.isPromotional else { return nil }
        if let quiet = optOuts[duty.user]?.quiet, QuietClock.isQuiet(quiet, zone: duty.subject.zone, at: now) {
            return "user \(duty.user) has quiet hours: \(quiet.text)"
        }
        guard let currentAsOf else { return "it is promotional, and no word is known" }
        return now - currentAsOf > Self.maxLag.count
            ? "it is promotional, and words are known as of \(now - currentAsOf) ms ago" : nil
    }
}

extension SimulatedWorker {
    /// Follows the topics from their beginning, as each life does.
    func startFollowingWords() {
        words = nil
        guard simulation.scenario.lastWords > 0 else { return }
        words = SimulatedWords(
            hashSeed: configuration.hashSeed, simulation.lastWords, pushServices: simulation.scenario.pushServices,
            mayRepeat: !simulation.scenario.isAtomic)
        simulation.schedule(
            .followWords(process), after: simulation.chance[.lastWordNews].between(0, 12_000))
    }

    /// Reads what was said, some time late, and now and then not for a while.
    func followWords() {
        guard let words else { return }
        var chance = Chance(seed: simulation.chance[.lastWordNews].bits())
        let isWhole = chance.below(8) > 0
        words.read(simulation.lastWords, asked: isWhole ? simulation.now - chance.between(0, 200) : nil)
        let wait = chance.below(20) == 0 ? chance.between(5_000, 40_000) : chance.between(10, 1_500)
        simulation.schedule(.followWords(process), after: wait)
    }

    /// No call begins against a word that its worker has applied, nor a promotional one while it knows none.
    func checkLastWord(_ duty: Int, _ service: Int) {
        words?.noteCall(duty)
        guard
            let objection = words?.objection(
                to: simulation.checkers.duties[duty], service: simulation.scenario.pushServices.names[service],
                now: simulation.now)
        else { return }
        simulation.checkers.fail("\(simulation.checkers.text(duty)) was called, and \(objection)")
    }

    /// A result names the preferences that its last call, or its suppression, went by.
    func checkPreferencesOffset(_ duty: Int, _ result: NotificationResult) {
        guard result.suppression != .capped,
            let objection = words?.objection(
                to: result.preferencesOffset, of: duty, result.outcome)
        else { return }
        simulation.checkers.fail("a result of \(simulation.checkers.text(duty)) is wrong: \(objection)")
    }
}
