internal import HeraldTools

/// What a campaign would do, found by going through its audience once.
package struct AudiencePreview: Sendable {
    package struct InvalidLine: Sendable, Equatable {
        /// Its number, from 1.
        package var line: Int
        package var reason: String
    }

    package struct Sample: Sendable, Equatable {
        package var user: String
        package var message: String
    }

    /// A field of the message that some recipients have nothing for.
    package struct EmptyField: Sendable, Equatable {
        package var name: String
        package var count: Int
        /// The line of the first of them, from 1.
        package var line: Int
        package var message: String
    }

    private static let shownInvalidLines = 5
    private static let shownSamples = 3
    private static let linesPerReport = 4_096

    /// How many recipients there are, each counted once.
    package private(set) var recipients = 0
    /// By what the set of recipients is told from another.
    package private(set) var mark = ""
    /// Lines that repeat a recipient; the first of them counts.
    package private(set) var repeats = 0
    package private(set) var invalid = 0
    package private(set) var invalidLines: [InvalidLine] = []
    package private(set) var samples: [Sample] = []
    /// The message's fields that some have nothing for, in the order of the message.
    package var emptyFields: [EmptyField] { emptyByNumber.sorted { $0.key < $1.key }.map(\.value) }
    private var emptyByNumber: [Int: EmptyField] = [:]
    /// The most bytes that a message has.
    package private(set) var longestMessage = 0

    /// Goes through the audience.
    ///
    /// - Parameters:
    ///   - set: an empty one, in which each recipient is marked as seen.
    ///   - invalidFile: takes the lines that are no recipients.
    ///   - mostRecipients: an audience with more is refused.
    ///   - onProgress: how many bytes were passed; `false` ends it.
    /// - Returns: nothing when it was ended.
    package init?(
        _ audience: Audience, _ campaign: CampaignText, expiresAt: Int64?, marking set: inout RecipientSet,
        into invalidFile: InvalidLines, mostRecipients: Int = .max, onProgress: (Int) -> Bool
    ) throws {
        let reader = try RecipientReader(audience, campaign, expiresAt: expiresAt)
        var lines = 0
        var mark = AudienceMark()
        items: while true {
            lines += 1
            if lines % Self.linesPerReport == 0, !onProgress(reader.passedCount) { return nil }
            switch try reader.next() {
            case .end: break items
            case .invalid(let reason):
                invalid += 1
                try invalidFile.add(reader, reason)
                if invalidLines.count < Self.shownInvalidLines {
                    invalidLines.append(InvalidLine(line: reader.line, reason: reason))
                }
            case .recipient:
                guard set.insert(reader.id, .seen).isEmpty else {
                    repeats += 1
                    continue
                }
                guard set.count <= mostRecipients else {
                    throw ToolFailure(
                        "the audience has more than \(CampaignWords.number(mostRecipients)) recipients; split it into "
                            + "several campaigns")
                }
                mark.add(reader.id)
                noteEmptyFields(reader, campaign.template)
                longestMessage = max(longestMessage, reader.message.count)
                if samples.count < Self.shownSamples {
                    samples.append(
                        Sample(
                            user: String(decoding: reader.user, as: UTF8.self),
                            message: String(decoding: reader.message, as: UTF8.self)))
                }
            }
        }
        recipients = set.count
        self.mark = mark.text
        try invalidFile.finish()
        guard audience.isUnchanged else { throw Self.changed }
        if let name = reader.unseenNames.first, lines > 1 {
            throw ToolFailure(
                name == "user"
                    ? "no line of the audience has a user"
                    : "the message uses {{\(name)}}, which no line of the audience has")
        }
    }

    private mutating func noteEmptyFields(_ reader: RecipientReader, _ template: MessageTemplate) {
        // A field that the message has twice counts once.
        for (index, number) in reader.emptyFields.enumerated() where !reader.emptyFields[..<index].contains(number) {
            if emptyByNumber[number] != nil {
                emptyByNumber[number]?.count += 1
            } else {
                emptyByNumber[number] = EmptyField(
                    name: template.names[number], count: 1, line: reader.line,
                    message: String(decoding: reader.message, as: UTF8.self))
            }
        }
    }

    /// What to say of an audience that is not the same any more.
    static let changed = ToolFailure(
        "the audience was changed while it was read; start again with one that is complete")
}
