import HeraldEvents
import HeraldKernel
import HeraldTime

@testable import HeraldCore

/// Drives one engine by hand: two request topics and the retry topics `1s` and `10s`, one partition each.
final class EngineHarness {
    var engine: Engine
    /// The number of times that its partitions were read.
    private var reading = 0
    /// Milliseconds on both clocks.
    var time: Int64 = 1_000_000_000
    private(set) var records: [Int32: (value: [UInt8], headers: HeaderList)] = [:]
    private(set) var calls: [CallToken] = []
    private(set) var produced: [(id: ProductionID, production: Production)] = []
    private(set) var kept: [Int32] = []
    private(set) var others: [Action] = []
    /// Whether the credentials have nothing to renew.
    var renewsAtOnce = true
    private var offsets: [Int: Int64] = [:]

    static let request = 0
    static let bulk = 1
    static let oneSecond = 2
    static let tenSeconds = 3

    /// An engine that commits records and offsets in transactions, and whose producer is ready.
    static func atomic(_ change: (inout EngineConfiguration) -> Void = { _ in }) -> EngineHarness {
        let harness = EngineHarness {
            $0.isAtomic = true
            change(&$0)
        }
        harness.producerReady()
        return harness
    }

    init(_ change: (inout EngineConfiguration) -> Void = { _ in }) {
        var configuration = EngineConfiguration(decoder: RecordDecoder(maxEventBytes: 1_000))
        configuration.retryDelays = ["1s", "10s"].compactMap { DelayName($0) }
        configuration.retry = RetryPolicy(immediate: 1, delays: [.seconds(1), .seconds(10)])
        configuration.maxInFlight = 8
        // The test plays the broker, and commits are rarely its subject.
        configuration.maxUnrecorded = .max
        change(&configuration)
        engine = Engine(configuration: configuration)
        assign()
    }

    var now: Moment {
        Moment(monotonic: MonotonicTime(nanoseconds: time * 1_000_000), wall: WallTime(milliseconds: time))
    }

    func assign(
        startingAt offset: Int64 = 0, metadata: String = "", failed: [Int64: PushServiceSet]? = [:],
        cluster: String = ""
    ) {
        let topics = [
            ConsumedTopic(name: "notifications", role: .request(weight: 10)),
            ConsumedTopic(name: "notifications.bulk", role: .request(weight: 1)),
            ConsumedTopic(name: "notifications.retry.1s", role: .retry(delay: .seconds(1))),
            ConsumedTopic(name: "notifications.retry.10s", role: .retry(delay: .seconds(10))),
        ]
        engine.assigned(
            topics.indices.map {
                AssignedPartition(
                    topic: $0, number: 0, startOffset: $0 == 0 ? offset : 0, metadata: $0 == 0 ? metadata : "",
                    failed: $0 == 0 ? failed : [:])
            }, topics: topics, cluster: cluster, now: now)
        offsets = [Self.request: offset]
    }

    // MARK: Inputs

    @discardableResult
    func record(
        _ json: String?, on source: Int = request, headers: [(String, String)] = [], stamped: Int64? = nil
    ) -> Intake {
        let offset = offsets[source, default: 0]
        let value = json.map { Array($0.utf8) }
        var list = HeaderList()
        for (name, text) in headers { list.append(name, text) }
        let timestamp = WallTime(milliseconds: stamped ?? time)
        let intake: Intake
        if let value {
            intake = engine.record(
                source: source, partition: 0, offset: offset, timestamp: timestamp, value: value.span.bytes,
                headers: list, now: now)
        } else {
            intake = engine.record(
                source: source, partition: 0, offset: offset, timestamp: timestamp, value: nil, headers: list, now: now)
        }
        if case .accepted(let slot) = intake { records[slot.index] = (value ?? [], list) }
        if intake != .noRoom { offsets[source] = offset + 1 }
        collect()
        return intake
    }

    /// Adds an event for `user` on `services`.
    @discardableResult
    func event(
        _ user: String, _ services: String = "apns", on source: Int = request, more: String = "",
        headers: [(String, String)] = [], stamped: Int64? = nil
    ) -> Intake {
        let names = services.split(separator: ",").map { "\"\($0)\"" }.joined(separator: ",")
        return record(
            #"{"id":"\#(user)-\#(offsets[source, default: 0])","user":"\#(user)","message":"m","pns":[\#(names)]\#(more)}"#,
            on: source, headers: headers, stamped: stamped)
    }

