internal import HeraldEvents
internal import HeraldText
internal import HeraldTime
internal import HeraldTools

/// The report as one HTML page: no script, no outside resource, a table beside each picture.
package struct ReportPage: Sendable {
    private let status: CampaignStatus
    private let definition: CampaignDefinition
    /// Outcomes that the campaign's publisher has counted, and that the results topic does not hold any more.
    private let missingCount: Int
    private let report: CampaignReport
    private let isRevealed: Bool
    private let deletedCount: Int64
    private let feedback: FeedbackCount?

    /// A page.
    ///
    /// - Parameters:
    ///   - status: as everything else shows it; it may be older than the report, when the campaign runs.
    ///   - isRevealed: whether the message and what is beside it are in it.
    ///   - feedback: what became of the notifications behind the hub; `nil` when nothing is known of that.
    ///   - deletedCount: records of the results topic that were deleted before they could be read.
    package init(
        _ status: CampaignStatus, _ definition: CampaignDefinition, _ report: CampaignReport,
        isRevealed: Bool, feedback: FeedbackCount? = nil, deletedCount: Int64
    ) {
        self.feedback = feedback
        missingCount = max(0, status.count.known - report.count.known)
        var status = status
        if missingCount == 0 { status.count = report.count }
        self.status = status
        self.definition = definition
        self.report = report
        self.isRevealed = isRevealed
        self.deletedCount = deletedCount
    }

    package var html: String {
        let name = HTMLText.escaped(definition.name)
        return """
            <!DOCTYPE html>
            <html lang="en">
            <head>
            <meta charset="utf-8">
            <meta name="viewport" content="width=device-width, initial-scale=1">
            <meta name="color-scheme" content="light dark">
            <meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
            <title>Campaign \(name)</title>
            <style>
            \(Self.style)
            </style>
            </head>
            <body>
            <main>
            <h1>Campaign \(name)</h1>
            <p>\(verdict)</p>
            \(outcomes)\(devices)
            \(time)
            \(failures)
            \(facts)
            </main>
            </body>
            </html>

            """
    }

    private static let style = """
        :root { --good: #1a7f37; --mended: #57ab5a; --bad: #b3261e; --ended: #8a6d00; --line: #c8ccd0; --back: #fff; --text: #1c1f23; }
        @media (prefers-color-scheme: dark) {
          :root { --good: #3fb950; --mended: #8ddb8c; --bad: #ff7b72; --ended: #d6a51f; --line: #444c56; --back: #15181c; --text: #e6e8ea; }
        }
        body { margin: 0; background: var(--back); color: var(--text); font: 16px/1.5 system-ui, sans-serif; }
        main { max-width: 52rem; margin: 0 auto; padding: 1.5rem; }
        table { border-collapse: collapse; margin: .5rem 0; }
        th, td { padding: .2rem .8rem .2rem 0; text-align: left; border-bottom: 1px solid var(--line); overflow-wrap: anywhere; }
        .n { text-align: right; font-variant-numeric: tabular-nums; overflow-wrap: normal; white-space: nowrap; }
        svg { width: 100%; height: auto; }
        td svg { width: 8rem; height: .8em; }
        svg text { fill: currentColor; font-size: 12px; }
        .grid { stroke: var(--line); }
        .delivered { fill: var(--good); } .recovered { fill: var(--mended); }
        .failed { fill: var(--bad); } .ended { fill: var(--ended); }
        .key svg { width: .8em; height: .8em; } .key span { margin-right: 1rem; }
        dt { font-weight: 600; } dd { margin: 0 0 .4rem; overflow-wrap: anywhere; }
        .wide { overflow-x: auto; }
        @media (max-width: 40rem) {
          main { padding: 1rem; }
          th, td { padding-right: .5rem; font-size: .875rem; overflow-wrap: break-word; }
          .bar { display: none; }
        }
        pre { white-space: pre-wrap; overflow-wrap: anywhere; margin: 0; }
        """

    // MARK: Parts

    private var verdict: String {
        let control = status.order
        let since = status.since.map { " since \(OutcomePicture.time($0))" } ?? ""
        let author = control.map { $0.by.isEmpty ? "" : " by \(HTMLText.escaped($0.by))" } ?? ""
        let reason = control?.reason.map { ": \(HTMLText.escaped($0))" } ?? ""
        var text = status.state.rawValue.prefix(1).uppercased() + status.state.rawValue.dropFirst()
        text += since
        if status.state == .paused || status.state == .cancelled { text += author + reason }
        if let start = CampaignWords.start(status) { text += "; it \(HTMLText.escaped(start))" }
        text +=
            ". \(people)</p>\n<p>As of \(OutcomePicture.time(status.now)), \(Self.number(status.count.delivered)) "
        if let total = status.total { text += "of \(Self.number(max(total, status.count.known))) " }
        text += "notifications were delivered, one for each recipient and push service."
        if missingCount > 0 {
            text +=
                " <strong>The results of \(missingCount) of the \(status.count.known) outcomes are deleted by the topic's "
                + "retention: they are counted here, and missing in what is told of people, time and failures.</strong>"
        } else if deletedCount > 0 {
            text +=
                " <strong>\(deletedCount) results, of this campaign or others, were deleted by the topic's retention before "
                + "they could be read.</strong>"
        }
        return text
    }

    /// How many people were reached: an outcome is one for each push service, and most readers care for people.
    private var people: String {
        let reached = report.people.reached
        guard let all = status.campaign.progress?.everybody else {
            return "\(Self.number(reached)) \(reached == 1 ? "person was" : "people were") reached."
        }
        let left = max(0, all - reached)
        return
            "<strong>\(Self.number(reached)) of \(Self.number(all)) people were reached</strong> on at least "
            + "one push service"
            + (missingCount > 0 ? ", as far as results are left" : "")
            + (left > 0
                ? "; \(Self.number(left)) \(left == 1 ? "was" : "were") not"
                    + (status.isOver && status.open == 0 ? "." : ", or \(left == 1 ? "is" : "are") not yet.")
                : ".")
            + " Reached is who got a notification that the backend accepted."
    }

    private var outcomes: String {
        let count = status.count
        var rows: [(String, Int)] = [("delivered", count.delivered)]
        for one in count.allUnreached where one.outcome.standing == .failed || one.count > 0 {
            let why = one.outcome == .suppressed ? CampaignWords.suppressed(count).map { " (\($0))" } : nil
            rows.append((one.name + (why ?? ""), one.count))
        }
        rows.append(("not known yet", status.open))
        if status.unpublished > 0 { rows.append(("not published", status.unpublished)) }
        var cells = Self.shared(rows)
        if count.recovered > 0 {
            cells.insert(["of these by a replay", Self.number(count.recovered), ""], at: 1)
        }
        return """
            <h2>Outcomes</h2>
            \(omissions)\(Self.table(["outcome", "notifications", "share"], cells, numbers: [1, 2]))\(services)
            """
    }

    /// The parts of a whole as rows of a table: each with its count and share.
    private static func shared(_ parts: [(String, Int)]) -> [[String]] {
        zip(parts, CampaignWords.shares(parts.map(\.1))).map { [$0.0, number($0.1), $1] }
    }

    /// What notifications lacked, whatever the page says of their texts.
    private var omissions: String {
        report.omissions.map { "<p><strong>\(HTMLText.escaped($0))</strong></p>\n" }.joined()
    }

    /// The outcomes of each push service; nothing of one alone, or where they were not counted so.
    private var services: String {
        guard definition.pns.count > 1, let counts = status.count.byPushService else { return "" }
        let known = definition.pns.map { (name: $0, count: counts[$0] ?? OutcomeCount()) }
        let shown = status.count.allUnreached.filter { $0.outcome.standing == .failed || $0.count > 0 }.map { $0.name }
        let rows = known.map { name, count in
            let unreached = count.allUnreached.filter { shown.contains($0.name) }.map { $0.count }
            let open = max(0, status.publishedRecipients - count.known)
            return [HTMLText.escaped(name)] + ([count.delivered] + unreached + [open]).map(Self.number)
        }
        let headings = ["push service", "delivered"] + shown + ["not known yet"]
        return "\n" + Self.table(headings, rows, numbers: Set(1..<headings.count))
    }

    /// What the hub tells; nothing when it tells nothing.
    private var devices: String {
        guard let feedback else { return "" }
        let taken = max(status.count.delivered, feedback.known)
        let rows = Self.shared(feedback.parts(taken: taken).map { ($0.name, $0.count) })
        let outcomes = Self.shared(
            feedback.devices.sorted { ($1.value, $0.key) < ($0.value, $1.key) }.map {
                (HTMLText.escaped($0.key), $0.value)
            })
        let table =
            outcomes.isEmpty
            ? "" : "\n" + Self.table(["outcome", "devices", "share"], outcomes, numbers: [1, 2])
        return """

            <h2>Behind the hub</h2>
            <p>Of \(taken) notifications that the hub has taken.</p>
            \(Self.table(["what became of it", "count", "share"], rows, numbers: [1, 2]))\(table)
            """
    }

    private var time: String {
        let spans = report.timeline.all
        guard !spans.isEmpty else { return "<h2>Over time</h2>\n<p>There is no outcome yet.</p>" }
        let key = ["delivered", "recovered", "ended", "failed"].map { name in
            "<span><svg viewBox=\"0 0 10 10\" aria-hidden=\"true\"><rect class=\"\(name)\" width=\"10\" height=\"10\"/></svg> "
                + "\(Self.legend[name] ?? name)</span>"
        }
        let rows = spans.filter { $0.span.total > 0 }.map { entry in
            [OutcomePicture.time(entry.start)] + OutcomePicture.parts(entry.span).map { Self.number($0.1) }
        }
        return """
            <h2>Over time</h2>
            <figure style="margin:0">
            \(OutcomePicture(timeline: report.timeline).svg)
            <figcaption class="key">\(key.joined())</figcaption>
            </figure>
            <details><summary>The same as a table, for each \(OutcomePicture.words(report.timeline.secondsPerSpan))</summary>
            \(Self.table(["from", "delivered", "by a replay", Self.ended.joined(separator: ", "), "failed"], rows, numbers: [1, 2, 3, 4]))
            </details>
            """
    }

    private static let ended = Outcome.allCases.filter { $0.standing == .ended }.map(\.rawValue)

    private static let legend = [
        "delivered": "delivered", "recovered": "delivered by a replay", "ended": ended.joined(separator: " or "),
        "failed": "failed",
    ]

    private var failures: String {
        let all = report.failures.values.reduce(report.otherFailures, +)
        let most = max(report.sortedFailures.first?.count ?? 0, report.otherFailures)
        let shares = CampaignWords.shares(report.sortedFailures.map(\.count) + [report.otherFailures])
        var rows = zip(report.sortedFailures, shares).map { entry, share in
            let (failure, count) = entry
            return [
                Self.cause(failure),
                failure.status.map { "\($0)" } ?? "", HTMLText.escaped(failure.pushService ?? "all"),
                Self.number(count), share, Self.bar(count, of: most),
                report.details[failure].map { HTMLText.escaped($0) } ?? "",
            ]
        }
        if report.otherFailures > 0 {
            rows.append(
                [
                    "all others", "", "", Self.number(report.otherFailures),
                    shares.last ?? "", Self.bar(report.otherFailures, of: most), "",
                ])
        }
        guard !rows.isEmpty else { return "<h2>Not delivered</h2>\n<p>Nothing has failed.</p>" }
        return """
            <h2>Not delivered\(status.count.recovered > 0 ? " at first" : "")</h2>
            <p>\(replayed(all))The first of each kind has its detail: what the backend said.</p>
            \(Self.table(["reason", "status", "push service", "count", "share", "", "detail"], rows, numbers: [1, 3, 4]))
            """
    }

    /// What became of those by replays; empty without any.
    private func replayed(_ all: Int) -> String {
        let recovered = status.count.recovered
        guard recovered > 0 else { return "" }
        return
            "Of these \(CampaignWords.counted(all, "notification")), a replay has delivered \(Self.number(recovered)) since; "
            + "\(Self.number(max(0, all - recovered))) are left. "
    }

    private static func cause(_ failure: CampaignReport.Failure) -> String {
        if failure.outcome == .deadLettered { return HTMLText.escaped(failure.reason ?? "unknown") }
        return HTMLText.escaped([failure.outcome.rawValue, failure.reason].compactMap(\.self).joined(separator: ": "))
    }

    private func masked(_ text: String) -> String {
        isRevealed ? "<pre>\(HTMLText.escaped(text))</pre>" : "\(text.utf8.count) bytes, not in this report"
    }

    private var facts: String {
        var facts: [(String, String)] = [
            (
                "Started",
                "\(OutcomePicture.time(WallTime(milliseconds: definition.startedAt))) by \(HTMLText.escaped(definition.startedBy))"
            )
        ]
        if let start = definition.start { facts.append(("Scheduled for", HTMLText.escaped(start.words))) }
        facts += [
            ("State", HTMLText.escaped(OutcomePicture.times(CampaignWords.standing(status)))),
            ("Push services", HTMLText.escaped(definition.pns.joined(separator: ", "))),
            ("Topic", HTMLText.escaped(definition.topic)),
            ("Message", masked(definition.message)),
        ]
        facts += (definition.content?.texts ?? []).map { name, text in
            (HTMLText.escaped(name.prefix(1).uppercased() + name.dropFirst()), masked(text))
        }
        if let progress = status.campaign.progress {
            facts.append(
                (
                    "Recipients",
                    "\(Self.number(progress.everybody)), of whom \(Self.number(progress.published)) were published"
                ))
            for former in progress.replacements ?? [] {
                facts.append(("Audience", HTMLText.escaped(OutcomePicture.times(CampaignWords.sentence(former)))))
            }
            if let words = CampaignWords.excluded(status.campaign) {
                facts.append(("Not notified", HTMLText.escaped(words)))
            }
            facts.append(
                (
                    "Left out",
                    "\(CampaignWords.counted(progress.lines.repeats, "repeated line")), \(Self.number(progress.lines.invalid)) invalid"
                        + (progress.emptyLines.map { _ in ", \(Self.number(progress.lines.empty)) empty" } ?? "")
                ))
        }
        if let moment = definition.expiresAt {
            facts.append(("Expires", OutcomePicture.time(WallTime(milliseconds: moment))))
        }
        facts.append(
            (
                "Attempts",
                "\(Self.number(report.attempts)), by the outcomes that are known; the backend may have seen more calls"
            ))
        let items = facts.map { "<dt>\($0.0)</dt><dd>\($0.1)</dd>" }
        return "<h2>The campaign</h2>\n<dl>\n\(items.joined(separator: "\n"))\n</dl>"
    }

    /// In groups of three digits that no line's end parts.
    private static func number(_ number: Int) -> String {
        CampaignWords.number(number).replacing(" ", with: "\u{A0}")
    }

    private static func bar(_ count: Int, of most: Int) -> String {
        let width = max(1, 100 * Double(count) / Double(max(1, most)))
        return "<svg viewBox=\"0 0 100 10\" preserveAspectRatio=\"none\" aria-hidden=\"true\">"
            + "<rect class=\"failed\" width=\"\(Int(width))\" height=\"10\"/></svg>"
    }

    /// A table of cells that are HTML already.
    private static func table(_ headings: [String], _ rows: [[String]], numbers: Set<Int>) -> String {
        func cell(_ tag: String, _ index: Int, _ text: String) -> String {
            // A heading that says nothing is none.
            let tag = text.isEmpty ? "td" : tag
            let scope = tag == "th" ? " scope=\"col\"" : ""
            // A last column without a heading is a picture of the numbers beside it.
            let kind = numbers.contains(index) ? " class=\"n\"" : headings[index].isEmpty ? " class=\"bar\"" : ""
            return "<\(tag)\(scope)\(kind)>\(text)</\(tag)>"
        }
        func row(_ tag: String, _ cells: [String]) -> String {
            "<tr>" + cells.enumerated().map { cell(tag, $0.offset, $0.element) }.joined() + "</tr>"
        }
        return "<div class=\"wide\"><table>\n<thead>\(row("th", headings))</thead>\n<tbody>\n"
            + rows.map { row("td", $0) }.joined(separator: "\n") + "\n</tbody>\n</table></div>"
    }
}

/// Text from anywhere, as text in HTML: nothing in it is markup, and nothing steers the writing direction.
enum HTMLText {
    /// The text for between tags and in quoted attributes.
    static func escaped(_ text: String) -> String {
        var result = ""
        for character in SafeText.escaped(text).unicodeScalars {
            switch character {
            case "&": result += "&amp;"
            case "<": result += "&lt;"
            case ">": result += "&gt;"
            case "\"": result += "&quot;"
            case "'": result += "&#39;"
            default: result.unicodeScalars.append(character)
            }
        }
        return result
    }
}
