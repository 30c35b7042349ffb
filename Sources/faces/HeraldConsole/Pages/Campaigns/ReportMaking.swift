internal import HeraldCampaigns
internal import HeraldEvents
internal import HeraldText
internal import HeraldTime
internal import HeraldTools

/// The progress of a campaign's report; the message's text is never in it.
struct ReportMaking: Sendable {
    /// The lists of people that are made with it, as files to be downloaded.
    enum List: String, CaseIterable {
        /// All results.
        case results
        /// Who was reached on no push service.
        case notReached = "not-reached"
        /// What was not delivered so far, on each push service.
        case notDelivered = "not-delivered"

        /// The option of `herald campaign report` that makes it.
        var option: String {
            switch self {
            case .results: "csv"
            case .notReached, .notDelivered: rawValue
            }
        }
    }

    /// The campaign's audience as it was uploaded for a report.
    struct Upload: Sendable {
        let key: String
        let file: SpooledFile
        let name: String
        /// How it is written, where that was said.
        var form = AudienceForm()

        /// The options that name it.
        fileprivate var options: [String] {
            ["--audience", name] + (form.encoding.map { ["--encoding", $0.name] } ?? [])
                + (form.delimiter.map { ["--delimiter", $0.rawValue] } ?? [])
        }
    }

    struct Made: Sendable {
        /// When its results were read: files of one day are told apart by it.
        let at: WallTime
        let page: [UInt8]
        /// CSV, or who was not reached in the audience's form; a list that is larger than ``ListFile/limitBytes`` is missing.
        let files: [List: SpooledFile]
        let people: JSONValue
        /// The ending of the names of the lists in the audience's form.
        let audienceEnding: String

        /// The name of a list, or of the page: `spring.not-reached.2026-11-21T084026Z.csv`.
        func fileName(_ campaign: String, _ list: List?) -> String {
            let moment = String(at.text.prefix(19)).replacing(":", with: "") + "Z"
            return ([campaign] + [list?.rawValue, moment, ending(list)].compactMap(\.self)).joined(separator: ".")
        }

        private func ending(_ list: List?) -> String {
            switch list {
            case nil: "html"
            case .results: "csv"
            case .notReached, .notDelivered: audienceEnding
            }
        }
    }

    /// `nil` where Kafka alone tells who was not reached.
    var upload: Upload?
    var passed: Int64 = 0
    var total: Int64 = 0
    /// `nil` until all of it is made.
    var made: Made?

    func json(_ name: String) -> JSONValue {
        let tooLarge = made.map { made in List.allCases.filter { made.files[$0] == nil } } ?? []
        return .present([
            .init("state", made == nil ? "reading" : "done"), .init("passed", .integer(Int(passed))),
            .init("total", .integer(Int(total))), .init("people", made?.people ?? .null),
            .init("tooLarge", .words(tooLarge.map(\.rawValue))),
            .init(
                "command",
                .words([
                    "herald", "campaign", "report", name, "--html", "\(name).html", "--csv", "\(name).csv", "--all",
                ])),
            .init(
                "unreached",
                .words(
                    [
                        "herald", "campaign", "report", name, "--not-delivered", "\(name).not-delivered.csv",
                        "--not-reached", "\(name).not-reached.csv",
                    ] + (upload?.options ?? ["--audience", "AUDIENCE"]))),
        ])
    }

    /// Ends a reading that nobody waits for.
    private struct Unwanted: Error {}

