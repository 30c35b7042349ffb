internal import HeraldTools

/// What a campaign would do, found by going through its audience once.
package struct AudiencePreview: Sendable {
    package struct InvalidLine: Sendable, Equatable {
        /// Its number in the file, from 1.
        package var line: Int
        /// Its row in a spreadsheet, from 1: a cell may hold several lines.
        package var row: Int
        package var reason: String

        /// `line 12`, or `row 11 (line 12)`.
        package var place: String { row == line ? "line \(line)" : "row \(row) (line \(line))" }
    }

    package struct Sample: Sendable, Equatable {
        package var user: String
        package var message: String
        /// What it has beside the message.
        package var content: CampaignContent
    }

    /// A recipient whom some of the texts' fields have nothing for.
    package struct Emptiest: Sendable, Equatable {
        package var sample: Sample
        /// The names of these fields, in the order of their first use.
        package var fields: [String]
    }

    /// A field that looks like a mistake for some recipients.
    package struct DoubtfulField: Sendable, Equatable {
        package var name: String
        package var doubt: FieldDoubt
        package var count: Int
        /// The line of the first of them, from 1.
        package var line: Int
        /// The text that it stands in.
        package var text: String
    }

    private static let shownInvalidLines = 5
    private static let shownSamples = 3
    private static let linesPerReport = 4_096

    /// How many recipients there are, each counted once.
    package private(set) var recipients = 0
    /// By what the set of recipients is told from another.
    package private(set) var mark = ""
    /// How the audience was read.
    package private(set) var reading: AudienceReading
    /// What its columns are called; of JSON lines the fields that are asked for.
    package let columns: [String]
    /// Lines that repeat a recipient; the first of them counts.
    package private(set) var repeats = 0
    package private(set) var invalid = 0
    /// People who are left out, for each reason in its order; none without any.
    package private(set) var excludedFor: [Int] = []
    /// The sum of their ids.
    package private(set) var excludedMark: String?
    /// People who are left out.
    package var excluded: Int { excludedFor.reduce(0, +) }
    /// Lines without anything, or with nothing but delimiters and spaces.
    package private(set) var emptyLines = 0
    package private(set) var invalidLines: [InvalidLine] = []
    package private(set) var samples: [Sample] = []
    /// Whose title and message have the most characters, the first of them; `nil` without recipients.
    package private(set) var longest: Sample?
    /// Whom the most fields have nothing for, the first of them; `nil` when there is something in each for everybody.
    package private(set) var emptiest: Emptiest?
    /// Whether everybody gets the same texts.
    package let hasOneText: Bool
    private var mostCharacters = -1
    /// The user's column and the texts' fields, in their order, where some look like a mistake.
    package private(set) var doubtfulFields: [DoubtfulField] = []
    /// The most bytes that a message has.
    package private(set) var longestMessage = 0
    /// The most bytes that all texts of a notification have.
    package private(set) var longestContent = 0
    /// Recipients who differ from another one in upper and lower case alone.
    package private(set) var caseTwins = CaseInsensitiveDuplicates()
    /// The mark of the audience that the campaign has, when that begins this one: appending people to a file adds them.
    package private(set) var beginsWith: String?
    /// The mark of the audience that the campaign had when this one was read; `nil` for a new one.
    package let comparedTo: String?

    /// How many lines there are, but for empty ones.
    var lines: Int { recipients + excluded + repeats + invalid }

    /// Lines that are no recipients, as a share of all.
    var invalidShare: Double { lines > 0 ? Double(invalid) / Double(lines) : 0 }

    /// Goes through the audience.
    ///
    /// - Parameters:
    ///   - set: an empty one, in which each recipient is marked as seen.
    ///   - invalidFile: takes the lines that are no recipients.
    ///   - former: how far the campaign was published before; `nil` for a new one.
    ///   - exclusions: who is left out, and for how many reasons.
    ///   - mostRecipients: an audience with more is refused.
    ///   - onProgress: how many bytes were passed; `false` ends it.
    /// - Returns: nothing when it was ended.
    package init?(
        _ audience: Audience, _ campaign: CampaignText, expiresAt: Int64?, marking set: inout RecipientSet,
        into invalidFile: InvalidLines, after former: CampaignProgress? = nil,
        leavingOut exclusions: (people: ExcludedPeople, reasons: Int)? = nil, mostRecipients: Int = .max,
        onProgress: (Int) -> Bool
    ) throws {
        let reader = try RecipientReader(audience, campaign, expiresAt: expiresAt)
        reading = reader.lines.reading
        columns = reader.lines.columnNames
        hasOneText = campaign.template.fields.names.isEmpty
        comparedTo = former?.audience
        let ids = RecipientIDs(campaign: campaign.name)
        var lines = 0
        var (mark, excludedMark) = (AudienceMark(), AudienceMark())
        excludedFor = Array(repeating: 0, count: exclusions?.reasons ?? 0)
        items: while true {
            lines += 1
            if lines % Self.linesPerReport == 0, !onProgress(reader.lines.passedCount) { return nil }
            switch try reader.next() {
            case .end: break items
            case .invalid(let reason):
                invalid += 1
                let reason = invalidFile.words(reason)
                try invalidFile.add(reader.lines, reason)
                if invalidLines.count < Self.shownInvalidLines {
                    invalidLines.append(InvalidLine(line: reader.lines.line, row: reader.lines.row, reason: reason))
                }
            case .recipient:
                let reason = exclusions?.people.reason(for: reader.id)
                guard set.insert(reader.id, reason == nil ? .seen : .excluded).isEmpty else {
                    repeats += 1
                    continue
                }
                guard set.count <= mostRecipients else {
                    throw ToolFailure(
                        "the audience has more than \(CampaignWords.number(mostRecipients)) recipients; split it into "
                            + "several campaigns")
                }
                if let reason {
                    excludedFor[reason] += 1
                    excludedMark.add(reader.id)
                    continue
                }
                recipients += 1
                mark.add(reader.id)
                caseTwins.note(reader.user, reader.id, line: reader.lines.line, ids, among: set)
                if recipients == former?.recipients, former?.audience == mark.text { beginsWith = mark.text }
                noteDoubts(reader, campaign.template)
                longestMessage = max(longestMessage, reader.message.count)
                longestContent = max(longestContent, reader.texts.reduce(0) { $0 + $1.count })
                if samples.count < Self.shownSamples { samples.append(Sample(reader)) }
                noteExtremes(reader, campaign.template)
            }
        }
        if exclusions != nil { self.excludedMark = excludedMark.text }
        emptyLines = reader.lines.emptyLines
        self.mark = mark.text
        caseTwins.forget()
        try invalidFile.finish()
        if let proof = reader.evidence.proof { throw try UnreadableAudience(proof, audience.file) }
        guard audience.isUnchanged else { throw Self.changed }
        if let name = reader.lines.unseenNames.first, lines > 1 {
            throw ToolFailure(
                name == reading.userColumn
                    ? "no line of the audience has a \(name)"
                    : "the \(campaign.template.place(using: name)) uses {{\(name)}}, which no line of the audience has")
        }
    }

    private mutating func noteExtremes(_ reader: RecipientReader, _ template: ContentTemplate) {
        if reader.visibleBytes > mostCharacters {
            let count = reader.visibleCharacters
            if count > mostCharacters { (mostCharacters, longest) = (count, Sample(reader)) }
        }
        let empty = reader.emptyFields
        if empty.count > emptiest?.fields.count ?? 0 {
            emptiest = Emptiest(sample: Sample(reader), fields: empty.map { template.fields.names[$0] })
        }
    }

    private mutating func noteDoubts(_ reader: RecipientReader, _ template: ContentTemplate) {
        if FieldDoubt(reader.user[...]) == .placeholder {
            note(.placeholder, reading.userColumn, reader, in: reader.user)
        }
        // A field that the texts have twice counts once.
        for (index, found) in reader.doubts.enumerated()
        where !reader.doubts[..<index].contains(where: { $0.field == found.field && $0.doubt == found.doubt }) {
            note(found.doubt, template.fields.names[found.field], reader, in: reader.texts[found.part])
        }
    }

    private mutating func note(_ doubt: FieldDoubt, _ name: String, _ reader: RecipientReader, in text: [UInt8]) {
        if let known = doubtfulFields.firstIndex(where: { $0.name == name && $0.doubt == doubt }) {
            doubtfulFields[known].count += 1
        } else {
            doubtfulFields.append(
                DoubtfulField(
                    name: name, doubt: doubt, count: 1, line: reader.lines.line,
                    text: String(decoding: text, as: UTF8.self)))
        }
    }

    /// What to say of an audience that is not the same any more.
    static let changed = ToolFailure(
        "the audience was changed while it was read; start again with one that is complete")
}

extension AudiencePreview.Sample {
    /// The present recipient.
    fileprivate init(_ reader: RecipientReader) {
        self.init(
            user: String(decoding: reader.user, as: UTF8.self),
            message: String(decoding: reader.message, as: UTF8.self), content: reader.content)
    }

    /// What phones show of it, in characters: message and title.
    package var characters: Int { message.count + (content.title?.count ?? 0) }
}
