import HeraldCore
import HeraldEvents
import HeraldTime

/// What an event is to those who opt out of it or recall it.
struct Subject: Equatable {
    /// Its own id.
    var id: String?
    /// The number of its source.
    var source: Int?
    var isPromotional = false
    /// The name of the zone that it names.
    var zone: String?
}

/// What somebody says, as a record of the topics of preferences and recalls.
enum Saying {
    /// A user's word; `nil` is a tombstone.
    case word(user: Int, OptOut?, quiet: QuietHours?)
    /// A record that is broken, with what can be understood of it.
    case broken(user: Int, OptOut)
    case event(Recall, isRecalled: Bool)
    case campaign(Int, isRecalled: Bool)

    /// The identity of a recalled event.
    struct Recall: Hashable {
        var id: String
        var source: Int?
        var user: Int
    }
}

/// Users and operators that opt out and recall.
struct LastWords {
    /// The records since the topics were made, or made anew.
    var sayings: [Saying] = []
    /// How often the topics were made anew.
    var remakes = 0
    /// The events that were published, as far as one can recall them.
    var published: [Saying.Recall] = []

    // Everything that was ever said.
    var optOuts: [Int: [OptOut]] = [:]
    var quiets: [Int: [QuietHours]] = [:]
    var recalls: Set<Saying.Recall> = []
    var campaigns: Set<Int> = []
}

extension Simulation {
    func startLastWords() {
        for _ in 0..<scenario.lastWords { schedule(.say, after: chance[.lastWord].between(10, 90_000)) }
    }

    /// Somebody says something.
    func say() {
        var chance = Chance(seed: chance[.lastWord].bits())
        switch chance.below(100) {
        case ..<50: say(anyWord(&chance))
        case ..<60: say(.word(user: chance.below(scenario.users), nil, quiet: nil))
        case ..<65: say(.broken(user: chance.below(scenario.users), anyOptOut(&chance)))
        case ..<90 where !lastWords.published.isEmpty:
            say(.event(chance.pick(lastWords.published), isRecalled: chance.below(4) > 0))
        case ..<97: say(.campaign(chance.below(Scenario.campaigns), isRecalled: chance.below(3) > 0))
        default:
            log("the topics of preferences and recalls are made anew")
            lastWords.remakes += 1
            lastWords.sayings = []
        }
    }

    private func say(_ saying: Saying) {
        log("is said: \(saying)")
        lastWords.sayings.append(saying)
        switch saying {
        case .word(let user, let optOut, let quiet):
            if let optOut { lastWords.optOuts[user, default: []].append(optOut) }
            if let quiet { lastWords.quiets[user, default: []].append(quiet) }
        case .broken(let user, var optOut):
            optOut.isOfPromotional = true
            lastWords.optOuts[user, default: []].append(optOut)
        case .event(let recall, let isRecalled): if isRecalled { lastWords.recalls.insert(recall) }
        case .campaign(let campaign, let isRecalled): if isRecalled { lastWords.campaigns.insert(campaign) }
        }
    }

    private func anyWord(_ chance: inout Chance) -> Saying {
        let user = chance.below(scenario.users)
        let optOut = anyOptOut(&chance)
        guard scenario.hasQuietHours, chance.below(3) > 0 else { return .word(user: user, optOut, quiet: nil) }
        // One that opted out of everything is not disturbed at any time.
        return .word(
            user: user, chance.below(3) == 0 ? optOut : OptOut(), quiet: QuietClock.any(&chance, now: now))
    }

    private func anyOptOut(_ chance: inout Chance) -> OptOut {
        var optOut = OptOut()
        switch chance.below(6) {
        case 0: optOut.isOfAll = true
        case 1: break
        case 2: optOut.pushServices = [chance.pick(scenario.pushServices.names)]
        case 3: optOut.sources = [Scenario.sourceName(chance.below(Scenario.sources))]
        case 4:
            optOut.pushServices = [chance.pick(scenario.pushServices.names)]
            optOut.sources = [Scenario.sourceName(chance.below(Scenario.sources))]
        default: optOut.isOfPromotional = true
        }
        return optOut
    }

    /// Nobody is suppressed unless somebody has said so.
    func checkSuppressed(_ duty: Duty, _ reason: SuppressionReason?, _ text: String) {
        let (subject, service) = (duty.subject, scenario.pushServices.names[max(0, duty.service)])
        let wasSaid =
            switch reason {
            case .optedOut: lastWords.optOuts[duty.user, default: []].contains { $0.covers(subject, service) }
            case .recalled:
                lastWords.campaigns.contains(duty.campaign ?? -1)
                    || subject.recall(of: duty.user).map(lastWords.recalls.contains) ?? false
            case .quietExpired: subject.isPromotional && lastWords.quiets[duty.user] != nil
            case .capped, nil: false
            }
        if !wasSaid {
            checkers.fail("\(text) was suppressed, \(reason?.rawValue ?? "without a reason"), and nobody said so")
        }
    }
}

extension OptOut {
    /// Whether it is against a call.
    func covers(_ subject: Subject, _ service: String) -> Bool {
        isOfAll || pushServices.contains(service)
            || subject.isPromotional
                && (isOfPromotional || subject.source.map { sources.contains(Scenario.sourceName($0)) } ?? false)
    }

    mutating func add(_ other: OptOut) {
        isOfAll = isOfAll || other.isOfAll
        isOfPromotional = isOfPromotional || other.isOfPromotional
        pushServices += other.pushServices
        sources += other.sources
    }
}

extension Subject {
    func recall(of user: Int) -> Saying.Recall? { id.map { Saying.Recall(id: $0, source: source, user: user) } }
}
