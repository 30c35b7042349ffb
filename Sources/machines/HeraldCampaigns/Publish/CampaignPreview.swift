internal import HeraldEvents
package import HeraldText
package import HeraldTime
internal import HeraldTools

/// What a start of a campaign comes to, in numbers and sentences: pure.
///
/// Texts from the audience are as they came.
package struct CampaignPreview: Sendable {
    package let order: CampaignOrder
    package let audience: AudiencePreview
    /// Recipients a second at most; `nil` for no bound.
    package let rate: Double?
    /// The sizes of the ramp's steps.
    package let ramp: [Int]
    /// At how many published recipients it waits for its operator.
    private let holds: CampaignHolds
    /// The share of failed outcomes above which it pauses itself; `nil` for none.
    package let pauseIfFailures: Double?
    /// Whether the campaign was started before.
    package let isContinued: Bool
    /// Whether it is paused now, and has to be resumed before.
    package let isPaused: Bool
    /// What stays as it was at the last start because no option changes it, as options: `--ramp 1,10,100`.
    package let kept: [String]
    /// When it begins; `nil` for at once.
    ///
    /// One that is over already is that of a campaign that is late.
    package let start: CampaignStart?
    private let now: WallTime
    private let keepsStart: Bool
    /// What people should know of those who are left out, in sentences.
    package var exclusionNotes: [String] = []
    /// What a start of a campaign that is known comes to; `nil` for a new one, or before Kafka was asked.
    package var continuation: CampaignContinuation?

    /// - Parameter campaign: one that may go on; `nil` for a new one.
    package init(
        _ order: CampaignOrder, _ audience: AudiencePreview, of campaign: CampaignIndex.Campaign?, at now: WallTime
    ) {
        let isPublished = campaign?.progress?.published ?? 0 > 0
        keepsStart = order.start == nil && campaign?.isScheduled(at: now) ?? false
        start = isPublished ? nil : order.start.map(\.start) ?? campaign?.definition?.start
        self.now = now
        self.order = order
        self.audience = audience
        let terms = CampaignTerms(order, campaign?.definition, campaign?.progress, campaign?.control)
        (rate, ramp, pauseIfFailures) = (terms.rate, terms.ramp, terms.pauseIfFailures)
        holds = CampaignHolds(terms.holds, passed: campaign?.go?.passed ?? 0)
        isContinued = campaign?.definition != nil
        isPaused = campaign?.state == .paused
        kept = terms.kept(order)
    }

    /// How many recipients would be notified: of a campaign that goes on, those who are left.
    package var toNotify: Int { continuation?.remaining ?? audience.recipients }

    /// The steps of the ramp that are still to come, of one that has begun the rest.
    package var stepsLeft: [Int] { Self.steps(ramp, after: continuation?.publishedBefore ?? 0) }

    /// The holds that are still to come; one at which everybody is published is none.
    package var holdsLeft: [Int] {
        let published = continuation?.publishedBefore ?? 0
        var found: [Int] = []
        while let next = holds.next(from: max(1, found.last.map { $0 + 1 } ?? published)), next < published + toNotify {
            found.append(next)
        }
        return found
    }

    static func steps(_ ramp: [Int], after published: Int) -> [Int] {
        var end = 0
        return ramp.compactMap { size in
            end += size
            return end > published ? min(size, end - published) : nil
        }
    }

    /// Of fewer lines a share says nothing.
    private static let judgedFrom = 20

    /// Why nothing may be started with this audience as it is; `nil` when something may.
    ///
    /// Where nothing may be invalid, that holds for a short one, too.
    package var refusal: String? {
        let lines = audience.lines
        guard lines >= Self.judgedFrom || order.maxInvalid == 0, audience.invalidShare > order.maxInvalid else {
            return nil
        }
        return "\(CampaignWords.number(audience.invalid)) of \(CampaignWords.counted(lines, "line")) "
            + "\(audience.invalid == 1 ? "is" : "are") invalid "
            + "(\(CampaignWords.share(audience.invalid, of: lines))); \(ShareText.text(order.maxInvalid)) may be. Mend the "
            + "audience, or allow more with --max-invalid"
    }

    /// Push services take payloads of 4 096 bytes, and what the backend puts around a message is a part of that.
    private static let roomyBytes = 3_584

    /// What looks like a mistake, in sentences.
    package var warnings: [String] {
        order.reach.warnings(order.text.template.content.fields, to: order.text.pushServices)
            + exclusionNotes + idleExclusions + tooSlow + doubtfulFields + foreignMarks + literalBreak + longMessage
            + caseTwins
    }

    /// The parts that do not reach a push service, by its name; `null` when all do, or that is not known.
    private var omitted: JSONValue {
        let omitted = order.reach.omitted(order.text.template.content.fields, from: order.text.pushServices)
        guard !omitted.isEmpty else { return .null }
        return .object(
            omitted.map { service, fields in .init(service, .array(fields.fields.map { .string($0.rawValue) })) })
    }

    /// How many are left out, with the reason, in the order of the reasons.
    package var excluded: [(reason: CampaignExclusions.Reason, people: Int)] {
        zip(order.exclusions?.reasons ?? [], audience.excludedFor).map { (reason: $0, people: $1) }
    }

    /// The lines of the audience, each counted once; `nil` when nobody is to be left out.
    package var lineSum: String? {
        guard order.exclusions != nil else { return nil }
        let parts =
            [CampaignWords.counted(audience.recipients, "recipient")]
            + excluded.map { "\(CampaignWords.number($0.people)) \($0.reason.words)" }
            + [(audience.repeats, "repeat"), (audience.invalid, "invalid line"), (audience.emptyLines, "empty line")]
            .filter { $0.0 > 0 }.map { CampaignWords.counted($0.0, $0.1) }
        return
            "\(CampaignWords.counted(audience.lines + audience.emptyLines, "line")) = \(parts.joined(separator: " + "))"
    }

    /// Why nobody is left to be notified, where there are people in the audience.
    package var nobodyRemains: String? {
        guard audience.recipients == 0, audience.excluded > 0 else { return nil }
        return
            "nobody remains: \(audience.excluded == 1 ? "the only person" : "all \(CampaignWords.number(audience.excluded)) people") "
            + "of the audience \(audience.excluded == 1 ? "is" : "are") left out (\(order.exclusions?.words ?? "")); name another file or "
            + "campaign to leave out"
    }

    /// Reasons for which nobody is left out.
    private var idleExclusions: [String] {
        excluded.enumerated().filter { $0.element.people == 0 }.map { number, part in
            let who =
                switch part.reason {
                case .file(let name): "is in \(name)"
                case .campaign(let name): "was delivered by \(name)"
                case .delivered(let time):
                    "was delivered a campaign's notification within \(DurationText.format(time.duration))"
                }
            return number == 0
                ? "nobody of the audience \(who)" : "nobody else of the audience \(who)"
        }
    }

    /// Whoever is published later than the events expire is never notified.
    private var tooSlow: [String] {
        guard let seconds, let limit = order.expiresIn, Double(seconds) > limit.inSeconds, let rate else { return [] }
        let late = toNotify - Int(saturating: limit.inSeconds * rate)
        return [
            "publishing takes \(CampaignWords.duration(Double(seconds))) at \(CampaignWords.rate(rate)), and the events expire "
                + "after \(CampaignWords.duration(limit.inSeconds)): about \(CampaignWords.counted(late, "recipient")) would not be "
                + "notified"
        ]
    }

    private var longMessage: [String] {
        guard audience.longestContent > Self.roomyBytes else { return [] }
        return [
            "the longest \(order.text.template.parts.count > 1 ? "notification's texts have" : "message has") "
                + "\(CampaignWords.counted(audience.longestContent, "byte")): APNs and FCM take 4 096 with "
                + "what the backend puts around it, and may refuse it"
        ]
    }

    private var caseTwins: [String] {
        guard let first = audience.caseTwins.first else { return [] }
        let count = audience.caseTwins.count
        return [
            "\(CampaignWords.counted(count, "recipient")) \(count == 1 ? "differs" : "differ") from another one in upper and "
                + "lower case alone, the first in line \(first.line): \(SafeText.quoted(first.user)); each is notified"
        ]
    }

    private var doubtfulFields: [String] {
        audience.doubtfulFields.map { field in
            let who = CampaignWords.counted(field.count, "recipient") + (field.count == 1 ? " has" : " have")
            let first = "the first in line \(field.line): \(SafeText.quoted(CampaignWords.oneLine(field.text)))"
            return switch field.doubt {
            case .empty:
                "\(who) nothing for {{\(field.name)}}, \(first); {{\(field.name)|…}} says what stands there instead"
            case .damaged: "\(who) a damaged character (U+FFFD) in \(SafeText.quoted(field.name)), \(first)"
            case .placeholder:
                "\(who) what a database or spreadsheet writes for nothing in \(SafeText.quoted(field.name)), \(first)"
            }
        }
    }

    /// A shell's quotes leave it two characters.
    private var literalBreak: [String] {
        guard let place = order.text.template.place(holding: "\\n") else { return [] }
        return [
            "\\n stands as it is in the \(place), and is no line break; --message-file or $'…' in the shell has one"
        ]
    }

    private static let shownMarks = 5

    private var foreignMarks: [String] {
        let marks = order.text.template.foreignMarks(audience.columns)
        let shown = marks.prefix(Self.shownMarks).map {
            "\($0.mark.mark) stands as it is in the \($0.place.name); a field has two braces: {{\($0.mark.name)}}"
        }
        guard marks.count > shown.count else { return shown }
        return shown + ["\(CampaignWords.number(marks.count - shown.count)) more marks like these stand in the message"]
    }

    /// What its topic's class means for users who have opted out; `nil` when workers do not obey their words.
    package var classWords: String? {
        switch order.eventClass {
        case .promotional:
            "promotional: who has opted out when it is called is left out (suppressed), and quiet hours hold the others'"
        case .transactional:
            "transactional, by topics.classes: who has opted out of promotional gets it, too; only an opt-out of all or of the "
                + "push service, or a recall, ends it"
        case nil: nil
        }
    }

    /// When it begins, such as `starts 2026-12-24 09:00 (Europe/Berlin), in 13 h 20 min; that is 2026-12-24T08:00:00.000Z`;
    /// `nil` for at once.
    package var startWords: String? {
        guard let start else { return nil }
        let moment = CampaignWords.start(start, at: now)
        guard start.moment > now else { return "was to start \(moment): it begins at once" }
        return "starts \(moment); that is \(start.moment.text)"
            + (keepsStart ? ". It keeps the moment of its last start; --at now begins at once" : "")
    }

    /// How long it takes, in words.
    package var duration: String {
        guard let seconds else { return "as long as the workers need" }
        // One recipient waits for no other.
        guard seconds > 0 else { return "a moment" + (stepsLeft.isEmpty ? "" : ", and the waits for outcomes") }
        return "at least \(CampaignWords.duration(Double(seconds))) at \(CampaignWords.rate(rate ?? 0))"
            + (stepsLeft.isEmpty ? "" : ", and the waits for outcomes")
    }

    private var seconds: Int? {
        rate.map { Int(saturating: (Double(max(0, toNotify - 1)) / $0).rounded(.up)) }
    }

    /// The same with the messages as a page shows them, each in one line.
    package var shownMembers: [JSONValue.Member] {
        let shown = samples(CampaignWords.oneLine)
        return members.map { member in shown.first { $0.name == member.name } ?? member }
    }

    /// What the first recipients get, and the two whose notifications show most and have least.
    private func samples(_ shown: (String) -> String) -> [JSONValue.Member] {
        func members(_ sample: AudiencePreview.Sample) -> [JSONValue.Member] {
            [.init("user", .string(sample.user)), .init("message", .string(shown(sample.message)))]
                + sample.content.members(shown)
        }
        var all: [JSONValue.Member] = [.init("samples", .array(audience.samples.map { .object(members($0)) }))]
        if let longest = audience.longest {
            all.append(
                .init("longest", .object(members(longest) + [.init("characters", .integer(longest.characters))])))
        }
        if let emptiest = audience.emptiest {
            let fields = JSONValue.array(emptiest.fields.map { .string($0) })
            all.append(.init("emptiest", .object(members(emptiest.sample) + [.init("emptyFields", fields)])))
        }
        return all
    }

    /// It as `herald campaign start --dry-run -o json` has it.
    package var members: [JSONValue.Member] {
        var members: [JSONValue.Member] = [
            .init("name", .string(order.text.name)), .init("topic", .string(order.topic)),
            .init("pns", .array(order.text.pushServices.map { .string($0) })),
            .init("recipients", .integer(audience.recipients)), .init("repeats", .integer(audience.repeats)),
            .init("invalid", .integer(audience.invalid)), .init("emptyLines", .integer(audience.emptyLines)),
            .init(
                "invalidLines",
                .array(
                    audience.invalidLines.map {
                        .object([
                            .init("line", .integer($0.line)), .init("row", .integer($0.row)),
                            .init("reason", .string($0.reason)),
                        ])
                    })),
            .init("excluded", .integer(audience.excluded)),
            .init("longestMessageBytes", .integer(audience.longestMessage)),
            .init("readAs", .string(audience.reading.text)),
            .init("userColumn", .string(audience.reading.userColumn)),
            .init("toNotify", .integer(toNotify)),
        ]
        members += samples { $0 }
        if order.exclusions != nil {
            members += [
                .init(
                    "excludedFor",
                    .array(
                        excluded.map { ["reason": .string($0.reason.words), "people": .integer($0.people)] })),
                .init("lineSum", .text(lineSum)), .init("nobodyRemains", .text(nobodyRemains)),
            ]
        }
        if let eventClass = order.eventClass {
            members += [.init("class", .string(eventClass.rawValue)), .init("classMeans", .text(classWords))]
        }
        if let start {
            members.append(
                .init(
                    "start",
                    .present([
                        .init("at", .string(start.moment.text)), .init("zone", .text(start.zone)),
                        .init("words", .string(start.words)), .init("sentence", .text(startWords)),
                        .init("late", .bool(start.moment <= now)),
                    ])))
        }
        if let changes = continuation?.scheduledChanges {
            members.append(.init("scheduledChanges", .array(changes.map { .string($0) })))
        }
        if isPaused { members.append(.init("isPaused", .bool(true))) }
        if let refusal { members.append(.init("refusal", .string(refusal))) }
        if !kept.isEmpty { members.append(.init("kept", .array(kept.map { .string($0) }))) }
        if let continuation {
            members += [
                .init("alreadyPublished", .integer(continuation.published)),
                .init("remaining", .integer(continuation.remaining)),
                .init("sameAudience", .bool(continuation.change == .none)),
                .init("addsPeople", .bool(continuation.change == .grown)),
                .init("publisher", .text(continuation.publisher?.by)),
                .init("publishedOutside", .integer(continuation.outside.recipients)),
                .init("openOutside", .integer(continuation.outside.open)),
            ]
        }
        if !warnings.isEmpty { members.append(.init("warnings", .array(warnings.map { .string($0) }))) }
        if omitted != .null { members.append(.init("omitted", omitted)) }
        if let rate { members.append(.init("ratePerSecond", .number(rate))) }
        if let limit = order.expiresIn {
            members.append(.init("expiresInSeconds", .integer(Int(saturating: limit.inSeconds))))
        }
        if let share = pauseIfFailures { members.append(.init("pauseIfFailures", .number(share))) }
        if !ramp.isEmpty { members.append(.init("ramp", .array(ramp.map { .integer($0) }))) }
        if !stepsLeft.isEmpty { members.append(.init("rampLeft", .array(stepsLeft.map { .integer($0) }))) }
        if !holdsLeft.isEmpty { members.append(.init("holdsLeft", .array(holdsLeft.map { .integer($0) }))) }
        if let seconds { members.append(.init("seconds", .integer(seconds))) }
        return members
    }
}