    /// - Parameter directory: of the lists' files, which have no names.
    static func make(
        _ name: String, _ upload: Upload?, users: UserRule, _ service: CampaignService, in directory: String,
        _ work: AskedTasks<ReportMaking>.Work
    ) throws {
        var making = ReportMaking(upload: upload)
        func show(_ passed: Int64, _ total: Int64) -> Bool {
            (making.passed, making.total) = (passed, total)
            work.publish(making)
            return work.isWanted
        }
        func whole(_ isWhole: Bool) throws(Unwanted) { if !isWhole { throw Unwanted() } }
        do {
            let (context, layout) = (service.context, try service.layout())
            let campaign = try CampaignService.campaign(name, in: try service.index(layout))
            guard let definition = campaign.definition else {
                throw ToolFailure(
                    "campaign \(name) was not started with herald campaign start: there is nothing to report")
            }
            let audience = try upload.map { try Self.audience($0, of: campaign, in: directory) }
            let status = try context.statuses(of: [campaign], layout, onProgress: show)[0].status
            var report = CampaignReport(definition, now: SystemClock.wall())
            // The lists are of the moment of the counts: who is delivered meanwhile is not half in them.
            var ends: [Int32: Int64]?
            func results(_ body: (NotificationResult) throws -> Void) throws -> Int64 {
                let reader = try context.outcomes(of: [.init(definition)], layout)
                defer { reader.close() }
                try whole(try reader.catchUp(until: ends, onProgress: show, onResult: body))
                ends = ends ?? reader.positions
                return reader.deletedCount
            }
            let deletedCount = try results { report.add($0) }
            let feedback = try context.feedback(on: definition, layout, onProgress: show)
            // Only the whole report tells who was reached in the end.
            var list = UnreachedList(report.people, pushServices: definition.pns)
            let delimiter = status.campaign.progress?.cellDelimiter ?? ","
            let isCSV = audience?.format != .jsonl
            let (all, unreached) = (try ListFile(in: directory), try ListFile(in: directory, isCSV: isCSV))
            let undelivered = try ListFile(in: directory, isCSV: isCSV)
            try all.append(ResultRow.heading(delimiter: delimiter))
            func lines() throws -> UnreachedAudience? {
                try audience.map { try UnreachedAudience($0, definition, campaign.progress, users: users) }
            }
            var notifications = try UndeliveredList(report, try lines(), delimiter: delimiter) {
                try undelivered.append($0)
                try whole(work.isWanted)
            }
            let sum = try list.write(
                try lines(), delimiter: delimiter,
                to: {
                    try unreached.append($0)
                    try whole(work.isWanted)
                },
                known: { list, body in
                    _ = try results { result in
                        try all.append(ResultRow.line(result, delimiter: delimiter))
                        try notifications.add(result)
                        if let entry = list.entry(result) { try body(entry) }
                    }
                    try whole(
                        try context.publishedUsers(of: definition, layout, onProgress: show) { user in
                            try notifications.add(published: user)
                            if let entry = list.entry(published: user) { try body(entry) }
                        })
                })
            try notifications.finish(unpublished: list.unpublished)
            let page = ReportPage(
                status, definition, report, isRevealed: false, feedback: feedback, deletedCount: deletedCount)
            let files: [(List, SpooledFile?)] = [
                (.results, try all.finished()), (.notReached, try unreached.finished()),
                (.notDelivered, try undelivered.finished()),
            ]
            making.made = Made(
                at: status.now, page: Array(page.html.utf8),
                files: Dictionary(uniqueKeysWithValues: files.compactMap { list, file in file.map { (list, $0) } }),
                people: people(report, list, status, upload.flatMap { sum?.sentence($0.name) }),
                audienceEnding: isCSV ? "csv" : "jsonl")
            work.publish(making)
        } catch is Unwanted {
        } catch let foreign as ForeignAudience {
            throw FormMistake(Self.fileField, foreign.description)
        }
    }

    private static func audience(
        _ upload: Upload, of campaign: CampaignIndex.Campaign, in directory: String
    ) throws -> Audience {
        do {
            // Nobody is sent what it holds: an encoding that is named is taken.
            let form = try upload.form.continuing(
                campaign.progress, replacesAudience: upload.form.encoding != nil)
            return try Audience(upload.file, name: upload.name, form, copyingInto: directory)
        } catch let failure as ToolFailure where failure.kind != .unreachable {
            throw FormMistake(Self.fileField, failure.description)
        }
    }

    /// The field of the report's form that is marked when the file is refused.
    static let fileField = "reportAudience"

    private static func people(
        _ report: CampaignReport, _ list: UnreachedList, _ status: CampaignStatus, _ audience: String?
    ) -> JSONValue {
        let causes = list.sortedCauses.map { cause, count in
            JSONValue.object([
                .init("why", .string(cause.why)), .init("reason", .string(cause.reason)),
                .init("count", .integer(count)),
            ])
        }
        return [
            "reached": .integer(report.people.reached), "notReached": .integer(list.count), "causes": .array(causes),
            "unpublished": .integer(audience == nil ? status.recipientsLeft : 0), "audience": .text(audience),
            "stillNotified": .text(CampaignWords.stillNotified(list.unsettled, status)),
            "omitted": .words(report.omissions),
        ]
    }
}

/// A list of a report while it is written: on disk, without a name, and of bounded size.
private final class ListFile {
    /// `herald campaign report` makes larger ones.
    static let limitBytes = 1 << 30
    private static let bufferBytes = 1 << 16

    private let file: GrowingFile
    private let isCSV: Bool
    private var buffer: [UInt8] = []

    init(in directory: String, isCSV: Bool = true) throws {
        file = try GrowingFile(in: directory, for: "the report's list")
        self.isCSV = isCSV
    }

    func append(_ line: String) throws {
        guard file.byteCount <= Self.limitBytes else { return }
        // A list without a mark is read in another encoding by Excel; an audience's heading may have one.
        let mark = CSVText.byteOrderMark.utf8
        if isCSV, file.byteCount == 0, buffer.isEmpty, !line.utf8.starts(with: mark) { buffer += mark }
        buffer += line.utf8
        if buffer.count >= Self.bufferBytes { try flush() }
    }

    /// What was written; `nil` when it is too large, because half a list looks like a whole one.
    func finished() throws -> SpooledFile? {
        try flush()
        return file.byteCount <= Self.limitBytes ? try file.finished() : nil
    }

    private func flush() throws {
        try file.append(buffer)
        buffer.removeAll(keepingCapacity: true)
    }
}
