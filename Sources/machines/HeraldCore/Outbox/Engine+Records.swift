public import HeraldEvents
import HeraldTime

/// The parts of a record that Herald writes; its key, and the value of a retry or dead letter, are the original's.
public struct OutputRecord: Sendable {
    /// A result's value, or that of a record of caps.
    public var value: [UInt8] = []
    /// The key of a record of caps.
    public var key: [UInt8] = []
    /// A retry's or dead letter's headers.
    public var headers = HeaderList()
    /// Whether the original's key and value are omitted.
    public var omissions: Omissions = []

    fileprivate var diagnostics = Diagnostics()

    /// An empty record.
    public init() {}

    /// Forgets everything but the memory.
    public mutating func removeAll() {
        value.removeAll(keepingCapacity: true)
        key.removeAll(keepingCapacity: true)
        headers.removeAll(keepingCapacity: true)
        omissions = []
    }
}

/// The diagnostics of a retry or dead letter for people; its memory is reused for each record.
private struct Diagnostics {
    var detail: [UInt8] = []
    var history: [UInt8] = []
    var attempts = AttemptHistoryWriter()

    mutating func removeAll() {
        detail.removeAll(keepingCapacity: true)
        history.removeAll(keepingCapacity: true)
    }
}

extension Engine {
    /// The topic that a record goes to.
    public func topic(of production: Production) -> String {
        switch production.content {
        case .result: return configuration.topics.results
        case .caps: return configuration.topics.caps
        case .copy(let copy):
            guard case .retry(let delay, _, _) = copy.destination else { return configuration.topics.deadLetter }
            return configuration.topics.retryTopic(configuration.retryDelays[delay])
        }
    }

    /// Writes Herald's parts of a record.
    ///
    /// - Parameters:
    ///   - keyByteCount: The length of its key.
    ///   - value: The value of the record that is settled.
    ///   - original: Its headers; not needed for a result.
    public func write(
        _ production: Production, keyByteCount: Int, value: RawSpan, headers original: HeaderList,
        into output: inout OutputRecord
    ) {
        switch production.content {
        case .result(let final, let service):
            // No user's name is that long: such a key names no user, and a result is small for any event.
            if keyByteCount > Omissions.longestKey { output.omissions = .key }
            if final.outcome.hasDetail {
                output.diagnostics.removeAll()
                withSlot(production.slot.index) { slot in
                    appendDetail(of: production, in: slot, value: value, to: &output.diagnostics.detail)
                }
            }
            writeResult(
                final, service: service, production, value: value, diagnostics: output.diagnostics, to: &output.value)
        case .caps: writeCaps(of: production.slot.index, value: value, into: &output)
        case .copy(let copy):
            output.diagnostics.removeAll()
            withSlot(production.slot.index) { slot in
                appendDetail(of: production, in: slot, value: value, to: &output.diagnostics.detail)
                appendHistory(of: copy, in: slot, value: value, to: &output.diagnostics)
                output.omissions = writeHeaders(
                    copy, production, of: slot, keyByteCount: keyByteCount, value: value, original: original,
                    diagnostics: output.diagnostics, to: &output.headers)
            }
        }
    }

