package import HeraldEvents

/// The notifications of a campaign that were not delivered, a line for each: people who were reached on one push service
/// alone are in it for the others.
///
/// First come all results, then the events that have none, then the audience's recipients that were never published. Its
/// form is that of an ``UnreachedList``: in the audience's columns, those outside it last, or with the users alone. It takes
/// some 13 bytes for each notification.
package struct UndeliveredList {
    /// What was said of notifications; pure.
    fileprivate struct Told {
        let pushServices: [String]
        private var notifications = People()

        init(_ pushServices: [String]) { self.pushServices = pushServices }

        /// Those of a user of which nothing was said before.
        mutating func untold(_ user: String, _ services: [String]) -> [String] {
            services.filter { notifications.mark("\($0) \(user)", .told).isEmpty }
        }

        mutating func entries(_ user: String, _ why: String) -> [UnreachedList.Entry] {
            untold(user, pushServices).map { UnreachedList.Entry(user, why, $0) }
        }
    }

    private let report: CampaignReport
    private var audience: UnreachedAudience?
    private let delimiter: String
    private let write: (String) throws -> Void
    private var told: Told
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
        told = Told(report.pushServices)
        if self.audience == nil { try write(UnreachedList.heading(delimiter: delimiter)) }
    }

    /// Takes a result of the campaign.
    package mutating func add(_ result: NotificationResult) throws {
        // A replay that failed again is no other notification.
        guard let user = result.user, result.outcome.standing != .repeated,
            result.replays == 0 || result.outcome.standing == .reached
        else { return }
        let services = told.untold(user, result.pushService.map { [$0] } ?? report.pushServices)
        guard report.isUnreached(result) else { return }
        try add(services.map { UnreachedList.Entry(result, of: user, $0) })
    }

    /// Takes a user whose event is published, after all results.
    package mutating func add(published user: String) throws {
        try add(told.untold(user, report.pushServices).map { UnreachedList.Entry(open: user, $0) })
    }

    private mutating func add(_ entries: [UnreachedList.Entry]) throws {
        for entry in entries {
            count += 1
            if audience == nil { try write(entry.line(delimiter: delimiter)) } else { audience?.keep(entry) }
        }
    }

    /// Writes the audience's lines, after all results and published users.
    ///
    /// - Parameter why: why somebody was never published; who was left out has no notification.
    package mutating func finish(unpublished why: UnreachedList.Unpublished) throws {
        guard var audience else { return }
        try write(try audience.heading())
        while let (line, unpublished) = try audience.nextKept(else: {
            why == .excluded ? [] : told.entries($0, why.rawValue)
        }) {
            count += unpublished
            try write(line)
        }
        for line in audience.others { try write(line) }
    }
}
