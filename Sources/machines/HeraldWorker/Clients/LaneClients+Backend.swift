import HeraldBackend
import HeraldCore
import HeraldEvents
import HeraldHTTP
import HeraldTelemetry
import HeraldTime

/// Calls of the backend, and their log.
extension LaneClients {
    func use(_ settings: LaneSettings) {
        calls.raise(connectionLimit: settings.connectionLimit)
        calls.use(settings.engine.statuses)
    }

    func call(
        _ token: CallToken, now: Moment, event: borrowing DecodedEvent, value: RawSpan, traceparent: [UInt8]
    ) {
        let call = TargetCall(
            token: token.rawValue, pushService: pushServiceNames[Int(token.service)], traceparent: traceparent,
            now: now.wall)
        calls.send(
            call, of: event, value: value, deadline: calls.deadline(now: now.monotonic), now: now.monotonic)
    }

    func answers(_ body: (CallToken, inout EndedCall) -> Void) {
        calls.drain { token, call in
            if case .outage = call.result.verdict { outageDetail = call.result.detail }
            body(CallToken(rawValue: token), &call)
        }
        if let text = calls.takeIgnoredRetryAfter() { troubles.ignoredRetryAfter(text, now: now.monotonic) }
    }

    func redact(_ detail: String, hiding text: RawSpan, named name: String) -> String {
        Redaction.hiding(text, named: name, in: detail)
    }

    func credentialsRefused(sentAt: MonotonicTime, isInOutage: Bool) {
        credentials.refused(sentAt: sentAt, isInOutage: isInOutage)
    }

    func renewCredentials() { credentials.renew { [mailbox] in mailbox.post(.credentialsRenewed) } }

    func announce(_ notice: Notice, outage: Outage?) {
        switch notice {
        case .outageBegan(let reason):
            let trouble = reason == .tokenUnavailable ? credentials.trouble : nil
            var fields: LogFields = ["outage": .string(reason.word)]
            fields["detail"] = outageDetail.map { .string($0) }
            outageDetail = nil
            logger.error(
                "outage: \(trouble.map { "there is no access token: \($0)." } ?? reason.finding(status: outage?.status ?? 0).sentence) "
                    + "Nothing is consumed and nothing is lost; the worker resumes by itself.",
                fields)
        case .outageEnded(let reason):
            logger.info("the backend has recovered, resuming", ["outage": .string(reason.word)])
        case .holdBegan(let hold):
            logger.error(
                "\(hold.finding(name(of: hold)).sentence) It is probed, and goes on by itself.",
                ["pns": .string(name(of: hold)), "status": .int(hold.status)])
        case .holdEnded(let hold):
            logger.info("\(name(of: hold)) is no longer held", ["pns": .string(name(of: hold))])
        case .foreignMetadata(let topic, let partition):
            logger.warning(
                "the group's offset carries metadata that is not Herald's, or damaged; it is ignored, and what was done "
                    + "beyond the offset may be done again",
                ["topic": .string(topic), "partition": .int(Int(partition))])
        case .passedOver(let passed):
            logger.warning(
                [passed].finding(in: GroupAddress(configuration.consumerProperties))?.sentence ?? "",
                [
                    "topic": .string(passed.topic), "partition": .int(Int(passed.partition)),
                    "committed": .int(Int(passed.stood)),
                ])
        case .gaveUp(let events):
            logger.warning(
                "the drain timeout is over; events in progress will be consumed again", ["events": .int(events)])
        // The lane logs it.
        case .rival, .recordRefused, .retriesDetoured: break
        }
    }

    private func name(of hold: ServiceHold) -> String { configuration.engine.decoder.pushServices.names[hold.service] }
}

/// The credentials of a lane's calls, and their renewal when one is refused.
struct LaneCredentials {
    private let source: CredentialSource
    /// `nil` while there is no access token.
    private var access: BackendAccess?
    /// The time since which they are in use.
    private var since = MonotonicTime.distantPast
    /// Whether a call sent since then was refused.
    private var isRefused = false
    /// The reason why there is none.
    private(set) var trouble: TokenTrouble?

    init(source: CredentialSource) {
        self.source = source
    }

    /// Takes the news of the process's credentials; returns the message for the lane, if any.
    mutating func receive(_ news: AccessNews, for calls: BackendCalls, now: MonotonicTime) -> LaneMessage? {
        switch news {
        case .access(let fresh):
            let isOther = access?.revision != fresh.revision || access?.filesRevision != fresh.filesRevision
            access = fresh
            since = now
            isRefused = false
            calls.use(fresh, now: now)
            return isOther ? .credentialsChanged : nil
        case .unavailable(let trouble):
            access = nil
            self.trouble = trouble
            return .credentialsUnavailable
        }
    }

    /// Notes a refused call.
    ///
    /// A token that is refused in an outage may lack a right that was granted since: it is renewed at once.
    mutating func refused(sentAt: MonotonicTime, isInOutage: Bool) {
        guard sentAt >= since else { return }
        isRefused = true
        if isInOutage, let access { source.renew(refused: access.revision) {} }
    }

    /// Renews them, once for all lanes; at once without anything to renew.
    func renew(_ ended: @escaping @Sendable () -> Void) {
        guard let access else { return ended() }
        // A refusal of former credentials is no reason to renew the present ones.
        source.renew(refused: isRefused ? access.revision : access.revision - 1, ended)
    }
}
