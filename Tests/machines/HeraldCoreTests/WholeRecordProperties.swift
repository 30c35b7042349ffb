import HeraldCore
import HeraldEvents
import HeraldKernel
import HeraldTime

/// The properties of every record that a broker takes, for any key, value and headers: it ends in records that a broker
/// takes, and occupies little more memory than its own size.
///
/// An input is a byte that selects the answers, then lines: the key, `name: value` for each header, an empty line, and
/// the value. A part that ends with `*` and a number is repeated up to that number of bytes.
enum WholeRecordProperties {
    /// Kafka's default for the largest batch.
    private static let largestRecord = 1_048_588
    /// The smallest limit of a topic: a result fits, and a dead letter without all of its optional parts.
    private static let smallestLimit = 18_432
    private static let now = Moment(
        monotonic: MonotonicTime(nanoseconds: 1_000_000_000), wall: WallTime(milliseconds: 1_795_250_426_123))

    /// Returns the broken property, in words.
    static func brokenProperty(_ input: [UInt8]) -> String? {
        guard let choice = input.first, let record = Record(input.dropFirst()) else { return nil }
        for source in [0, 1] {
            if let broken = brokenProperty(of: record, source: source, choice: Int(choice)) { return broken }
        }
        return nil
    }

    private static func brokenProperty(of record: Record, source: Int, choice: Int) -> String? {
        var configuration = EngineConfiguration(decoder: RecordDecoder())
        configuration.retryDelays = ["5s"].compactMap { DelayName($0) }
        configuration.retry = RetryPolicy(immediate: 0, delays: [.seconds(5)])
        configuration.maxInFlight = 8
        var engine = Engine(configuration: configuration)
        engine.assigned(
            [
                AssignedPartition(topic: 0, number: 0, startOffset: 0),
                AssignedPartition(topic: 1, number: 0, startOffset: 0),
            ],
            topics: [
                ConsumedTopic(name: "notifications", role: .request(weight: 1)),
                ConsumedTopic(name: "notifications.retry.5s", role: .retry(delay: .seconds(5))),
            ], now: now)
        engine.clearActions()
        // Long ago, so that a retry is due.
        let published = WallTime(milliseconds: now.wall.milliseconds - 1_000_000)
        let intake = engine.record(
            source: source, partition: 0, offset: 0, timestamp: published, value: record.value.span.bytes,
            headers: record.headers, now: now)
        guard case .accepted(let slot) = intake else { return "the record is not accepted" }
        if let broken = brokenBound(of: engine.slot(slot.index).event) { return broken }
        return carryOut(&engine, record, choice)
    }

    private static func brokenBound(of event: DecodedEvent) -> String? {
        let limit = DecodedEvent.maximumScratchBytes
        if event.scratch.count > limit { return "\(event.scratch.count) bytes of the record are copied" }
        return event.scratch.capacity > 2 * limit ? "the scratch keeps \(event.scratch.capacity) bytes" : nil
    }

    /// Answers calls and takes records, as far as they fit, until no work is left.
    private static func carryOut(_ engine: inout Engine, _ record: Record, _ choice: Int) -> String? {
        let limit = max(smallestLimit, min(record.byteCount, largestRecord))
        var time = now
        var recordCount = 0
        for _ in 0..<64 where !engine.actions.isEmpty || engine.load.events > 0 {
            let actions = engine.actions
            engine.clearActions()
            if actions.isEmpty {
                let later = time.monotonic.advanced(by: .minutes(1))
                time = Moment(monotonic: later, wall: time.wall.advanced(by: .minutes(1)))
                engine.tick(now: time)
            }
            for action in actions {
                switch action {
                case .call(let token):
                    let status = [200, 400, 503][(choice + Int(token.service)) % 3]
                    let detail = status == 200 ? nil : String(repeating: "\"", count: choice * 8)
                    engine.answer(token, CallResult(status: status, detail: detail), now: time, entropy: 0)
                case .produce(let id):
                    guard let production = engine.production(id) else { continue }
                    var output = OutputRecord()
                    engine.write(
                        production, keyByteCount: record.key.count, value: record.value.span.bytes,
                        headers: record.headers, into: &output)
                    if let broken = broken(output, production, record) { return broken }
                    if byteCount(of: output, production, record) > limit {
                        engine.failed(id, .doesNotFit, now: time)
                    } else {
                        recordCount += 1
                        engine.delivered(id, now: time)
                    }
                case .notice(.recordRefused): return "a topic that takes \(limit) bytes never takes what it causes"
                default: continue
                }
            }
        }
        if engine.load.events > 0 { return "it has no outcome" }
        return recordCount == 0 ? "it causes no record" : nil
    }

