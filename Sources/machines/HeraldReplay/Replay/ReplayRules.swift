package import HeraldEvents
internal import HeraldText
package import HeraldTime

/// What a replay was told, and what the settings say: decides for each dead letter whether and how it is replayed.
package struct ReplayRules: Sendable {
    /// Only these push services; `nil` for all that failed.
    package var onlyPushServices: [String]?
    /// Whether the backend is to see another idempotency key than before.
    package var hasFreshKey = false
    /// Whether what was replayed or resolved is replayed once more.
    package var isAgain = false
    /// How often an event may be replayed.
    package var maximumReplays: Int
    /// The request topics of the settings; the first takes what came from elsewhere.
    package var requestTopics: [String]

    /// The campaigns that were cancelled: a worker would not deliver what is left of them.
    package var cancelledCampaigns: Set<String> = []
    /// The campaigns that are paused: workers put off what is left of them, and a canary would wait in vain.
    package var pausedCampaigns: Set<String> = []

    /// What is said otherwise in each.
    package var correction: Correction?
    /// The topic of others that the dead letters lie in; `nil` for Herald's own.
    let foreign: ForeignTopic?
    let decoder: RecordDecoder

    package init(
        maximumReplays: Int, requestTopics: [String], decoder: RecordDecoder = RecordDecoder(),
        foreign: ForeignTopic? = nil
    ) {
        self.decoder = decoder
        self.foreign = foreign
        self.maximumReplays = maximumReplays
        self.requestTopics = requestTopics
    }

    package enum Omission: String, CaseIterable, Sendable {
        case replayed
        /// An operator has dealt with it in another way.
        case resolved
        /// Its `expiresAt` is past: the worker would not send it.
        case expired
        /// Its campaign was cancelled, which is for ever.
        case campaignCancelled = "campaign-cancelled"
        /// Its campaign is paused: to be replayed once that is resumed.
        case campaignPaused = "campaign-paused"
        /// It was replayed as often as `retry.replays` allows.
        case overTheCap = "over-the-cap"
        case otherPushServices = "other-push-services"
        /// Its value or its key was left out because it would not have fit: the request has to be published again.
        case incomplete
        /// Corrected as it was asked for, or of others as it is, it would be no event for the workers that read it.
        case stillInvalid = "still-invalid"
        /// It is no dead letter of Herald's: `herald-origin` is missing or wrong.
        case unreadable
        /// Of others: its headers do not say where it came from.
        case unknownOrigin = "unknown-origin"
        /// Of others: it would go to the topic that it lies in, or to one that only Herald writes.
        case forbiddenTopic = "forbidden-topic"
        /// Of others: it came from none of the request topics, and no topic was named for it.
        case otherTopic = "other-topic"
    }

    package enum Decision: Sendable, Equatable {
        case replay(Replay)
        case leaveOut(Omission)
    }

    package struct Replay: Sendable, Equatable {
        package var topic: String
        package var origin: Origin
        /// The push services to call; none when the event did not decode.
        package var pushServices: [String]
        package var isWhole: Bool
        /// Whether these are not the push services that the dead letter names.
        package var isCorrectedForOthers = false
        /// The id that its publisher gave it, of a dead letter of others that workers will read.
        package var foreignID: String?
        /// Whether workers report what becomes of it.
        package var isReported = true
        /// How often the event will have been replayed then.
        package var replays: Int
        /// Whether the backend sees another idempotency key than before: it may remember the old one for what was wrong.
        package var hasFreshKey = false
        /// What is published in its place.
        package var corrected: Correction.Corrected?
    }

    func omission(ofCampaign name: String?) -> Omission? {
        guard let name else { return nil }
        if cancelledCampaigns.contains(name) { return .campaignCancelled }
        return pausedCampaigns.contains(name) ? .campaignPaused : nil
    }

    /// Why a dead letter is no event, even corrected; `nil` when it is one.
    package func mistake(in entry: DeadLetterEntry) -> String? {
        do throws(InvalidArgument) {
            if let correction {
                _ = try correction.applied(to: entry, decoder)
            } else {
                _ = try JudgedEvent(entry.value ?? [], of: entry, decoder)
            }
            return nil
        } catch {
            return "\(error)"
        }
    }

    /// What happens to this dead letter, given what was done before.
    package func decision(for entry: inout DeadLetterEntry, _ marks: MarkIndex, now: WallTime) -> Decision {
        if let foreign { return decision(for: entry, of: foreign, marks, now: now) }
        if !entry.omissions.isDisjoint(with: [.key, .value]) { return .leaveOut(.incomplete) }
        guard let origin = entry.origin, entry.value != nil else { return .leaveOut(.unreadable) }
        if let omission = omission(ofCampaign: entry.text(.campaign)) { return .leaveOut(omission) }
        let failed = entry.pushServices
        var services = failed
        if let only = onlyPushServices {
            services = services.filter { only.contains($0) }
            if services.isEmpty { return .leaveOut(.otherPushServices) }
        }
        if !isAgain {
            if marks.isResolved(partition: entry.partition, offset: entry.offset) { return .leaveOut(.resolved) }
            if marks.isReplayed(failed, partition: entry.partition, offset: entry.offset) {
                return .leaveOut(.replayed)
            }
            services = marks.missing(of: services, partition: entry.partition, offset: entry.offset)
            if services.isEmpty, !failed.isEmpty { return .leaveOut(.replayed) }
        }
        var corrected: Correction.Corrected?
        if let correction {
            corrected = try? correction.applied(to: entry, decoder)
            if corrected == nil { return .leaveOut(.stillInvalid) }
        }
        let expiry = corrected.map(\.expiresAt) ?? entry.expiresAt()
        if let expiry, expiry <= now { return .leaveOut(.expired) }
        let before = entry.replays + marks.replayCount(partition: entry.partition, offset: entry.offset)
        guard before < maximumReplays else { return .leaveOut(.overTheCap) }
        let topic = requestTopics.contains(origin.topic) ? origin.topic : requestTopics.first ?? origin.topic
        var replay = Replay(
            topic: topic, origin: origin, pushServices: services, isWhole: services == failed, replays: before + 1,
            hasFreshKey: hasFreshKey || corrected != nil, corrected: corrected)
        if let old = corrected?.formerCalls, let new = corrected?.pushServices.after, old != new {
            // Those that were delivered are not called again, unless the event did not name them.
            replay.pushServices = new.filter { services.contains($0) || !old.contains($0) }
            if replay.pushServices.isEmpty { return .leaveOut(.otherPushServices) }
            replay.isWhole = true
            replay.isCorrectedForOthers = replay.pushServices != failed
        }
        return .replay(replay)
    }
}
