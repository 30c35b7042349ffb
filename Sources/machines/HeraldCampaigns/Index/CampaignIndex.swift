internal import FoundationEssentials
package import HeraldEvents
internal import HeraldText
package import HeraldTime
internal import HeraldTools

/// What the campaigns topic says of each campaign; damaged and foreign records are noted and ignored.
package struct CampaignIndex: Sendable {
    package struct Campaign: Equatable, Sendable {
        package var name: String
        /// What it is; absent when only a control record names it.
        package var definition: CampaignDefinition?
        /// How far it was published; absent before the first batch.
        package var progress: CampaignProgress?
        /// What it is to do: the cancellation, if there is one, whatever was written after it.
        package var control: CampaignControl?
        /// The last word of an operator that it goes on behind a hold.
        package var go: CampaignGo?
        /// What the control record was that the last one took the place of, if it was read.
        package var replaced: CampaignControl?

        /// Whether it is to begin later, and nobody is published: so long another start may replace it.
        package func isScheduled(at now: WallTime) -> Bool { start(after: now) && isUnpublished }

        /// Whether its moment has come, and nobody is published.
        package func isLate(at now: WallTime) -> Bool {
            definition?.start != nil && !start(after: now) && isUnpublished
        }

        private func start(after now: WallTime) -> Bool { definition?.start.map { now < $0.moment } ?? false }
        private var isUnpublished: Bool { progress?.published ?? 0 == 0 }

        /// The hold at which it waits for its operator, as the number of published recipients; `nil` when it does not.
        package var hold: Int? {
            guard let progress, !progress.isComplete, progress.published > 0 else { return nil }
            let next = holds.next(from: progress.published)
            return next == progress.published ? next : nil
        }

        package var holds: CampaignHolds {
            CampaignHolds(progress?.holds ?? definition?.holds ?? [], passed: go?.passed ?? 0)
        }

        /// What it does: a campaign without a control record runs.
        package var state: CampaignControl.State { control?.state ?? .running }
    }

    package struct Damage: Equatable, Sendable {
        /// `PARTITION:OFFSET`.
        package var place: String
        package var key: String
        package var reason: String
    }

    /// More is not kept: rubbish that fills the topic must not fill this memory.
    private static let keptDamages = 100

    private var definitions: [String: CampaignDefinition] = [:]
    private var progresses: [String: CampaignProgress] = [:]
    private var goes: [String: CampaignGo] = [:]
    private var states = CampaignStates()
    private var replaced: [String: CampaignControl] = [:]
    private var damagesByKey: [String: Damage] = [:]

    package init() {}

    /// The names of all campaigns, sorted.
    package var names: [String] { Set(definitions.keys).union(progresses.keys).union(states.names).sorted() }

    /// What is known of a campaign; `nil` when nothing is.
    package func campaign(_ name: String) -> Campaign? {
        let campaign = Campaign(
            name: name, definition: definitions[name], progress: progresses[name], control: states.control(of: name),
            go: goes[name], replaced: replaced[name])
        let isKnown = campaign.definition != nil || campaign.progress != nil || campaign.control != nil
        return isKnown ? campaign : nil
    }

    /// The last records of their keys that say nothing, in the order of their keys.
    package var damages: [Damage] { damagesByKey.values.sorted { $0.key < $1.key } }

    /// Takes a record of the topic.
    ///
    /// - Parameters:
    ///   - value: `nil` takes back what the key has said.
    ///   - place: `PARTITION:OFFSET`, for ``damages``.
    package mutating func add(key: [UInt8]?, value: [UInt8]?, place: String) {
        let text = String(decoding: key ?? [], as: UTF8.self)
        damagesByKey[text] = nil
        if let reason = read(Array(text.utf8), text, value), damagesByKey.count < Self.keptDamages {
            damagesByKey[text] = Damage(place: place, key: text, reason: reason)
        }
    }

    /// Takes the record; what is wrong with it.
    private mutating func read(_ key: [UInt8], _ text: String, _ value: [UInt8]?) -> String? {
        let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        let name = String(parts[0])
        guard CampaignControl.isName(name) else { return "its key names no campaign" }
        switch parts.count > 1 ? String(parts[1]) : "" {
        case "definition":
            let isRead = Self.read(value, into: &definitions[name]) { $0.isSound(for: name) }
            return isRead ? nil : "it is no definition of a campaign"
        case "progress":
            let isRead = Self.read(value, into: &progresses[name], \.isSound)
            return isRead ? nil : "it is no progress of a campaign"
        case "go":
            let isRead = Self.read(value, into: &goes[name]) {
                SoundNumber.isCount($0.passed) && SoundNumber.isMoment($0.at)
            }
            return isRead ? nil : "it is no word that a campaign goes on"
        default:
            guard CampaignControl.campaign(ofKey: key.span.bytes) != nil else { return "its key is of no known kind" }
            let former = states.control(of: name)
            do throws(InvalidArgument) {
                try states.record(key: key, value: value)
                replaced[name] = former
            } catch {
                return "\(error)"
            }
        }
        return nil
    }

    /// Takes a record's value, unless it is none that can be; whether it was taken.
    private static func read<Record: Decodable>(
        _ value: [UInt8]?, into record: inout Record?, _ isSound: (Record) -> Bool
    ) -> Bool {
        let new = value.flatMap { try? JSONDecoder().decode(Record.self, from: Data($0)) }
        guard value == nil || new.map(isSound) ?? false else { return false }
        record = new
        return true
    }
}