    /// An upper bound, slightly above the real size.
    private static func byteCount(of output: OutputRecord, _ production: Production, _ record: Record) -> Int {
        let key = output.omissions.contains(.key) ? 0 : record.key.count
        guard production.kind != .result else { return key + output.value.count + 96 }
        let value = output.omissions.contains(.value) ? 0 : record.value.count
        return key + value + output.headers.byteCount + 6 * output.headers.count + 96
    }

    private static func broken(_ output: OutputRecord, _ production: Production, _ record: Record) -> String? {
        if production.kind == .result {
            if output.value.count > ResultEncoder.maximumByteCount { return "a result of \(output.value.count) bytes" }
            guard let result = try? NotificationResult(decoding: output.value) else { return "a result can't be read" }
            return result.outcome == .deadLettered && result.attempts ?? 0 == 0 && result.detail == nil
                ? "the result of a dead letter without a call has no detail" : nil
        }
        let own = output.headers.heraldByteCount
        if own > DeliveryHeaders.maximumByteCount { return "headers of \(own) bytes" }
        guard production.kind == .retry else {
            return (try? DeadLetter(key: record.key, value: record.value, headers: output.headers)) == nil
                ? "a dead letter can't be read" : nil
        }
        if !output.omissions.isDisjoint(with: [.key, .value]) { return "a retry without its key or value" }
        var event = DecodedEvent()
        let failure = RecordDecoder().decode(
            topicKind: .retry, topic: "notifications.retry.5s", partition: 0, offset: 0,
            value: record.value.span.bytes, headers: output.headers, into: &event)
        if let failure { return "its own retry is refused: \(failure.detail)" }
        return event.pushServices == production.services ? nil : "the retry is for other push services"
    }
}

extension WholeRecordProperties {
    /// A record that a topic with Kafka's defaults takes.
    private struct Record {
        var key: [UInt8]
        var headers = HeaderList()
        var value: [UInt8]

        var byteCount: Int { key.count + value.count + headers.byteCount + 6 * headers.count + 96 }

        /// `nil` if it would exceed that size.
        init?(_ input: ArraySlice<UInt8>) {
            var rest = input
            key = Self.expanded(Self.takeLine(from: &rest))
            while let first = rest.first, first != UInt8(ascii: "\n") {
                let line = Self.takeLine(from: &rest)
                guard let colon = line.firstIndex(of: UInt8(ascii: ":")) else { continue }
                let text = line[(colon + 1)...].drop { $0 == UInt8(ascii: " ") }
                headers.append(
                    name: Self.expanded(line[..<colon]).span.bytes, value: Self.expanded(text).span.bytes)
                guard headers.byteCount <= largestRecord else { return nil }
            }
            value = Self.expanded(rest.dropFirst())
            guard byteCount <= largestRecord else { return nil }
        }

        private static func takeLine(from rest: inout ArraySlice<UInt8>) -> ArraySlice<UInt8> {
            let end = rest.firstIndex(of: UInt8(ascii: "\n")) ?? rest.endIndex
            let line = rest[..<end]
            rest = rest[min(end + 1, rest.endIndex)...]
            return line
        }

        /// Expands `ab*5` to `ababa`.
        private static func expanded(_ text: ArraySlice<UInt8>) -> [UInt8] {
            guard let star = text.lastIndex(of: UInt8(ascii: "*")), star > text.startIndex,
                let count = Int(String(decoding: text[(star + 1)...], as: UTF8.self)), count > 0,
                count <= largestRecord
            else { return Array(text) }
            let piece = text[..<star]
            var bytes: [UInt8] = []
            bytes.reserveCapacity(count + piece.count)
            while bytes.count < count { bytes += piece }
            return Array(bytes.prefix(count))
        }
    }
}

extension HeaderList {
    /// The bytes of the headers with Herald's prefix.
    fileprivate var heraldByteCount: Int {
        var count = 0
        for index in 0..<self.count {
            let name = name(at: index)
            // A producer's own headers may have that prefix, too.
            let text = name.withUnsafeBytes { String(decoding: $0, as: UTF8.self) }
            guard HeaderName.all.contains(where: { $0.description == text }) else { continue }
            count += name.byteCount + (value(at: index)?.byteCount ?? 0)
        }
        return count
    }
}