    private func writeResult(
        _ final: FinalOutcome, service: Int?, _ production: Production, value: RawSpan,
        diagnostics: borrowing Diagnostics, to output: inout [UInt8]
    ) {
        let slot = production.slot.index
        let first: Outcome? = if case .duplicate(let first) = final { first } else { nil }
        let reason: DeadLetterReason? = if case .deadLettered(let reason) = final { reason } else { nil }
        let suppression: SuppressionReason? = if case .suppressed(let reason) = final { reason } else { nil }
        let facts = ResultFacts(
            outcome: final.outcome, firstOutcome: first, pushService: service,
            status: production.status == 0 ? nil : production.status, reason: reason,
            suppression: suppression, quietIgnored: events[slot].quietIgnored,
            attempts: service == nil ? nil : production.attempts,
            firstAttemptAt: events[slot].firstAttemptAt, lastAttemptAt: service.flatMap { lastAttempt(slot, $0) },
            preferencesOffset: service.flatMap { events.services[events.place(slot, $0)].preferencesOffset },
            completedAt: production.decidedAt, omitted: omitted(from: slot, final.outcome, service))
        let backendID = configuration.keepsBackendIDs && final == .delivered ? backendID(slot, service) : nil
        withSlot(slot) { slot in
            ResultEncoder.append(
                facts, of: slot.event, value: value, recordTopic: partitions.topicName(of: slot.partition),
                pushServices: configuration.decoder.pushServices,
                detail: final.outcome.hasDetail ? diagnostics.detail.span.bytes : nil, backendID: backendID?.span.bytes,
                to: &output)
        }
    }

    /// When the last call to a push service was made, unless it was the event's first.
    private func lastAttempt(_ slot: Int32, _ service: Int) -> WallTime? {
        let moment = events.services[events.place(slot, service)].calledAt
        return moment == events[slot].firstAttemptAt ? nil : moment
    }

    /// The parts that a delivered notification lacks.
    func omitted(from slot: Int32, _ outcome: Outcome, _ service: Int?) -> ContentFields {
        guard outcome == .delivered, let service else { return [] }
        return configuration.omitted(events[slot].event.content, from: service)
    }

    private func backendID(_ slot: Int32, _ service: Int?) -> [UInt8]? {
        service.flatMap { events.services[events.place(slot, $0)].detail }.map { Array($0.utf8) }
    }

    private func writeHeaders(
        _ copy: EventCopy, _ production: Production, of slot: borrowing Slot, keyByteCount: Int, value: RawSpan,
        original: HeaderList, diagnostics: borrowing Diagnostics, to output: inout HeaderList
    ) -> Omissions {
        let destination: DeliveryHeaders.Destination =
            switch copy.destination {
            case .deadLetter(let reason): .deadLetter(reason, at: production.decidedAt)
            case .retry(_, let dueAt, let reason):
                .retry(reason ?? Self.retryReason(in: original) ?? .transient, dueAt: dueAt)
            }
        let facts = DeliveryHeaders(
            destination: destination, pushServices: copy.services, attempts: production.attempts,
            originTimestamp: slot.publishedAt,
            firstAttemptAt: slot.firstAttemptAt, status: production.status == 0 ? nil : production.status,
            omissions: copy.omissions)
        return facts.append(
            for: slot.event, keyByteCount: keyByteCount, value: value,
            recordTopic: partitions.topicName(of: slot.partition),
            original: original,
            services: configuration.decoder.pushServices, detail: diagnostics.detail.span.bytes,
            history: diagnostics.history.span.bytes, to: &output)
    }

    private func appendHistory(
        of copy: EventCopy, in slot: borrowing Slot, value: RawSpan, to diagnostics: inout Diagnostics
    ) {
        diagnostics.attempts.begin(with: slot.event.bytes(of: slot.event.history, value: value))
        for index in slot.failures.indices where copy.services.contains(Int(slot.failures[index].service)) {
            diagnostics.attempts.append(entry(slot.failures[index]))
        }
        if !diagnostics.attempts.isEmpty { diagnostics.attempts.write(to: &diagnostics.history) }
    }

    private static func retryReason(in headers: HeaderList) -> RetryReason? {
        guard let reason = headers.lastValue(named: HeaderName.reason.literal) else { return nil }
        for candidate in RetryReason.allCases where candidate.rawValue.utf8.count == reason.byteCount {
            var differs = false
            for (offset, byte) in candidate.rawValue.utf8.enumerated() {
                differs = differs || reason.unsafeLoad(fromByteOffset: offset, as: UInt8.self) != byte
            }
            if !differs { return candidate }
        }
        return nil
    }

