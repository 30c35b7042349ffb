internal import HeraldReplay
internal import HeraldText
internal import HeraldTime
internal import HeraldTools

/// A downloadable file of dead letters; bounded, because it is made in memory.
struct LetterExport {
    enum Format: String, Sendable {
        case jsonl, csv
    }

    private static let letterLimit = 100_000
    private static let byteLimit = 64 << 20

    let format: Format
    let isRevealed: Bool
    let configuration: String?
    /// What stands between the cells of a campaign's lists, by its name.
    let delimiterOfCampaign: (String) -> String?
    private(set) var text = ""
    private(set) var count = 0
    /// That of the first letter's campaign, so that a campaign's letters look as its other lists.
    private var delimiter: String?

    init(
        _ format: Format, isRevealed: Bool, configuration: String?, delimiterOfCampaign: @escaping (String) -> String?
    ) {
        self.format = format
        self.isRevealed = isRevealed
        self.configuration = configuration
        self.delimiterOfCampaign = delimiterOfCampaign
    }

    /// Adds a letter; returns `false` when there is no room for it.
    mutating func add(_ letter: DeadLetterView) -> Bool {
        guard count < Self.letterLimit, text.utf8.count < Self.byteLimit else { return false }
        count += 1
        switch format {
        case .csv:
            let delimiter = delimiter ?? letter.campaign.flatMap(delimiterOfCampaign) ?? ","
            self.delimiter = delimiter
            text += letter.csvLine(isRevealed: isRevealed, delimiter: delimiter)
        case .jsonl:
            text += letter.object(isRevealed: isRevealed, configuration: configuration).compact + "\n"
        }
        return true
    }

    var answer: ConsoleAnswer {
        let heading =
            format == .csv
            ? CSVText.byteOrderMark + DeadLetterView.csvHeading(isRevealed: isRevealed, delimiter: delimiter ?? ",")
            : ""
        return .file(
            Array((heading + text).utf8), type: format == .csv ? "text/csv; charset=utf-8" : "application/x-ndjson",
            name: "dead-letters.\(format.rawValue)")
    }
}

extension LetterQueries {
    /// A file of the filtered letters; refused when there are too many, because half a file looks like a whole one.
    func export(_ filter: LetterFilter, _ export: LetterExport) throws -> ConsoleAnswer {
        var export = export
        let selection = try filter.selection(now: SystemClock.wall())
        let snapshot = follower.snapshot
        var isFull = false
        let isRead = try read(selection) { entry in
            isFull = !export.add(DeadLetterView(&entry, snapshot.marks, snapshot.outcomes))
            return !isFull
        }
        guard isRead, !isFull else {
            let words = ["herald", "dlq", "export"] + filter.words + ["-o", export.format.rawValue]
            throw ToolFailure(
                "these are too many for a download (\(export.count) so far); take fewer, or run: "
                    + words.map(Selection.quoted).joined(separator: " "))
        }
        return export.answer
    }
}
