internal import HeraldEvents
package import HeraldText
package import HeraldTime
package import HeraldTools

/// How a plan is carried out.
package struct ReplayOptions: Sendable {
    package var ramp = Ramp.standard
    /// A larger share of failed outcomes stops the replay; 0 stops at the first.
    package var stopShare = 0.2
    /// Dead letters per second at most; `nil` for as many as the outcomes allow.
    package var rate: Double?
    /// How long a batch's outcomes are waited for.
    package var patience = Duration.seconds(600)
    /// How long after a batch it is watched what comes back to a topic of others.
    package static let returnPatience = Duration.seconds(10)
    package var reason: String?
    /// Whether what was replayed before is replayed once more.
    package var isAgain = false
    /// Which dead letters, as it was given, for the audit.
    package var selection = ""

    package init() {}
}

/// An operator has a replay publish nothing for now.
package struct ReplayPause: Sendable, Equatable {
    package var by: String
    package var since: WallTime

    package init(by: String, since: WallTime) {
        self.by = by
        self.since = since
    }
}

/// How far a replay is.
package struct ReplayProgress: Sendable, Equatable {
    /// The batch, from 1.
    package var batch = 0
    package var planned = 0
    /// How many are replayed: published and marked.
    package var replayed = 0
    package var delivered = 0
    /// Not called, because of the users' words or a recall.
    package var suppressed = 0
    package var failed = 0
    package var open = 0
    /// Of these, those that wait for the end of their users' quiet hours, and when the first of them is called.
    package var asleep = 0
    package var asleepUntil: WallTime?
    /// Of the plan, what another operator has replayed or resolved meanwhile, or has expired.
    package var skipped = 0
    /// What is too large for its request topic, even without its history; it stays as it is.
    package var tooLarge = 0

    package init() {}

    /// Such as `, 6 suppressed`, behind what was delivered; empty without any.
    package var suppressedWords: String { suppressed > 0 ? ", \(suppressed) suppressed" : "" }

    /// Such as ` (2 of them in quiet hours, the first until …)`, behind what is open; empty without any.
    package var asleepWords: String {
        guard asleep > 0 else { return "" }
        return " (\(asleep) of them in quiet hours" + (asleepUntil.map { ", the first until \($0.text)" } ?? "") + ")"
    }
}

/// What a replay leaves behind.
package struct ReplayReport: Sendable {
    package var job: String
    package var end: PublicationEnd
    package var progress: ReplayProgress
}

extension ReplayProgress {
    /// The counts that are reported, with their names.
    package var counts: [(name: String, count: Int)] {
        [
            ("replayed", replayed), ("skipped", skipped), ("delivered", delivered),
            ("suppressed", suppressed), ("failed", failed), ("open", open),
            ("tooLarge", tooLarge),
        ]
    }
}

extension ReplayReport {
    /// How the job ended, in a sentence or two; what a broker said in it is as it came.
    ///
    /// - Parameters:
    ///   - again: how the rest is replayed.
    ///   - watchedTopic: where what others could not process comes back; `nil` where workers report outcomes.
    package func sentence(again: String, watchedTopic: String?) -> String {
        func counted(_ count: Int, _ noun: String) -> String { "\(count) \(noun)\(count == 1 ? "" : "s")" }
        let done = "\(progress.replayed) of \(counted(progress.planned, "dead letter")) replayed"
        let (delivered, failed) = (progress.delivered, progress.failed)
        let failing =
            watchedTopic.map { "\(failed) of them came back; see herald dlq list --topic \($0) --where 'replays > 0'" }
            ?? "\(failed) of \(failed + delivered + progress.suppressed) outcomes are bad; see herald dlq list --since 10m"
        var sentence = end.sentence(
            published: done,
            outcomes: watchedTopic == nil
                ? "\(counted(delivered, "notification")) delivered\(progress.suppressedWords), \(failed) failed, \(progress.open) open\(progress.asleepWords)"
                : "\(failed) came back",
            open: counted(progress.open - progress.asleep, "notification"), rest: "; \(again)", rival: "replay",
            failing: "Stopped, \(done): \(failing).")
        if progress.skipped > 0 {
            let were = progress.skipped == 1 ? "1 other was" : "\(progress.skipped) others were"
            sentence += " \(were) replayed or resolved by somebody else meanwhile, or expired."
        }
        guard end == .complete, progress.tooLarge > 0 else { return sentence }
        return sentence + " \(counted(progress.tooLarge, "dead letter")) too large for max.message.bytes of "
            + (watchedTopic == nil ? "the request topic." : "their topic.")
    }

    /// It as JSON, as `herald dlq replay` writes it before the plan.
    package var members: [JSONValue.Member] {
        [.init("job", .string(job)), .init("end", .string(end.name(.letters)))]
            + progress.counts.map { JSONValue.Member($0.name, .integer($0.count)) }
            + (progress.asleep == 0
                ? []
                : [
                    .init("inQuietHours", .integer(progress.asleep)),
                    .init("quietUntil", .text(progress.asleepUntil?.text)),
                ])
    }
}