    private func appendDetail(
        of production: Production, in slot: borrowing Slot, value: RawSpan, to detail: inout [UInt8]
    ) {
        if let failure = slot.failure {
            detail.append(contentsOf: failure.detail.utf8)
            return
        }
        if case .result(.suppressed, let service?) = production.content {
            appendSuppression(of: slot, at: production.slot.index, to: service, value: value, &detail)
            return
        }
        if production.isExpired {
            appendExpiry(of: production, in: slot, to: &detail)
            return
        }
        if words(of: production) != nil {
            appendAnswer(of: production, to: &detail)
            return
        }
        if case .copy(let copy) = production.content, case .retry(_, _, .blocked) = copy.destination, slot.behind > 0 {
            detail.append(contentsOf: "behind \(slot.behind) earlier events of this user".utf8)
            return
        }
        if case .copy(let copy) = production.content, case .retry(_, _, .held) = copy.destination {
            appendHolds(of: copy.services, to: &detail)
            return
        }
        switch production.deadLetterReason {
        case .replaysExhausted:
            let replays = slot.event.replays
            detail.append(
                contentsOf: "replayed \(replays) times; retry.replays allows \(configuration.maxReplays)".utf8)
        case .malformed, .invalid, .oversized, .rejected, .attemptsExhausted, .timeExhausted, .expired, .unanswered,
            .unreadable, nil:
            if production.status != 0 {
                appendAnswer(of: production, to: &detail)
            } else if case .copy(let copy) = production.content, case .retry(_, _, let reason) = copy.destination {
                switch reason {
                case .paused: detail.append(contentsOf: "the campaign is paused".utf8)
                case .quietHours: detail.append(contentsOf: "the user's quiet hours".utf8)
                case .preferences: appendHold(of: production.slot.index, to: &detail)
                case .transient, .throttled, .notBefore, .blocked, .held, nil: break
                }
            }
        }
    }

    /// Appends which of these push services are held, since when and why; nothing when that is over.
    private func appendHolds(of services: PushServiceSet, to detail: inout [UInt8]) {
        for hold in health.holds.all where services.contains(hold.service) {
            if !detail.isEmpty { detail.append(contentsOf: "; ".utf8) }
            let name = configuration.decoder.pushServices.names[hold.service]
            detail.append(
                contentsOf: "\(name) refuses every call with status \(hold.status), and is held since ".utf8)
            detail.append(contentsOf: RFC3339.text(hold.since).utf8)
        }
    }

    /// Appends whether its moment had come, or only no call was possible before it, and the last call's end.
    private func appendExpiry(of production: Production, in slot: borrowing Slot, to detail: inout [UInt8]) {
        let isPast = slot.event.expiresAt.map { production.decidedAt >= $0 } ?? true
        detail.append(
            contentsOf: (isPast ? "its expiresAt had passed" : "its next call would have come after its expiresAt").utf8
        )
        if production.status == 0, words(of: production) == nil { return }
        detail.append(contentsOf: "; last: ".utf8)
        appendAnswer(of: production, to: &detail)
    }

    /// The last call's detail, beside its status.
    private func words(of production: Production) -> String? {
        production.services.first.flatMap { events.services[events.place(production.slot.index, $0)].detail }
    }

    private func appendAnswer(of production: Production, to detail: inout [UInt8]) {
        if production.status != 0 { detail.append(contentsOf: "HTTP \(production.status)".utf8) }
        guard let words = words(of: production) else { return }
        if production.status != 0 { detail.append(contentsOf: ": ".utf8) }
        detail.append(contentsOf: words.utf8)
    }

    private func entry(_ attempt: FailedAttempt) -> AttemptEntry {
        AttemptEntry(
            at: attempt.at, pushService: configuration.decoder.pushServices.names[Int(attempt.service)],
            status: attempt.result.status == 0 ? nil : attempt.result.status, error: attempt.result.failure?.word,
            duration: attempt.result.duration)
    }
}
