internal import HeraldBytes
package import HeraldText
internal import HeraldTools

/// The part of an audience that was not reached, in its own form: with its columns as they are written, so that it can be
/// an audience again, and with the reasons behind them.
///
/// What is known of people is held until the audience says where they stand: some 200 bytes for each.
package struct UnreachedAudience {
    private let reader: RecipientReader
    private let audience: Audience
    private let campaign: CampaignText
    private let expiresAt: Int64?
    /// How far the campaign was published; `nil` before its first event.
    private let progress: CampaignProgress?
    /// What the lines as they are written tell of the audience's encoding.
    private var evidence = EncodingEvidence()
    private let delimiter: String?
    /// The reasons of those who were not found in the audience so far, by their users' bytes.
    private var waiting: [[UInt8]: [UnreachedList.Entry]] = [:]
    private var counts = AudienceSum()

    /// - Throws: what is wrong with the audience's header, such as a missing column of the message.
    package init(
        _ audience: Audience, _ definition: CampaignDefinition, _ progress: CampaignProgress?, users: UserRule
    ) throws {
        campaign = CampaignText(
            name: definition.name, template: try definition.template, pushServices: definition.pns,
            maximumEventBytes: .max, users: users)
        (expiresAt, self.progress) = (definition.expiresAt, progress)
        reader = try RecipientReader(audience, campaign, expiresAt: expiresAt)
        self.audience = audience
        delimiter = reader.lines.reading.delimiter?.character
    }

    /// What became of the lines that were read.
    var sum: AudienceSum {
        var sum = counts
        (sum.emptyLines, sum.outside) = (reader.lines.emptyLines, waiting.count)
        return sum
    }

    /// Refuses a file that is another audience: one that a start would refuse, too, and that has people who were never
    /// published.
    ///
    /// - Parameter list: one that was told all that Kafka knows.
    package func check(among list: inout UnreachedList) throws {
        guard let progress = progress?.withExcluded else { return }
        let knownCount = list.peopleCount
        let reader = try RecipientReader(audience, campaign, expiresAt: expiresAt)
        var (mark, recipients, known) = (AudienceMark(), 0, 0)
        var beginsWith: String?
        lines: while true {
            switch try reader.next() {
            case .end: break lines
            case .invalid: continue
            case .recipient:
                let marks = list.look(at: String(decoding: reader.user, as: UTF8.self))
                guard !marks.contains(.seen) else { continue }
                mark.add(reader.id)
                recipients += 1
                if !marks.isEmpty { known += 1 }
                if recipients == progress.recipients, progress.audience == mark.text { beginsWith = mark.text }
            }
        }
        list.forgetLines()
        let change = AudienceChange(
            from: progress, to: mark.text, recipients: recipients, beginsWith: beginsWith,
            published: (knownCount, known))
        if progress.excludedPeople > 0 {
            let isSure = progress.isComplete && recipients - known == progress.excludedPeople
            list.unpublished = isSure ? .excluded : .notYetOrExcluded
        }
        guard change == .replaced, known < recipients else { return }
        if let proof = reader.evidence.proof { throw try UnreadableAudience(proof, audience.file) }
        throw ForeignAudience(
            campaign: campaign.name, formerRecipients: progress.recipients, strangers: progress.strangers ?? 0,
            recipients: recipients,
            unpublished: recipients - known, missing: knownCount - known)
    }

    /// The first line, with its end; empty for JSON lines.
    mutating func heading() throws -> String {
        guard let delimiter else { return "" }
        let columns = UnreachedList.columns.joined(separator: delimiter)
        return try text(of: reader.lines.heading) + "\(delimiter)\(columns)\r\n"
    }

    /// Keeps what is known of a person, or of one of his notifications.
    mutating func keep(_ entry: UnreachedList.Entry) { waiting[Array(entry.user.utf8), default: []].append(entry) }

    /// The next lines of people of whom something is kept, once for all that is, or said by `unknown`; with how many it said.
    ///
    /// `nil` at the audience's end.
    mutating func nextKept(
        else unknown: (String) -> [UnreachedList.Entry]
    ) throws -> (lines: String, said: Int)? {
        while true {
            switch try reader.next() {
            case .end:
                try checkEncoding()
                return nil
            case .invalid: continue
            case .recipient:
                if let entries = waiting.removeValue(forKey: reader.user) { return (try lines(entries), 0) }
                let entries = unknown(String(decoding: reader.user, as: UTF8.self))
                if !entries.isEmpty { return (try lines(entries), entries.count) }
            }
        }
    }

    /// The next lines, each with its end; `nil` at the audience's end.
    ///
    /// A list with damaged names would go out to them: an audience that is no UTF-8 is thrown, as a start throws it.
    mutating func next(_ list: inout UnreachedList) throws -> String? {
        while true {
            switch try reader.next() {
            case .end:
                try checkEncoding()
                return nil
            case .invalid(let reason):
                counts.invalid += 1
                let why = list.cells(
                    invalid: reason, at: reader.lines.recordPlace, user: String(decoding: reader.user, as: UTF8.self))
                if let why {
                    counts.listedInvalid += 1
                    return invalidLine(why)
                }
            case .recipient:
                let user = String(decoding: reader.user, as: UTF8.self)
                guard !list.isRepeat(user) else {
                    counts.repeats += 1
                    continue
                }
                guard
                    let entries = waiting.removeValue(forKey: reader.user) ?? list.entry(recipient: user).map({ [$0] })
                else {
                    counts.reached += 1
                    continue
                }
                if entries[0].why[0] == UnreachedList.Unpublished.excluded.rawValue {
                    counts.excluded += 1
                } else {
                    counts.unreached += 1
                }
                return try lines(entries)
            }
        }
    }

    private mutating func lines(_ entries: [UnreachedList.Entry]) throws -> String {
        var columns: [UInt8] = []
        reader.lines.appendColumns(to: &columns)
        let text = try text(of: columns)
        return entries.map { line(text, $0.why) }.joined()
    }

    /// The present line, which is no recipient: its cells, or its beginning.
    private func invalidLine(_ why: [String]) -> String {
        guard let delimiter else {
            return line("{\(Self.json(reader.lines.ownColumns[0])):\(Self.json(reader.lines.ownCells[0]))}", why)
        }
        return line(
            reader.lines.ownCells.map { CSVText.cell($0, delimiter: delimiter) }.joined(separator: delimiter), why)
    }

    private func checkEncoding() throws {
        if let proof = reader.evidence.joined(with: evidence).proof {
            throw try UnreadableAudience(proof, audience.file)
        }
    }

    /// The lines of those who are not in the audience: of its columns they have the user alone.
    var others: [String] {
        waiting.values.joined().sorted { $0.user < $1.user }.map { entry in
            guard let delimiter else {
                return line("{\(Self.json(reader.lines.reading.userColumn)):\(Self.json(entry.user))}", entry.why)
            }
            var cells = Array(repeating: "", count: reader.lines.keptColumns)
            cells[reader.lines.userColumn] = CSVText.cell(entry.user, delimiter: delimiter)
            return line(cells.joined(separator: delimiter), entry.why)
        }
    }

    private mutating func text(of columns: [UInt8]) throws -> String {
        if let text = evidence.text(of: columns, line: reader.lines.line) { return text }
        try checkEncoding()
        throw ToolFailure(
            "line \(reader.lines.line) of the audience is not UTF-8, and others are: mend it, or the list would have it damaged"
        )
    }

    /// A line of these columns, as they are written, with its end.
    private func line(_ columns: String, _ why: [String]) -> String {
        if let delimiter {
            return ([columns] + why.map { CSVText.cell($0, delimiter: delimiter) }).joined(separator: delimiter)
                + "\r\n"
        }
        let members = zip(UnreachedList.columns, why).filter { !$1.isEmpty }.map { name, text in
            ",\(Self.json(name)):\(Self.json(text))"
        }
        return columns.dropLast() + members.joined() + "}\n"
    }

    private static func json(_ text: String) -> String {
        var bytes: [UInt8] = []
        JSONText.appendString(text.utf8.span.bytes, to: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }
}
