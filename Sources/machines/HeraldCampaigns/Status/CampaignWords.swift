package import HeraldEvents
internal import HeraldText
internal import HeraldTime
internal import HeraldTools

/// How states of campaigns are written for people; texts from records are made safe to show.
package enum CampaignWords {
    /// A state with its origin, such as `paused since 2026-11-21T18:05:27.000Z by ann@web1: too many fail`.
    package static func state(_ state: CampaignControl.State, _ control: CampaignControl?) -> String {
        guard let control else { return state.rawValue }
        return "\(state.rawValue) since \(control.at.text)" + author(control) + cause(control)
    }

    /// What a campaign is after an order: one that was declared finished is that.
    package static func order(_ control: CampaignControl?, else state: CampaignControl.State) -> String {
        guard let control, control.cause == .finished else { return self.state(control?.state ?? state, control) }
        return "finished since \(control.at.text)" + author(control) + cause(control)
    }

    /// How it stands, since when, by whom and why, such as `paused since … by worker w1: 30 of 200 outcomes failed`.
    package static func standing(_ status: CampaignStatus) -> String {
        let campaign = status.campaign
        switch status.state {
        case .paused, .cancelled: return state(campaign.state, campaign.control)
        case .running:
            return status.state.rawValue + (status.since.map { " since \($0.text)" } ?? "")
                + (status.order.map { author($0) + cause($0) } ?? "")
        case .scheduled, .waiting, .stopped, .finished, .expired:
            return status.state.rawValue + (status.since.map { " since \($0.text)" } ?? "")
                + (status.order.map(author) ?? "") + (status.reason.map { ": \($0)" } ?? "")
                + (campaign.state == .paused ? " (paused)" : "")
        }
    }

    /// That it is recalled, by whom and why, and what that means; `nil` when it is not.
    package static func recalled(_ status: CampaignStatus) -> String? {
        guard let recall = status.recall else { return nil }
        let suppressed = status.count.suppressions[.recalled] ?? 0
        let so = "\(counted(suppressed, "notification")) \(suppressed == 1 ? "was" : "were") suppressed so far"
        let publishes = status.isPublisherAlive && status.state != .cancelled
        return "recalled" + (recall.at.map { " since \($0.text)" } ?? "")
            + (recall.by.map { " by \(SafeText.escaped($0))" } ?? "")
            + (recall.reason.map { ": \(SafeText.escaped($0))" } ?? "") + "; \(so)"
            + (status.mayNotify ? ", and what still waits ends as suppressed" : "")
            + (publishes ? "; its publisher goes on until it is cancelled" : "")
    }

    /// When a campaign begins that nobody is published of, such as `starts 2026-12-24 09:00 (Europe/Berlin), in 13 h 20 min`;
    /// `nil` for others.
    package static func start(_ status: CampaignStatus) -> String? {
        guard let start = status.campaign.definition?.start else { return nil }
        if status.isScheduled {
            return "starts \(self.start(start, at: status.now))"
                + (status.isDetached && !status.isPublisherAlive
                    ? "; its audience is kept in Kafka, and a console or herald campaign run publishes it then" : "")
        }
        return status.campaign.isLate(at: status.now) ? "was to start \(self.start(start, at: status.now))" : nil
    }

    /// A moment and how far it is, such as `2026-12-24 09:00 (Europe/Berlin), in 13 h 20 min`, or `…, 12 min ago`.
    static func start(_ start: CampaignStart, at now: WallTime) -> String {
        let span = start.moment.time(since: now)
        let length = duration(span.length.inSeconds)
        return "\(SafeText.escaped(start.words)), " + (span > .zero ? "in \(length)" : "\(length) ago")
    }

    /// Where a campaign waits for its operator and what follows, such as `100 of 2 000 recipients are published; herald
    /// campaign resume spring goes on to 1 000`.
    package static func hold(_ status: CampaignStatus) -> String? {
        let campaign = status.campaign
        guard let hold = campaign.hold, let progress = campaign.progress else { return nil }
        let next = campaign.holds.next(from: hold + 1).flatMap { $0 < progress.everybody ? $0 : nil }
        let published =
            "\(number(hold)) of \(counted(progress.everybody, "recipient")) \(hold == 1 ? "is" : "are") published"
        let goes =
            "herald campaign resume \(campaign.name) goes on " + (next.map { "to \(number($0))" } ?? "with the rest")
        guard status.isWithoutPublisher else { return "\(published); \(goes)" }
        return "\(published); \(goes), which "
            + (status.isDetached
                ? "a console that may make changes or herald campaign run publishes"
                : "nobody publishes until it is started again with the same audience")
    }

    /// That a publisher waits for its operator.
    package static func held(_ count: Int, name: String) -> String {
        "\(counted(count, "recipient")) \(count == 1 ? "is" : "are") published, and it waits for you: herald campaign resume "
            + "\(name) goes on."
    }

    /// That nobody publishes the rest of a campaign, and what became of its publisher.
    package static func withoutPublisher(_ status: CampaignStatus) -> String {
        let rest = counted(max(0, status.recipientsLeft), "recipient")
        guard let progress = status.campaign.progress else { return "nobody publishes the rest" }
        let name = progress.endedBy.map { " by \(SafeText.escaped($0))" } ?? ""
        let end = progress.end.map { "has ended (\(SafeText.escaped($0))\(name))" } ?? "is not heard of since then"
        if status.isDetached {
            let begun = start(status) ?? "nobody publishes the rest, \(rest)"
            return begun
                + ", and neither a console that may make changes nor herald campaign run has taken it up: start one of "
                + "them, and see what it says; its publisher \(SafeText.escaped(progress.by)) \(end)"
        }
        if let start = start(status), let moment = status.campaign.definition?.start {
            let publisher = "its publisher \(SafeText.escaped(progress.by)) \(end)"
            return status.isScheduled
                ? "scheduled for \(self.start(moment, at: status.now)), and nobody is there to publish it: start it again with "
                    + "the same audience; \(publisher)"
                : "\(start), and nobody is there to publish it: start it again with the same audience, and it begins at "
                    + "once; \(publisher)"
        }
        return "nobody publishes the rest, \(rest); its publisher \(SafeText.escaped(progress.by)) \(end)"
    }

    package static func origin(of control: CampaignControl) -> String {
        "at \(control.at.text)" + author(control) + cause(control)
    }

    private static func author(_ control: CampaignControl) -> String {
        control.by.isEmpty ? "" : " by \(SafeText.escaped(control.by))"
    }

    private static func cause(_ control: CampaignControl) -> String {
        control.reason.map { ": \(SafeText.escaped($0))" } ?? ""
    }

    /// Such as `12 s`, `3 min`, `2 h 5 min` or `4 d 3 h`.
    package static func duration(_ seconds: Double) -> String {
        guard seconds.isFinite, seconds < 1e9 else { return "years" }
        let whole = Int(seconds.rounded(.up))
        switch whole {
        case ..<100: return "\(whole) s"
        case ..<6_000: return "\((whole + 30) / 60) min"
        case ..<172_800: return "\(whole / 3_600) h \(whole % 3_600 / 60) min"
        default: return "\(whole / 86_400) d \(whole % 86_400 / 3_600) h"
        }
    }

    /// In groups of three digits: `12 400`.
    package static func number(_ number: Int) -> String {
        let digits = String(number)
        var text = ""
        for (index, digit) in digits.enumerated() {
            let left = digits.count - index
            if index > 0, left % 3 == 0, digit != "-" { text += " " }
            text.append(digit)
        }
        return text
    }

    /// A message in one line, in which `⏎` is a line break: as `\n` it would look like a text that has these characters.
    package static func oneLine(_ message: String) -> String {
        var text = String.UnicodeScalarView()
        for scalar in message.replacing("\r\n", with: "\n").unicodeScalars {
            text.append(scalar == "\n" ? "⏎" : scalar)
        }
        return String(text)
    }

    /// Such as `1 recipient` or `12 400 recipients`.
    package static func counted(_ count: Int, _ noun: String) -> String {
        "\(number(count)) \(noun)\(count == 1 ? "" : "s")"
    }

    /// A part of a whole, such as `6.9%`: never all of it, or none, when that is not so.
    ///
    /// Whatever shows a share of a campaign shows it so; the console's page has the same rule in `share`.
    package static func share(_ part: Int, of whole: Int) -> String {
        whole > 0 ? percent(tenths(part, of: whole)) : "-"
    }

    /// A share in tenths of a percent.
    private static func tenths(_ part: Int, of whole: Int) -> Int {
        guard part > 0 else { return 0 }
        guard part < whole else { return 1_000 }
        return min(999, max(1, Int((Double(part) * 1_000 / Double(whole)).rounded())))
    }

    private static func percent(_ tenths: Int) -> String { "\(tenths / 10).\(tenths % 10)%" }

    /// Such as `waits: 40 suspended notifications are called again by 2026-11-21T18:30:00.000Z`.
    package static func sentence(_ wait: CampaignStatus.Wait) -> String {
        switch wait {
        case .trouble(let words): "waits: " + SafeText.escaped(words.prefix(1).lowercased() + words.dropFirst())
        case .suspended(let count, let until):
            "waits: \(counted(count, "suspended notification")) \(count == 1 ? "is" : "are") called again by \(until.text)"
        case .retries(let count, let next):
            "waits: \(counted(count, "notification")) \(count == 1 ? "retries" : "retry"), the next at \(next.text)"
        case .quietHours(let count, let next):
            "waits: \(counted(count, "notification")) \(count == 1 ? "waits" : "wait") for the end of quiet hours, the next at "
                + next.text
        }
    }

    /// The shares of the parts of a whole, which add up to 100 %; the console's page has the same rule in `shares`.
    ///
    /// Each has the share that it has alone, but for the largest: what rounding leaves, or takes, is its own. One that is not
    /// large enough for that leaves the rest to the next.
    package static func shares(_ parts: [Int]) -> [String] {
        let whole = parts.reduce(0, +)
        guard whole > 0 else { return parts.map { _ in "-" } }
        var tenths = parts.map { self.tenths($0, of: whole) }
        var left = 1_000 - tenths.reduce(0, +)
        for index in parts.indices.sorted(by: { (parts[$1], $0) < (parts[$0], $1) }) where parts[index] > 0 {
            let change = max(left, 1 - tenths[index])
            tenths[index] += change
            left -= change
        }
        return tenths.map(percent)
    }

    /// Such as `waits for 1 outcome (1 retrying) of step 2 of the ramp (10 recipients): if they fail …`.
    package static func sentence(_ wait: RampWait) -> String { lines(wait).joined(separator: ": ") }

    /// The same in short lines: what it waits for, and what follows from that.
    package static func lines(_ wait: RampWait) -> [String] {
        wait.standing.lines(JobWaitReason.Outcomes(open: wait.open, retrying: wait.retrying))
    }

    /// Such as `Step 1 of the ramp is judged without 1 outcome: one recipient goes on failing …`.
    package static func goesOnWithout(_ open: Int, step: Int) -> String {
        "Step \(step) of the ramp is judged without \(counted(open, "outcome")): one recipient goes on failing, and is "
            + "retried meanwhile."
    }

    /// Such as `no outcome for 60 s: 6 000 are retrying`; `nil` while a silence is none yet.
    package static func sentence(_ facts: OutcomeSilence.Facts, open: Int) -> String? {
        guard facts.length >= OutcomeSilence.worry else { return nil }
        let since = "no outcome for \(duration(facts.length / .seconds(1)))"
        let retrying = min(facts.retries?.retrying ?? 0, open)
        let suspended = min(facts.retries?.suspended ?? 0, open - retrying)
        var causes: [String] = []
        if retrying > 0 { causes.append("\(number(retrying)) of \(number(open)) open are retrying") }
        if suspended > 0 { causes.append("\(number(suspended)) are suspended") }
        let asleep = min(facts.retries?.asleep ?? 0, open - retrying - suspended)
        if asleep > 0 { causes.append("\(number(asleep)) wait for the end of their users' quiet hours") }
        if let trouble = facts.trouble { causes.append(trouble.prefix(1).lowercased() + trouble.dropFirst()) }
        if causes.isEmpty {
            causes.append(facts.isAsked ? "workers run; herald doctor says whether they deliver" : "do workers run?")
        }
        return since + ": " + causes.joined(separator: "; ")
    }

    /// Why notifications were suppressed, such as `24 because their user opted out, 3 recalled`; `nil` where none is known.
    package static func suppressed(_ count: OutcomeCount) -> String? {
        let parts = SuppressionReason.allCases.compactMap { reason -> String? in
            guard let number = count.suppressions[reason], number > 0 else { return nil }
            return switch reason {
            case .optedOut: "\(self.number(number)) because their user opted out"
            case .recalled: "\(self.number(number)) recalled"
            case .quietExpired: "\(self.number(number)) because they would have expired in their user's quiet hours"
            case .capped: "\(self.number(number)) because their user had as many as preferences.caps allows"
            }
        }
        return parts.isEmpty ? nil : parts.joined(separator: ", ")
    }

    /// How many people of its audience it leaves out, such as `1 900 people left out: 1 200 excluded by last-week.csv, 700 delivered by
    /// spring`; `nil` when it leaves nobody out.
    package static func excluded(_ campaign: CampaignIndex.Campaign) -> String? {
        guard let exclusions = campaign.definition?.exclusions, let progress = campaign.progress else { return nil }
        let parts = zip(exclusions.reasons, progress.excluded ?? []).filter { $1 > 0 }.map { reason, people in
            "\(number(people)) \(SafeText.escaped(reason.words))"
        }
        let all = "\(number(progress.excludedPeople)) \(progress.excludedPeople == 1 ? "person" : "people")"
        return parts.isEmpty
            ? "nobody left out, though it was to be: \(SafeText.escaped(exclusions.words))"
            : "\(all) left out: \(parts.joined(separator: ", "))"
    }

    /// What became of a campaign's audience, such as `another audience since … by ann: 350 of 400 were not published by then`.
    package static func sentence(_ change: AudienceReplacement) -> String {
        let origin = "\(WallTime(milliseconds: change.at).text) by \(SafeText.escaped(change.by))"
        if let added = change.added { return "\(counted(added, "recipient")) added at \(origin)" }
        return
            "another audience since \(origin): \(number(change.unpublished)) of \(number(change.recipients)) were not "
            + "published by then"
    }

    /// Such as `taken by the backend 998 412; reached a push service 941 003; nobody to reach 51 220`.
    package static func sentence(_ feedback: FeedbackCount, taken: Int) -> String {
        let parts = [("taken by the backend", taken)] + feedback.parts(taken: taken).map { ($0.name, $0.count) }
        return parts.map { "\($0.0) \(number($0.1))" }.joined(separator: "; ")
    }

    /// What to say of people without an outcome, so many; `nil` when none of them can be notified any more.
    package static func stillNotified(_ count: Int, _ status: CampaignStatus) -> String? {
        guard count > 0, status.mayNotify else { return nil }
        let some = "\(number(count)) of them may still be notified"
        guard status.state == .finished else {
            return
                "\(some), because the campaign is \(status.state.rawValue): cancel it before you reach them in another "
                + "way."
        }
        return "\(some), because what is open is left to its retries: wait for its outcomes before you reach them in "
            + "another way."
    }

    /// Such as `8 people were reached; 22 who were not are in left.csv`.
    package static func sentence(reached: Int, unreached: Int, in place: String) -> String {
        "\(number(reached)) \(reached == 1 ? "person was" : "people were") reached; "
            + "\(number(unreached)) who \(unreached == 1 ? "was not is" : "were not are") in \(place)."
    }

    /// Such as `240/s` or `2.4/s`.
    package static func rate(_ perSecond: Double) -> String {
        if perSecond >= 10 { return "\(number(Int(saturating: perSecond)))/s" }
        if perSecond < 0.1 { return "\((perSecond * 36_000).rounded() / 10)/h" }
        return "\((perSecond * 10).rounded() / 10)/s"
    }
}