extension CampaignDefinition {
    /// Whether it can be of this campaign, and each number means something.
    fileprivate func isSound(for name: String) -> Bool {
        self.name == name && !pns.isEmpty && Topics.isName(topic)
            && (rate.map(RateText.range.contains) ?? true)
            && ((ramp ?? []) + (holds ?? [])).allSatisfy(Ramp.sizeRange.contains)
            && SoundNumber.isMoment(startedAt) && (start?.isSound ?? true)
            && (audience?.isSound ?? true) && (exclusions?.isSound ?? true)
            && (expiresAt.map(SoundNumber.isMoment) ?? true) && SoundNumber.areOffsets(requestOffsets)
            && SoundNumber.areOffsets(resultOffsets)
    }

    /// ``requestOffsets`` by the partitions' numbers.
    package var requestStarts: [Int32: Int64] { SoundNumber.byNumber(requestOffsets) }

    /// ``resultOffsets`` by the partitions' numbers.
    package var resultStarts: [Int32: Int64] { SoundNumber.byNumber(resultOffsets) }
}

extension CampaignProgress {
    fileprivate var isSound: Bool {
        ([recipients, published, repeats, invalid, strangers ?? 0] + (excluded ?? []) + outcomes.values).allSatisfy(
            SoundNumber.isCount)
            && (rate.map(RateText.range.contains) ?? true)
            && ((ramp ?? []) + (holds ?? [])).allSatisfy(Ramp.sizeRange.contains)
            && (replacements ?? []).allSatisfy {
                SoundNumber.isMoment($0.at) && SoundNumber.isCount($0.recipients) && SoundNumber.isCount($0.unpublished)
                    && [$0.added, $0.former?.repeats, $0.former?.invalid, $0.former?.empty].compactMap(\.self)
                        .allSatisfy(SoundNumber.isCount)
            }
            && [rampWait?.step, rampWait?.recipients, rampWait?.open, rampWait?.retrying].compactMap(\.self)
                .allSatisfy(SoundNumber.isCount)
            && SoundNumber.isMoment(at) && SoundNumber.isMoment(finishedAt ?? 0)
            && SoundNumber.isMoment(heldSince ?? 0)
            && SoundNumber.isMoment(rampWait?.goesOnAt ?? 0)
            && SoundNumber.areOffsets(resultOffsets)
    }

    /// ``resultOffsets`` by the partitions' numbers.
    package var resultStarts: [Int32: Int64] { SoundNumber.byNumber(resultOffsets) }
}

extension StoredAudience {
    fileprivate var isSound: Bool {
        [chunks, recipients].allSatisfy(SoundNumber.isCount) && SoundNumber.isCount(Int(clamping: bytes))
            && chunks <= Self.mostChunks && SoundNumber.areOffsets(offsets)
    }

    /// ``offsets`` by the partitions' numbers.
    var starts: [Int32: Int64] { SoundNumber.byNumber(offsets) }
}
