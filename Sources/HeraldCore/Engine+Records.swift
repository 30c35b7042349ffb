public import HeraldEvents
import HeraldTime

/// A record's parts that Herald writes; its key, and the value of all but results, are the original's.
public struct OutputRecord: Sendable {
    /// A result's value.
    public var value: [UInt8] = []
    /// A retry's or dead letter's headers.
    public var headers = HeaderList()

    /// Nothing yet.
    public init() {}

    /// Forgets everything but the memory.
    public mutating func removeAll() {
        value.removeAll(keepingCapacity: true)
        headers.removeAll(keepingCapacity: true)
    }
}

extension Engine {
    /// The topic that a record goes to.
    public func topic(of production: Production) -> String {
        switch production.kind {
        case .result: configuration.topics.results
        case .retry: configuration.topics.retryTopic(configuration.retryDelays[production.delay])
        case .deadLetter: configuration.topics.deadLetter
        }
    }

    /// Writes what Herald adds to a record.
    ///
    /// - Parameters:
    ///   - value: The value of the record that is settled.
    ///   - original: Its headers; not needed for a result.
    public func write(
        _ production: Production, value: RawSpan, headers original: HeaderList, into output: inout OutputRecord
    ) {
        switch production.kind {
        case .result: writeResult(production, value: value, to: &output.value)
        case .retry, .deadLetter: writeHeaders(production, value: value, original: original, to: &output.headers)
        }
    }

    private func writeResult(_ production: Production, value: RawSpan, to output: inout [UInt8]) {
        let place = Int(production.slot.index)
        let service = production.services.first
        let facts = ResultFacts(
            outcome: production.outcome, pushService: service,
            status: production.status == 0 ? nil : production.status, reason: production.deadLetterReason,
            attempts: service == nil ? nil : production.attempts, firstAttemptAt: slots[place].firstAttemptAt,
            completedAt: production.decidedAt)
        ResultEncoder.append(
            facts, of: slots[place].event, value: value, recordTopic: topicName(of: slots[place].partition),
            pushServices: configuration.decoder.pushServices, to: &output)
    }

    private func writeHeaders(
        _ production: Production, value: RawSpan, original: HeaderList, to output: inout HeaderList
    ) {
        let slot = slots[Int(production.slot.index)]
        let destination: DeliveryHeaders.Destination =
            if let reason = production.deadLetterReason {
                .deadLetter(reason, at: production.decidedAt)
            } else {
                .retry(
                    production.retryReason ?? Self.retryReason(in: original) ?? .transient, dueAt: production.dueAt)
            }
        let facts = DeliveryHeaders(
            destination: destination, pushServices: production.services, attempts: production.attempts,
            originTimestamp: slot.event.originTimestamp ?? slot.timestamp ?? production.decidedAt,
            firstAttemptAt: slot.firstAttemptAt, status: production.status == 0 ? nil : production.status)
        let detail = production.isTrimmed ? "" : detail(of: production, in: slot)
        var history: [UInt8] = []
        if !production.isTrimmed {
            let entries = slot.failures.filter { production.services.contains(Int($0.service)) }.map { entry($0) }
            let before = slot.event.bytes(of: slot.event.history, value: value)
            if !entries.isEmpty || before.byteCount > 0 {
                AttemptHistory.append(entries, to: before, into: &history)
            }
        }
        facts.append(
            for: slot.event, value: value, recordTopic: topicName(of: slot.partition), original: original,
            services: configuration.decoder.pushServices, detail: detail.utf8Span.span.bytes,
            history: history.span.bytes, to: &output)
    }

    private func topicName(of partition: Int32) -> String { topics[partitions[Int(partition)].topic].name }

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

    private func detail(of production: Production, in slot: Slot) -> String {
        if let failure = slot.failure { return failure.detail }
        if let service = production.services.first,
            let detail = services[serviceIndex(production.slot.index, service)].detail
        {
            return production.status == 0 ? detail : "HTTP \(production.status): \(detail)"
        }
        switch production.deadLetterReason {
        case .expired: return "the event expired before it could be sent"
        case .replaysExhausted:
            return "replayed \(slot.event.replays) times; retry.replays allows \(configuration.maxReplays)"
        default: return production.status == 0 ? "" : "HTTP \(production.status)"
        }
    }

    private func entry(_ attempt: FailedAttempt) -> AttemptEntry {
        AttemptEntry(
            at: attempt.at, pushService: configuration.decoder.pushServices.names[Int(attempt.service)],
            status: attempt.result.status == 0 ? nil : attempt.result.status, error: attempt.result.failure?.word,
            durationMilliseconds: Int64(attempt.result.durationMilliseconds))
    }
}
