package import HeraldEvents

/// The notifications of a campaign that were not delivered, a line for each: people who were reached on one push service
/// alone are in it for the others.
///
/// Its form is that of an ``UnreachedList``: in the audience's columns, those outside it last, or with the users alone.
package struct UndeliveredList {
    private let report: CampaignReport
    private var audience: UnreachedAudience?
    private let delimiter: String
    private let write: (String) throws -> Void
    /// How many there are.
    package private(set) var count = 0

    /// A list of nothing yet; without an audience its heading is written.
    ///
    /// - Parameters:
    ///   - report: of all results: it tells which were delivered by a replay.
    ///   - audience: one that was checked.
    ///   - write: takes the text piece by piece, each of whole lines.
    package init(
        _ report: CampaignReport, _ audience: consuming UnreachedAudience?, delimiter: String,
        to write: @escaping (String) throws -> Void
    ) throws {
        (self.report, self.audience, self.delimiter, self.write) = (report, audience, delimiter, write)
        if self.audience == nil { try write(UnreachedList.heading(delimiter: delimiter)) }
    }

    /// Takes a result of the campaign.
    package mutating func add(_ result: NotificationResult) throws {
        // A replay that failed again is no other notification.
        guard let user = result.user, result.replays == 0, report.isUnreached(result) else { return }
        count += 1
        let entry = UnreachedList.Entry(
            result, of: user, result.pushService ?? report.pushServices.joined(separator: " "))
        if audience == nil { try write(entry.line(delimiter: delimiter)) } else { audience?.keep(entry) }
    }

    /// Writes the audience's lines, after all results.
    package mutating func finish() throws {
        guard var audience else { return }
        try write(try audience.heading())
        while let line = try audience.nextKept() { try write(line) }
        for line in audience.others { try write(line) }
    }
}
