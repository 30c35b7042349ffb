/// How far the publishing of a campaign came: a record of the campaigns topic with the key `<name>/progress`, written in
/// the transaction of each batch of events.
package struct CampaignProgress: Codable, Equatable, Sendable {
    /// Unique valid recipients of the audience that was read last.
    package var recipients: Int
    /// By what that audience is told from another; absent in what older versions wrote.
    package var audience: String?
    /// The column, or the field, with its users; absent for `user`, and in what older versions wrote.
    package var userColumn: String?
    /// The encoding that it was read in, as iconv calls it; absent for UTF-8, and in what older versions wrote.
    package var encoding: String?
    /// What stands between its columns, as ``AudienceDelimiter`` names it; absent for JSON lines, and in what older
    /// versions wrote.
    package var delimiter: String?
    /// Recipients that were published and are not in that audience; absent when there are none.
    package var strangers: Int?
    /// The audiences that it had before, for ever; absent when there were none.
    package var replacements: [AudienceReplacement]?
    /// Recipients whose events were published, by all runs together.
    package var published: Int
    /// Lines of the audience that repeat a recipient.
    package var repeats: Int
    /// Lines of the audience that are no recipients.
    package var invalid: Int
    /// People of it who are left out, for each of the definition's reasons in their order; absent without any.
    package var excluded: [Int]?
    /// By what these people are told from others; absent without any.
    package var excludedMark: String?
    /// Lines of it without anything; absent in what older versions wrote.
    package var emptyLines: Int?
    /// Recipients a second at most, of its last publisher; absent for no bound, and in what older versions wrote.
    package var rate: Double?
    /// The sizes of the ramp's steps of its last publisher, none where it was dropped; absent for those of the first start.
    package var ramp: [Int]?
    /// The holds of its last publisher, none where they were dropped; absent for those of the first start.
    package var holds: [Int]?
    /// Since when it waits for its operator at a hold, epoch milliseconds; absent when it does not.
    package var heldSince: Int64?
    /// What it waits for before the next step of its ramp; absent when it does not.
    package var rampWait: RampWait?
    /// How its publisher ended, as ``PublicationEnd/name(_:)`` says it; absent while one is at work.
    package var end: String?
    /// Who had it end, where an operator did.
    package var endedBy: String?
    /// When a publisher saw the last outcome, epoch milliseconds; absent before.
    package var finishedAt: Int64?
    /// When its publisher began, epoch milliseconds; absent in what older versions wrote.
    package var begunAt: Int64?
    /// Whether every recipient's event was published.
    package var isComplete: Bool
    /// When this was written, epoch milliseconds.
    package var at: Int64
    /// Who publishes: a user, a machine and a process.
    package var by: String
    /// The outcomes that the publisher has seen, one for each event and push service, by name (`delivered`, …).
    package var outcomes: [String: Int]
    /// Up to where in the results topic, by partition, ``outcomes`` are counted: the next offset to read.
    package var resultOffsets: [String: Int64]

    /// All who were, or are to be, notified: recipients of that audience, and those that were published before it.
    package var everybody: Int { max(recipients + (strangers ?? 0), published) }

    /// The lines of all audiences that its people came from, beside those that brought them.
    package var lines: AudienceLines {
        (replacements ?? []).compactMap(\.former).reduce(
            AudienceLines(repeats: repeats, invalid: invalid, empty: emptyLines ?? 0), +)
    }

    /// All people of it who are left out.
    package var excludedPeople: Int { (excluded ?? []).reduce(0, +) }

    /// It as if nobody were left out: what its audience's file is told by.
    var withExcluded: Self {
        guard let audience, let excludedMark else { return self }
        var whole = self
        whole.audience = AudienceMark.joined(audience, excludedMark)
        whole.recipients += excludedPeople
        return whole
    }

    /// What stands between the cells of lists about it, as in its audience; a comma where that is not known.
    package var cellDelimiter: String { delimiter.flatMap { AudienceDelimiter($0) }?.character ?? "," }

    /// The record's key.
    package static func key(of name: String) -> String { "\(name)/progress" }
}

/// An audience that gave way to another under the campaign's name, or that people were added to.
package struct AudienceReplacement: Codable, Equatable, Sendable {
    /// When that was, epoch milliseconds.
    package var at: Int64
    /// Who did it: a user and a machine.
    package var by: String
    /// The recipients that the campaign had before.
    package var recipients: Int
    /// Of these, those that were not published by then.
    package var unpublished: Int
    /// The people who were added, when none of the former audience was lost; absent for another audience.
    package var added: Int?
    /// The lines of the audience before, when people were added in a file of their own, and how many of that file it had
    /// already; absent otherwise.
    package var former: AudienceLines?
}

/// Lines of an audience that bring nobody.
package struct AudienceLines: Codable, Equatable, Sendable {
    package var repeats: Int
    package var invalid: Int
    package var empty: Int

    static func + (left: Self, right: Self) -> Self {
        Self(
            repeats: left.repeats + right.repeats, invalid: left.invalid + right.invalid,
            empty: left.empty + right.empty)
    }
}
