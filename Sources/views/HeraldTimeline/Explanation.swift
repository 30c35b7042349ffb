internal import Foundation
package import HeraldEvents
package import HeraldKafka
package import HeraldKernel
internal import HeraldReplay
package import HeraldText
package import HeraldTime
package import HeraldTools

/// Says in sentences where an event stands, why, what happens next, and which command changes it.
///
/// Texts from records are as they came: the caller escapes the sentences before it shows them.
package struct Explanation: Sendable {
    /// What beside the records decides.
    package struct Situation: Sendable {
        package var now: WallTime
        /// Of the request's partition; `nil` when the group has committed nothing, or it is not known.
        package var committedOffset: Int64?
        /// Where the group stands in the partition of its record in a retry topic; `nil` without one, or when that is not
        /// known.
        package var retryStanding: Standing?
        /// What was deleted unread of the partitions of retry topics that may have had its record.
        package var lostRetries: [LostSpan] = []
        /// The partitions of retry topics of which no worker has said yet what is lost.
        package var undecided: Set<TopicPartition> = []
        /// The workers that could call it.
        package var workers = Workers.unknown("nobody was asked")
        /// What the workers that may call it say that it waits for.
        package var waiting = Waiting()
        /// Why push services are not called any more, by what users and recalls say now.
        package var said: [String: StandingWords.Said] = [:]
        /// What its user's word is by now, as a continuation of "the user's word", when it is another one than that by
        /// which it waits for the end of quiet hours.
        package var newWord: String?
        /// What is wrong with its user's record, which counted as an opt-out; `nil` for the user's own word.
        package var wordFault: String?
        /// In which job its dead letter is planned, as far as a job was asked.
        package var planned: PlannedLetter?
        /// What was not read, a phrase each.
        package var gaps: [String] = []
        /// Whether its origin lies in no request topic, as that of a dead letter of others that was replayed.
        package var isForeign = false
        /// The settings file, for the commands to type.
        package var configuration: String?
        /// What the event's campaign is to do.
        package var campaign: CampaignControl?
        /// The workers'.
        package var retry: RetryPolicy
        /// Its delays as people write them.
        package var delays: [DelayName]
        /// What the settings say that an HTTP status means, such as `rejected`; `nil` for those that they do not name.
        package var meaning: @Sendable (_ status: Int) -> String?
        /// The name of the results topic, which forgets.
        package var resultsTopic: String

        package init(
            now: WallTime, retry: RetryPolicy, delays: [DelayName], resultsTopic: String,
            meaning: @escaping @Sendable (Int) -> String?
        ) {
            self.now = now
            self.retry = retry
            self.delays = delays
            self.resultsTopic = resultsTopic
            self.meaning = meaning
        }
    }

    /// Where the group stands in a partition.
    package struct Standing: Sendable, Equatable {
        /// `nil` when it has committed nothing there.
        package var committed: Int64?
        /// The first offset that is not deleted.
        package var begin: Int64

        /// Whether what lies before the beginning was deleted before it was read.
        var hasLost: Bool { committed.map { $0 < begin } ?? false }

        /// Whether the group has passed this offset.
        func hasPassed(_ offset: Int64) -> Bool { committed.map { $0 > offset } ?? false }

        package init(committed: Int64?, begin: Int64) {
            (self.committed, self.begin) = (committed, begin)
        }
    }

    /// What is known of the workers that an event waits for.
    package enum Workers: Sendable, Equatable {
        /// It is not called because of this, or nobody knows whether it is.
        case found([Finding])
        /// Those that were asked say that they deliver.
        case delivering(address: String, warnings: [Finding] = [])

        /// For this reason nothing is known.
        static func unknown(_ reason: String) -> Self {
            .found([Finding(.groupUntold, "whether a worker runs is not known (\(reason))")])
        }

        /// Whether it is certain that no worker delivers.
        var deliverNothing: Bool {
            if case .found(let findings) = self { findings.contains { $0.severity == .bad } } else { false }
        }
    }

    /// What workers say of an event that they may have in memory.
    package struct Waiting: Sendable, Equatable {
        /// The admin ports that answered.
        package var asked: [String] = []
        /// The one that has the event, and what it says of it.
        package var worker: String?
        package var event: WaitingPage.Event?
        /// The group, and its partition that the event lies in, if it has no offset there.
        package var withoutOffset: WithoutOffset?
        /// The workers that did not answer, or not for all of their lanes, and why.
        package var unheard: [Unheard] = []

        package struct WithoutOffset: Sendable, Equatable {
            package var group: String
            package var partition: TopicPartition
        }

        package struct Unheard: Sendable, Equatable {
            package var worker: String
            package var reason: String
        }

        package init() {}

        /// Notes what one of them has answered, of an event with this request record.
        package mutating func note(
            _ answer: Result<WaitingPage, WorkerSurvey.Silence>, of origin: Origin, at worker: String
        ) {
            switch answer {
            case .failure(let silence): unheard.append(Unheard(worker: worker, reason: silence.reason))
            case .success(let page):
                asked.append(worker)
                if let found = page.events.first(where: { $0.origin == "\(origin)" }) {
                    (self.worker, event) = (worker, found)
                } else if !page.silentLanes.isEmpty {
                    let lanes = page.silentLanes.map(String.init).joined(separator: ", ")
                    unheard.append(Unheard(worker: worker, reason: "lane \(lanes) did not answer"))
                }
            }
        }

        /// What the worker that has it says, in sentences; empty when none has it.
        package var sentences: [String] {
            if let withoutOffset {
                return [
                    "The group \(withoutOffset.group) has no offset for \(withoutOffset.partition): no worker has begun with it "
                        + "yet, or its offset was lost (offsets-missing), and nobody consumes it; herald doctor says which."
                ]
            }
            guard let worker, let event else { return [] }
            return ["The worker at \(worker) has it in memory since \(event.takenAt)."] + event.waits.map(\.sentence)
        }

        /// It as `herald find` and `herald explain` have it.
        package var json: [JSONValue.Member] {
            var members: [JSONValue.Member] = []
            if let worker, let event {
                members.append(
                    .init(
                        "waiting",
                        .object([
                            .init("worker", .string(worker)), .init("takenAt", .string(event.takenAt)),
                            .init("waits", .array(event.waits.map(\.json))),
                        ])))
            }
            if let withoutOffset {
                members.append(.init("withoutOffset", .string("\(withoutOffset.partition)")))
            }
            guard !unheard.isEmpty else { return members }
            let silent = unheard.map { silent in
                JSONValue.object([.init("worker", .string(silent.worker)), .init("reason", .string(silent.reason))])
            }
            return members + [.init("unheardWorkers", .array(silent))]
        }
    }

    /// A dead letter that a job is to replay or to resolve, and has not yet.
    package struct PlannedLetter: Sendable, Equatable {
        package var job: String
        package var wait: WaitingPage.Wait

        package init(job: String, wait: WaitingPage.Wait) {
            self.job = job
            self.wait = wait
        }

        fileprivate var json: JSONValue { ["job": .string(job), "wait": wait.json] }
    }

    /// In their order.
    package private(set) var sentences: [String] = []
    /// What the sentences name to type, in their order.
    package private(set) var commands: [String] = []

    private let event: EventTimeline
    private let situation: Situation
    /// Whether nothing is known of what was done about a dead letter.
    private var isFateMissing = false

    package init(of event: EventTimeline, _ situation: Situation) {
        self.event = event
        self.situation = situation
        sayPublication()
        for name in event.outcomes.keys.sorted() {
            if let result = event.outcomes[name] { say(result, of: name) }
            sayRepeats(of: name)
        }
        if event.refusal != nil { sayMalformed() }
        if let planned = situation.planned {
            sentences.append("Its dead letter is planned in job \(planned.job): \(planned.wait.sentence)")
        }
        if !event.open.isEmpty, !event.isMalformed { sayOpen() }
        if published == nil, !event.steps.isEmpty, !event.isMalformed, !situation.isForeign {
            sentences.append(
                "Its request is not among what was read: whether it was for further push services is not known.")
        }
        if !situation.gaps.isEmpty, !event.open.isEmpty || published == nil || isFateMissing {
            sentences.append("Not read: \(situation.gaps.joined(separator: "; ")).")
        }
    }

    private var published: TimelineStep? {
        event.steps.first { if case .published = $0.kind { true } else { false } }
    }

    /// It as `herald explain -o json` has it.
    package var json: JSONValue {
        .object(
            [
                .init("sentences", .array(sentences.map(JSONValue.string))),
                .init("commands", .array(commands.map(JSONValue.string))), .init("event", event.json),
            ] + situation.said.members + situation.waiting.json
                + (situation.planned.map { [.init("planned", $0.json)] } ?? []))
    }

    // MARK: What it is

    private mutating func sayPublication() {
        let whose = event.user.map { " for \($0)" } ?? ""
        var text = "Event \(event.id ?? "\(event.origin)")\(whose)"
        if situation.isForeign {
            text += " comes from a record of a topic that is no request topic, and was replayed"
        } else if let published {
            text += " was published at \(published.at.text)"
        } else if !situation.gaps.isEmpty {
            text += " was published, at a time that is not among what was read,"
        } else {
            text += " was published before what the topics still have"
        }
        text += situation.isForeign ? ": " : " to "
        text += "\(event.origin.topic), partition \(event.origin.partition), offset \(event.origin.offset)"
        if let source = event.source { text += ", by \(source)" }
        if let campaign = event.campaign { text += ", in the campaign \(campaign)" }
        sentences.append(text + ".")
        if let fault = event.fault {
            sentences.append("Its record \(fault.wordsOfOne): \(fault.consequence). For later ones, \(fault.remedy).")
        }
        let replays = event.replays
        if replays > 0 { sentences.append("It was replayed \(Self.times(replays)).") }
    }

    private mutating func sayMalformed() {
        let letter = event.letter(of: nil)
        let because = letter?.detail.map { ": \($0)" } ?? ""
        if event.isMalformed, letter?.fate == nil {
            sentences.append(
                "It is no event that can be delivered\(because). No call was made. \(sayUnknownFate(isKnown: letter != nil)) "
                    + "Neither replay it nor publish it again before you know that.")
        } else if let words = letter?.fate?.words {
            sentences.append(
                "It was no event that can be delivered\(because). Its dead letter was \(words)"
                    + "\(letter?.fate?.outcome == .failedAgain ? "" : "; do not publish it again").")
        } else if event.isMalformed {
            sentences.append(
                "It is no event that can be delivered\(because). No call was made. Correct it where it is published, and "
                    + "publish it again, or replay the dead letter with a correction (herald dlq replay --set, --edit)."
            )
        } else {
            sentences.append(
                "At first it was no event that can be delivered\(because); then it was corrected and replayed.")
        }
        showDeadLetter()
    }

    // MARK: What became of it

    private mutating func say(_ result: NotificationResult, of name: String) {
        switch result.outcome {
        case .delivered:
            sentences.append(
                "\(name): the backend took it at \(result.completedAt.text)"
                    + (result.status.map { " (\($0))" } ?? "") + calls(result) + "." + repetition(name)
                    + (result.omitted.isEmpty
                        ? ""
                        : " It was not given \(result.omitted.words): backend.body is text, or the push service has no place "
                            + "for it.")
                    + (result.backendID.map { " " + report(on: $0) } ?? "") + quietIgnored(result))
        case .deadLettered: sayDead(result, name)
        case .expired:
            sentences.append(
                "\(name): it expired at \(result.completedAt.text)\(calls(result)), and was not delivered: "
                    + "\(whyExpired(result)).")
        case .cancelled:
            sentences.append("\(name): it was not sent, because its campaign was cancelled\(calls(result)).")
        case .suppressed:
            let why =
                switch result.suppression {
                case .optedOut where situation.wordFault != nil: "a broken record counts as the user's opt-out of it"
                case .optedOut: "the user has opted out of it"
                case .recalled: "it was recalled"
                case .quietExpired: "it would have expired during the user's quiet hours"
                case .capped: "its user had as many promotional notifications as preferences.caps allows"
                case nil: "of a reason that the result does not name"
                }
            let fault = result.suppression == .optedOut ? situation.wordFault : nil
            sentences.append(
                "\(name): it was not sent, because \(why)\(result.detail.map { " (\($0))" } ?? "")"
                    + "\(fault.map { ": \($0)" } ?? "")\(calls(result)).")
        case .duplicate:
            let first = result.firstOutcome.map { ", which was \($0.rawValue)" } ?? ""
            sentences.append(
                "\(name): it was not sent, because the same event (source, id and user) came before\(first). "
                    + "delivery.dedupe decides how long that counts.")
        }
    }

    private mutating func sayRepeats(of name: String) {
        let results = event.results(of: name)
        guard results.count > 1 else { return }
        let words = results.map { "\($0.outcome.rawValue) at \($0.completedAt.text)" }.joined(separator: ", ")
        sentences.append(
            "\(name): it has \(results.count) results (\(words)), so that it may have been notified again, with the same "
                + "idempotency key. delivery.guarantee: at-least-once allows that; else a topic that it went through was "
                + "deleted and made anew, or the group's offsets were set back.")
    }

    private mutating func sayDead(_ result: NotificationResult, _ name: String) {
        let because = result.detail.map { ": \($0)" } ?? ""
        let letter = event.letter(of: name)
        let done = letter?.fate?.words
        var text =
            "\(name): it \(done == nil ? "is" : "was") a dead letter since \(result.completedAt.text)\(calls(result)), "
        switch result.reason {
        case .rejected:
            let status = result.status.map { "\($0)" } ?? "an answer"
            text += "because the backend answered \(status)\(because). "
            if let number = result.status {
                text += situation.meaning(number).map { "By backend.statuses \(number) counts as \($0), and" } ?? "It"
                text += " is not tried again. "
            }
        case .attemptsExhausted:
            text +=
                "because all \(situation.retry.mostCalls) calls that retry.immediate and retry.delays allow have failed\(because). "
        case .timeExhausted: text += "because the time of retry.maxElapsed was over\(because). "
        case .replaysExhausted: text += "because it was replayed as often as retry.replays allows. "
        case .malformed, .invalid, .oversized, .expired, .unanswered, .unreadable:
            let reason = result.reason?.rawValue ?? ""
            text += "because it is \(reason)\(because). "
        case nil: text += "for a reason that the result does not name\(because). "
        }
        let mayHaveArrived = event.calls(of: name).contains(where: \.mayHaveArrived)
        guard letter?.fate != nil else {
            sentences.append(
                text + sayUnknownFate(isKnown: letter != nil) + " Do not replay it before you know that"
                    + (mayHaveArrived ? ". \(Self.doubt)" : ": whom it has reached would be notified again."))
            showDeadLetter()
            return
        }
        guard let done else {
            let isPlanned = situation.planned != nil
            if let said = situation.said[name] {
                sentences.append(
                    text + (isPlanned ? "A job is at work on it, and its" : "A")
                        + " replay ends as suppressed, without a call: \(said.words).")
                showDeadLetter()
                return
            }
            sentences.append(
                text + (isPlanned ? "A job is at work on it." : "When the cause is gone, replay it.")
                    + (mayHaveArrived ? " \(Self.doubt)" : ""))
            showDeadLetter(isReplayable: !isPlanned)
            return
        }
        text += "Its dead letter was \(done)"
        if [.delivered, .suppressed].contains(letter?.fate?.outcome) { text += ": nothing is left to do for it" }
        sentences.append(text + ".")
        showDeadLetter(isReplayable: letter?.fate?.isOpen ?? false)
    }

    /// What is to be known of a push service that was called without an answer, before it is called again.
    private static let doubt =
        "A call of it got no answer, so the person may have got it: a backend that honours the idempotency key sends "
        + "nothing twice, another notifies again."

    /// That the person may have got more than one.
    private func repetition(_ name: String) -> String {
        let count = event.calls(of: name).count(where: \.mayHaveArrived)
        guard count > 0 else { return "" }
        return " Before that \(count == 1 ? "a call" : "\(count) calls") of it got no answer, so it may have come more "
            + "than once, unless the backend honours the idempotency key."
    }

    /// That nothing is known of what was done about the dead letter.
    ///
    /// - Parameter isKnown: whether the dead letter itself is among what was read.
    private mutating func sayUnknownFate(isKnown: Bool) -> String {
        isFateMissing = true
        let missing = isKnown ? "the state topic was not read" : "its dead letter is not among what was read"
        return "Whether it was replayed or resolved already is not known: \(missing)."
    }

    private mutating func showDeadLetter(isReplayable: Bool = false) {
        guard let place = event.deadLetter.map({ "\($0.record.partition):\($0.record.offset)" }) else { return }
        add("herald dlq show \(place)")
        if isReplayable { add("herald dlq replay \(place)") }
    }

    /// What the hub said of a message that it took.
    private func report(on backendID: String) -> String {
        guard let feedback = event.feedback(on: backendID) else {
            return "What became of its devices is not known yet; herald feedback asks the hub."
        }
        switch feedback.conclusion {
        case .unknown: return "The hub does not know the message \(backendID) any more."
        case .tooOld: return "The hub had not finished with it after half an hour."
        case .final: break
        }
        let others = feedback.outcomes.filter { $0.key != NotificationFeedback.success && $0.value > 0 }
        let rest = others.sorted { $0.key < $1.key }.map { "\($0.value) \($0.key)" }.joined(separator: ", ")
        guard feedback.reached > 0 else {
            let why = rest.isEmpty ? feedback.state.map { " (\($0))" } ?? "" : " (\(rest))"
            return "It reached no device\(why): no push service took it for one of this user's devices."
        }
        let devices = feedback.reached == 1 ? "1 device" : "\(feedback.reached) devices"
        return "A push service took it for \(devices)" + (rest.isEmpty ? "." : "; others: \(rest).")
    }

    /// Whether its expiry had come, or only no call could come before it.
    private func whyExpired(_ result: NotificationResult) -> String {
        if let detail = result.detail { return detail }
        guard let expiresAt else { return "no call could come before its expiresAt" }
        return result.completedAt >= expiresAt
            ? "its expiresAt, \(expiresAt.text), had passed"
            : "its next call would have come after its expiresAt, \(expiresAt.text)"
    }

    private func calls(_ result: NotificationResult) -> String {
        guard let attempts = result.attempts else { return "" }
        return attempts == 0
            ? ", without a call\(result.replays > 0 ? " of its replay" : "")"
            : ", after \(attempts) call\(attempts == 1 ? "" : "s")"
    }

    // MARK: What it waits for

    private mutating func sayOpen() {
        let names = event.open.joined(separator: ", ")
        if let delay = event.delay {
            if sayLoss(names) { return sayWaiting() }
            sayDelay(delay, names)
        } else {
            sayRequest(names)
        }
        sayWaiting()
        for name in event.open {
            guard let said = situation.said[name] else { continue }
            sentences.append(
                isBeingCalled(name)
                    ? "\(name): that call goes on; a further one would end as suppressed, uncalled: \(said.words)."
                    : "\(name): it will not be called: \(said.words). It ends as suppressed.")
        }
        guard let expiresAt, isToBeCalled || expiresAt <= situation.now else { return }
        if expiresAt <= situation.now {
            sentences.append("Its expiresAt, \(expiresAt.text), has passed: it ends as expired.")
        } else if let notBefore, notBefore >= expiresAt {
            sentences.append(
                "It is never called: its notBefore, \(notBefore.text), is not before its expiresAt, \(expiresAt.text). It ends "
                    + "as expired.")
        } else if let until = event.delay?.until, until >= expiresAt {
            sentences.append("Its expiresAt, \(expiresAt.text), comes first: it ends as expired.")
        } else {
            sentences.append("After \(expiresAt.text) it is not sent any more (its expiresAt).")
        }
    }

    /// Whether a worker says that a call of this push service is under way: words do not stop it.
    private func isBeingCalled(_ name: String) -> Bool {
        situation.waiting.event?.waits.contains { wait in
            wait.reason == WaitReason.Kind.calling.word && wait.pushServices.contains(name)
        } ?? false
    }

    /// Whether nobody has said of one of the push services without an outcome that it is not to be called.
    private var isToBeCalled: Bool { event.open.contains { situation.said[$0] == nil } }

    private var expiresAt: WallTime? { moments.expiresAt }
    private var notBefore: WallTime? { moments.notBefore }
    private var moments: (notBefore: WallTime?, expiresAt: WallTime?) {
        if case .published(let notBefore, let expiresAt, _) = published?.kind {
            (notBefore, expiresAt)
        } else {
            (nil, nil)
        }
    }

    /// Says how it was lost, if it was.
    private mutating func sayLoss(_ names: String) -> Bool {
        let loss = EventLoss(
            of: event, standing: situation.retryStanding, lost: situation.lostRetries,
            committed: situation.committedOffset, undecided: situation.undecided, waiting: situation.waiting)
        guard let loss else { return false }
        if case .undecided = loss {
            sentences.append("\(names): \(loss.words)")
        } else {
            sentences.append("\(names): \(loss.words) \(Self.again)")
        }
        if loss.isOpen { add("herald offsets skip-lost --dry-run") }
        return true
    }

    /// An engine cannot tell a lost retry from one that waits or, after a restart, has ended.
    private static let again =
        "If it is still to be sent, publish it again under another id: under its own it counts as a duplicate of the lost "
        + "one for as long as that is remembered (delivery.dedupe.window). herald account counts what is lost."

    private func quietIgnored(_ result: NotificationResult) -> String {
        switch result.quietIgnored {
        case .noZone: " Its user has quiet hours that held nothing, because nobody names a time zone."
        case .unknownZone:
            " Its user has quiet hours that held nothing, because the worker does not know their time zone."
        case nil: ""
        }
    }

    private mutating func sayDelay(_ delay: EventTimeline.Delay, _ names: String) {
        var text = "\(names): it waits in \(delay.record.topic)"
        if let until = delay.until { text += " until \(until.text)" }
        text += ", \(cause(delay.reason, delay.detail))."
        sentences.append(text)
        if isToBeCalled, delay.reason == RetryReason.paused.rawValue || situation.campaign?.state == .paused {
            sayCampaign()
            return
        }
        if let until = delay.until, until < situation.now {
            sentences.append("That moment has passed. " + workers(isNext: true))
        } else if situation.workers.deliverNothing {
            sentences.append(workers(isNext: false))
        }
        guard isToBeCalled else { return }
        sayNextCall(at: max(delay.until ?? situation.now, situation.now))
        if event.open.flatMap(event.calls).contains(where: \.mayHaveArrived) { sentences.append(Self.doubt) }
    }

    private mutating func sayNextCall(at moment: WallTime) {
        if let expiresAt, moment >= expiresAt { return }
        let made =
            event.steps.reduce(into: [String: Int]()) { counts, step in
                if case .called(let call) = step.kind { counts[call.pushService, default: 0] += 1 }
            }.filter { event.open.contains($0.key) && situation.said[$0.key] == nil }.values.max() ?? 0
        let next = made + 1
        guard next <= situation.retry.mostCalls else { return }
        let (again, too) = made == 0 ? ("", "") : (" again", " too")
        sentences.append(
            "Then it is called\(again): call \(next) of at most \(situation.retry.mostCalls) for each push service. If that fails"
                + "\(too), \(afterFailure(of: next, at: moment)).")
    }

    /// What follows the call of this number when it fails for now, as the workers decide it of a record in a retry topic.
    private func afterFailure(of number: Int, at moment: WallTime) -> String {
        let first = event.open.flatMap(event.calls).map(\.at).min() ?? moment
        let failure = RetryPolicy.Failure(
            attempts: number, isFirstStay: false, firstAttemptAt: first, expiresAt: expiresAt)
        switch situation.retry.decide(failure, now: moment, quickAllowed: true, entropy: 0) {
        case .attemptsExhausted: return "it becomes a dead letter"
        case .timeExhausted:
            return "it becomes a dead letter, because a later call would be more than retry.maxElapsed after the first"
        case .expired: return "it ends as expired, because no delay ends before its expiresAt"
        case .quick(let wait), .delayed(let wait):
            if let delay = situation.delays.first(where: { $0.length == wait }) {
                return "it waits \(delay) (retry.delays)"
            }
            let next = situation.retry.delay(after: number).map { "\(situation.delays[$0])" } ?? "the next delay"
            return
                "it waits \(wait.wholeSeconds) s, a part of the time that is left: \(next) (retry.delays) ends behind its "
                + "expiresAt"
        }
    }

    private mutating func sayRequest(_ names: String) {
        if isToBeCalled, let state = situation.campaign?.state, state != .running { sayCampaign() }
        if let notBefore, notBefore > situation.now {
            sentences.append("\(names): it is not to be sent before \(notBefore.text) (its notBefore).")
        }
        guard let committed = situation.committedOffset else {
            sentences.append(
                "\(names): there is no outcome yet, and the workers' group has committed nothing in its partition. "
                    + workers(isNext: false))
            return
        }
        guard let place = event.lastPublication else { return sayForgotten(names) }
        // A replay lies in another place than its origin.
        guard place == event.origin, committed > place.offset else {
            let ahead = place == event.origin ? place.offset - committed : 0
            sentences.append(
                "\(names): there is no outcome yet. "
                    + (ahead > 0
                        ? "At most \(ahead) \(ahead == 1 ? "record is" : "records are") before it in its partition. "
                        : "The workers have committed what is before it in its partition. ")
                    + workers(isNext: ahead == 0))
            return
        }
        sayForgotten(names)
    }

    /// What the group and its workers say of themselves, and what to look at.
    private mutating func workers(isNext: Bool) -> String {
        switch situation.workers {
        case .found(let findings):
            for finding in findings { add(finding.command.map(Selection.quoted).joined(separator: " ")) }
            return findings.sentences
        case .delivering(let address, let warnings):
            return "The worker at \(address) says that it delivers"
                + (isNext && situation.waiting.asked.isEmpty
                    ? ": it may be calling it just now, or its limits hold it back." : ".")
                + (warnings.isEmpty ? "" : " It warns: \(warnings.sentences)")
        }
    }

    /// What the worker that has it in memory says that it waits for, and which workers did not answer.
    private mutating func sayWaiting() {
        let waiting = situation.waiting
        if let found = waiting.event {
            sentences += waiting.sentences
            for wait in found.waits {
                for change in wait.changes where change.hasPrefix("herald ") {
                    add(event.campaign.map { change.replacingOccurrences(of: "NAME", with: $0) } ?? change)
                }
            }
        } else if !waiting.asked.isEmpty {
            sentences.append(
                waiting.unheard.isEmpty
                    ? "No worker has it in memory at this moment."
                    : "None of the workers that answered has it in memory.")
        }
        for silent in waiting.unheard {
            sentences.append("The worker at \(silent.worker) was not heard (\(silent.reason)).")
        }
    }

    private mutating func sayForgotten(_ names: String) {
        // What a worker has in memory is told with it.
        if sayLoss(names) || situation.waiting.event != nil { return }
        sentences.append(
            "\(names): the group has passed it, and no outcome of it was found: \(situation.resultsTopic) does not have it "
                + "any more, it lies outside of what was read (--since, --all-partitions), its retry was deleted "
                + "before it was read and skipped (herald offsets skip-lost), or another program committed the group's offsets, "
                + "and it was never called (herald_offsets_passed_over_total, and the workers' logs).")
    }

    private mutating func sayCampaign() {
        guard let control = situation.campaign, let name = event.campaign else {
            sentences.append("It goes on when its campaign does.")
            return
        }
        let reason = control.reason.map { " (\($0))" } ?? ""
        switch control.state {
        case .running: break
        case .paused:
            sentences.append(
                "Its campaign was paused at \(control.at.text) by \(control.by)\(reason). It is called when the campaign is "
                    + "resumed.")
            add("herald campaign resume \(name)")
        case .cancelled:
            sentences.append(
                "Its campaign was cancelled at \(control.at.text) by \(control.by)\(reason): it ends uncalled.")
        }
    }

    private mutating func add(_ command: String) {
        let configuration = command.hasPrefix("herald ") ? situation.configuration : nil
        let whole = command + (configuration.map { " --config \(Selection.quoted($0))" } ?? "")
        if !command.isEmpty, !commands.contains(whole) { commands.append(whole) }
    }

    private func cause(_ reason: String?, _ detail: String?) -> String {
        switch reason.flatMap(RetryReason.init(rawValue:)) {
        case .transient: "because its last call failed in a way that can pass\(lastCall)"
        case .throttled: "because the backend asked to wait, or bears fewer calls a second\(lastCall)"
        case .held: "because \(detail ?? "its push service was held: it refused every call")\(lastCall)"
        case .notBefore: "because its notBefore is not reached"
        case .blocked where detail != nil: "\(detail ?? "")"
        case .blocked: "because it would hold up others, which go first"
        case .paused: "because its campaign is paused"
        case .quietHours:
            "because it is promotional, and its user "
                + (situation.newWord.map { new in
                    "did not want to be disturbed before then. By now the user's word \(new): it is looked at anew when it comes "
                        + "back from its retry topic"
                } ?? "does not want to be disturbed before then")
        case .preferences:
            "because it is promotional, and its worker did not know what its user had said last (preferences.maxLag)"
        case nil: "for a reason that its record does not name"
        }
    }

    private var newestCall: AttemptEntry? {
        event.open.flatMap(event.calls).max { $0.at < $1.at }
    }

    /// How the newest call ended of those that have no outcome, in brackets; nothing when no record tells.
    private var lastCall: String {
        guard let last = newestCall else { return "" }
        let answer =
            last.status.map { "\(last.pushService) was answered \($0)" }
            ?? "\(last.pushService) got no answer" + (last.error.map { ": \($0)" } ?? "")
        return " (\(answer) at \(last.at.text))"
    }

    private static func times(_ count: Int) -> String { count == 1 ? "once" : "\(count) times" }
}

extension [String: StandingWords.Said] {
    /// They as `herald find` and `herald explain` have them, by push services.
    package var members: [JSONValue.Member] {
        isEmpty ? [] : [.init("lastWord", .object(sorted { $0.key < $1.key }.map { .init($0.key, $0.value.json) }))]
    }
}
