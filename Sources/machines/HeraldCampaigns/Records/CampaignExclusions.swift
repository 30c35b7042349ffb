internal import HeraldText
package import HeraldTime
internal import HeraldTools

/// Whom a campaign leaves out, as its start has found them: a part of its definition.
///
/// Results count between two offsets of each partition, and not by a clock: every start of the campaign reads the same
/// ones, and so has the same people, whoever was delivered meanwhile.
package struct CampaignExclusions: Codable, Equatable, Sendable {
    /// A file whose users are left out.
    package struct File: Codable, Equatable, Sendable {
        /// What it is called, without its folder.
        package var name: String
        /// Its lines that are users.
        package var users: Int
        /// The sum of their ids, by which it is told from another, in whatever order and form.
        package var mark: String
    }

    /// In the order in which they were named, as ``campaigns`` are; absent without any.
    package var files: [File]?
    /// Campaigns: who was delivered there on at least one push service is left out; absent without any.
    package var campaigns: [String]?
    /// So many milliseconds before the start somebody may have been delivered a campaign's notification to be left out.
    package var deliveredWithin: Int64?
    /// The moment that this names, epoch milliseconds.
    package var deliveredSince: Int64?
    /// The first results that count, by partition; absent where none do.
    package var resultStarts: [String: Int64]?
    /// The ends of those that count, by partition.
    package var resultEnds: [String: Int64]?

    package init() {}

    /// Why somebody is left out, in the order in which reasons count: who has several is counted for the first.
    package enum Reason: Equatable, Sendable {
        case file(String)
        case campaign(String)
        case delivered(within: Milliseconds)

        /// Such as `excluded by last-week.csv`.
        package var words: String {
            switch self {
            case .file(let name): "excluded by \(name)"
            case .campaign(let name): "delivered by \(name)"
            case .delivered(let time): "delivered within \(DurationText.format(time.duration))"
            }
        }
    }

    package var reasons: [Reason] {
        (files ?? []).map { .file($0.name) } + (campaigns ?? []).map { .campaign($0) }
            + (deliveredWithin.map { [.delivered(within: .milliseconds($0))] } ?? [])
    }

    /// Such as `excluded by last-week.csv, delivered by spring`.
    package var words: String { reasons.map(\.words).joined(separator: ", ") }

    /// Whether another names the same: the same users in as many files, the same campaigns and the same time.
    func namesSame(as other: Self) -> Bool {
        (files ?? []).map(\.mark) == (other.files ?? []).map(\.mark) && campaigns == other.campaigns
            && deliveredWithin == other.deliveredWithin
    }

    /// Whether each number means something.
    var isSound: Bool {
        (files ?? []).allSatisfy { SoundNumber.isCount($0.users) } && SoundNumber.isMoment(deliveredSince ?? 0)
            && SoundNumber.areOffsets(resultStarts ?? [:]) && SoundNumber.areOffsets(resultEnds ?? [:])
            && reasons.count <= ExcludedPeople.mostReasons
    }

    /// Results by which people were left out are deleted, and the audience is not the one that the campaign had.
    static func cut(_ name: String, results: String) -> ToolFailure {
        ToolFailure(
            "campaign \(name) is not continued, because \(results) does not hold any more all results by which its start left people "
                + "out, and without them this is another audience. Start the rest under another name, with --exclude-campaign \(name)"
        )
    }
}