    /// Answers the oldest call that is under way.
    func answer(_ result: CallResult) {
        answer(calls.removeFirst(), result)
    }

    func answer(_ status: Int) { answer(CallResult(status: status)) }

    func answer(_ token: CallToken, _ result: CallResult) {
        // Judged as a port does, by the current settings.
        var judged = result
        if result.status != 0 {
            judged.verdict =
                CallResult(
                    status: result.status, retryAfter: result.retryAfter, read: result.verdict,
                    statuses: engine.configuration.live.statuses
                ).verdict
        }
        engine.answer(token, judged, now: now, entropy: 0)
        collect()
    }

    func takeCall(at index: Int = 0) -> CallToken { calls.remove(at: index) }

    /// Acknowledges all produced records.
    func acknowledgeAll() {
        let ids = produced.map(\.id)
        produced.removeAll()
        for id in ids { engine.delivered(id, now: now) }
        collect()
    }

    func fail(_ id: ProductionID, _ failure: ProductionFailure) {
        engine.failed(id, failure, now: now)
        collect()
    }

    func pass(_ span: Milliseconds) {
        time += span.count
        engine.tick(now: now)
        collect()
    }

    /// Reports a campaign's state, which has lasted for `age`.
    func campaign(
        _ name: String, is state: CampaignControl.State, for age: Milliseconds = .zero, pauseIfFailures: Double? = nil
    ) {
        let control = CampaignControl(
            state: state, at: WallTime(milliseconds: time - age.count), by: "test", pauseIfFailures: pauseIfFailures)
        engine.campaign(name, is: control, now: now)
        collect()
    }

    func changeCredentials() {
        engine.credentialsChanged(now: now)
        collect()
    }

    func drain() {
        engine.drain(now: now)
        collect()
    }

    func revoke() {
        engine.revoked(now: now)
        collect()
    }

    /// Gives the next record of the request topic this offset.
    func skip(to offset: Int64) { offsets[Self.request] = offset }

    func skip(by count: Int64) { offsets[Self.request, default: 0] += count }

    /// Recreates the request topic: its partition begins anew.
    func restart() {
        let question = RangeQuestion(reading: reading, wanted: engine.nextOffset(of: 0) ?? 0)
        let reset = engine.outOfRange(0, low: 0, high: 0, answering: question, reading: reading)
        guard case .recreated = reset else { preconditionFailure("nothing was taken before: \(reset)") }
        reading += 1
        offsets[Self.request] = 0
        collect()
    }

    /// Reports that the client cannot read the batch of the request topic at this offset; returns where another client
    /// tries.
    func batchFails(at offset: Int64) -> Int64? { engine.batchFailed(0, at: offset) }

    /// Reports that another client could read it.
    func batchIsReadable() {
        engine.endQuestion(of: 0)
        collect()
    }

    /// Reports that no client can read these offsets of the request topic.
    @discardableResult
    func batchIsUnreadable(_ batch: Range<Int64>, failedAt: WallTime? = nil) -> Intake {
        let question = RangeQuestion(reading: reading, wanted: batch.lowerBound, failedAt: failedAt ?? now.wall)
        let intake = engine.batchIsUnreadable(
            0, batch, reason: "broken", answering: question, now: now)
        if case .accepted(let slot) = intake { records[slot.index] = ([], HeaderList()) }
        collect()
        return intake
    }

    func lose() {
        engine.lost(now: now)
        collect()
    }

    /// Ends the requested commit, or answers the question about one.
    func commitEnds(_ outcome: TransactionOutcome) {
        for action in takeOthers() {
            switch action {
            case .commit(let sequence), .resolveCommit(let sequence):
                engine.committed(sequence: sequence, outcome, now: now)
            default: break
            }
        }
        collect()
    }

    /// Ends the requested abort.
    func abortEnds(_ outcome: TransactionOutcome = .acknowledged) {
        if takeOthers().contains(.abortTransaction) { engine.aborted(outcome, now: now) }
        collect()
    }

    func producerReady(lateClaims: Int = 0) {
        engine.producerReady(lateClaims: lateClaims, now: now)
        collect()
    }

    func producerLost(isFenced: Bool = false) {
        engine.producerLost(isFenced: isFenced, now: now)
        collect()
    }

    func transactionFails() {
        engine.transactionFailed(now: now)
        collect()
    }

    /// Gives the partitions back, and assigns them again.
    func reassign(metadata: String = "") {
        engine.unassigned(now: now)
        assign(metadata: metadata)
        collect()
    }

    /// Adds the next `count` events of a request topic and answers their calls with 200.
    func settle(_ count: Int = 1) {
        for _ in 0..<count {
            event("u\(offsets[Self.request, default: 0])")
            answer(200)
        }
    }

    func collect() {
        var mustRenew = false
        for action in engine.actions {
            switch action {
            case .renewCredentials where renewsAtOnce: mustRenew = true
            case .call(let token): calls.append(token)
            case .produce(let id): if let production = engine.production(id) { produced.append((id, production)) }
            case .release(let slot): records[slot] = nil
            case .retainRecord(let slot): kept.append(slot)
            default: others.append(action)
            }
        }
        engine.clearActions()
        if mustRenew { credentialsRenewed() }
    }

    /// Ends the requested renewal of the credentials.
    func credentialsRenewed() {
        engine.credentialsRenewed(now: now)
        collect()
    }

    // MARK: Output

    func takeOthers() -> [Action] {
        defer { others.removeAll() }
        return others
    }

    func user(_ token: CallToken) -> String {
        guard let record = records[token.slot.index] else { return "?" }
        let event = engine.slot(token.slot.index).event
        let bytes = event.bytes(of: event.user, value: record.value.span.bytes)
        return String(
            decoding: (0..<bytes.byteCount).map { bytes.unsafeLoad(fromByteOffset: $0, as: UInt8.self) }, as: UTF8.self)
    }

    var usersInFlight: [String] { calls.map(user) }

    /// Takes the produced records, each of them once.
    func takeProduced() -> [ProductionID] {
        defer { produced.removeAll() }
        return produced.map(\.id)
    }

    /// Takes the produced records in a short form, each of them once.
    func takeSummaries() -> [String] {
        defer { produced.removeAll() }
        return summaries
    }

    /// The produced records in a short form: `result apns delivered`, `retry 1s apns,gcm transient 2`, and so on.
    var summaries: [String] {
        produced.map { entry in
            let production = entry.production
            let names = production.services.map { engine.configuration.decoder.pushServices.names[$0] }
                .joined(separator: ",")
            let place = names.isEmpty ? "-" : names
            switch production.content {
            case .result(let final, _): return "result \(place) \(final.outcome.rawValue)"
            case .caps(let partition): return "caps \(partition)"
            case .copy(let copy):
                switch copy.destination {
                case .retry(let delay, _, let reason):
                    let delay = engine.configuration.retryDelays[delay]
                    return "retry \(delay) \(place) \(reason?.rawValue ?? "kept") \(production.attempts)"
                case .deadLetter(let reason): return "dead \(place) \(reason.rawValue) \(production.status)"
                }
            }
        }
    }

    /// The value of a produced result, or of a record of caps, as text.
    func result(at index: Int) -> String { String(decoding: output(at: index).value, as: UTF8.self) }

    /// The key of a produced record of caps, as text.
    func key(at index: Int) -> String { String(decoding: output(at: index).key, as: UTF8.self) }

    private func output(at index: Int) -> OutputRecord {
        let production = produced[index].production
        var output = OutputRecord()
        guard let record = records[production.slot.index] else { return output }
        engine.write(
            production, keyByteCount: 0, value: record.value.span.bytes, headers: record.headers, into: &output)
        return output
    }

    /// The headers of a produced record, as text.
    func headers(at index: Int, keyByteCount: Int = 0) -> [String: String] {
        let production = produced[index].production
        guard let record = records[production.slot.index] else { return [:] }
        var output = OutputRecord()
        engine.write(
            production, keyByteCount: keyByteCount, value: record.value.span.bytes, headers: record.headers,
            into: &output)
        var texts: [String: String] = [:]
        for index in 0..<output.headers.count {
            if let value = output.headers.value(at: index) {
                texts[Self.text(output.headers.name(at: index))] = Self.text(value)
            }
        }
        return texts
    }

    private static func text(_ bytes: RawSpan) -> String {
        String(
            decoding: (0..<bytes.byteCount).map { bytes.unsafeLoad(fromByteOffset: $0, as: UInt8.self) }, as: UTF8.self)
    }
}
