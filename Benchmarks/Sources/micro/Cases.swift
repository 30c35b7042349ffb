import HeraldCore
import HeraldEvents
import HeraldHub
import HeraldKernel
import HeraldTime

/// The measured cases: each does its work a given number of times.
let cases: [(name: String, run: @Sendable (Int) -> Int)] = [
    ("decode", { decode($0, headers: HeaderList(), kind: .request) }),
    ("decode-content", { decode($0, contentBytes(), headers: HeaderList(), kind: .request) }),
    ("decode-retry", { decode($0, headers: retryHeaders(), kind: .retry) }),
    ("classify", { classify($0) }),
    ("track", { track($0) }),
    ("encode-result", { encodeResult($0) }),
    ("encode-retry", { encodeRetry($0) }),
    ("event", { event($0, CallResult(status: 200)) }),
    ("event-last-word", { event($0, CallResult(status: 200), asksLastWord: true) }),
    ("hub", { hub($0) }),
    ("event-plain", { event($0, CallResult(status: 200), isAtomic: false) }),
    ("event-rejected", { event($0, CallResult(status: 400, detail: "no such user")) }),
    ("event-retried", { event($0, CallResult(status: 503, detail: "overloaded")) }),
]

/// The user of the event with this number.
func eventUser(_ number: Int) -> String { "user-\(String(10_000 + number).dropFirst())" }

/// An event in the form of `make bench`, 200 bytes.
func eventBytes(_ number: Int) -> [UInt8] {
    let user = eventUser(number)
    let id = "bench-\(String(100_000_000 + number).dropFirst())"
    let text = "{\"id\":\"\(id)\",\"user\":\"\(user)\",\"message\":\"\",\"pns\":[\"apns\"],\"source\":\"bench\"}"
    let message = String(repeating: "Your parcel is on its way. ", count: 8).prefix(200 - text.utf8.count)
    return Array(text.replacing("\"message\":\"\"", with: "\"message\":\"\(message)\"").utf8)
}

/// The same with all parts beside the message.
func contentBytes() -> [UInt8] {
    let content =
        #","title":"Your parcel","link":"shop://orders/17","image":"https://cdn.example/p.png","data":{"order":"17"},"#
        + #""badge":1,"sound":"default","category":"SHIPPED"}"#
    return Array(eventBytes(1).dropLast()) + Array(content.utf8)
}

/// The digits of the id in such an event.
let eventIDDigits = 13..<21

/// The headers of a retry record, in Herald's form.
func retryHeaders() -> HeaderList {
    var headers = HeaderList()
    headers.append("herald-id", "bench-00000001")
    headers.append("herald-pns", "apns")
    headers.append("herald-attempts", "3")
    headers.append("herald-origin", "notifications/3/123456")
    headers.append("herald-origin-timestamp", "1700000000000")
    headers.append("herald-first-attempt-at", "1700000000100")
    headers.append("herald-not-before", "1700000005100")
    headers.append("herald-reason", "transient")
    headers.append("herald-status", "503")
    headers.append("herald-detail", "HTTP 503: overloaded")
    headers.append(
        "herald-history", "[{\"at\":\"2023-11-14T22:13:20.100Z\",\"pns\":\"apns\",\"status\":503,\"ms\":12}]")
    headers.append("herald-source", "bench")
    return headers
}

private func decode(
    _ count: Int, _ value: [UInt8] = eventBytes(1), headers: HeaderList, kind: RecordDecoder.TopicKind
) -> Int {
    let decoder = RecordDecoder()
    var event = DecodedEvent()
    var failures = 0
    for offset in 0..<count {
        let failure = decoder.decode(
            topicKind: kind, topic: "notifications", partition: 3, offset: Int64(offset), value: value.span.bytes,
            headers: headers, into: &event)
        if failure != nil { failures += 1 }
    }
    precondition(failures == 0, "the event does not decode")
    return count
}

private func classify(_ count: Int) -> Int {
    let table = StatusTable()
    var delivered = 0
    for number in 0..<count where table[200 + number % 400] == .delivered { delivered += 1 }
    return delivered
}

/// Records without a value: taken and complete at once, so that little but the tracking of offsets remains.
private func track(_ count: Int) -> Int {
    var driver = engine(answering: CallResult(status: 200))
    driver.run(count, tombstones: true)
    precondition(driver.counters.tombstones == count, "not all were taken")
    return count
}

private func encodeResult(_ count: Int) -> Int {
    let value = eventBytes(1)
    let event = decoded(value, HeaderList(), .request)
    let facts = ResultFacts(
        outcome: .delivered, pushService: 0, status: 200, attempts: 1,
        firstAttemptAt: WallTime(milliseconds: 1_700_000_000_100),
        completedAt: WallTime(milliseconds: 1_700_000_000_112))
    var output: [UInt8] = []
    var bytes = 0
    for _ in 0..<count {
        output.removeAll(keepingCapacity: true)
        ResultEncoder.append(
            facts, of: event, value: value.span.bytes, recordTopic: "notifications", pushServices: .standard,
            to: &output)
        bytes += output.count
    }
    return bytes
}

private func encodeRetry(_ count: Int) -> Int {
    let value = eventBytes(1)
    let original = retryHeaders()
    let event = decoded(value, original, .retry)
    let facts = DeliveryHeaders(
        destination: .retry(.transient, dueAt: WallTime(milliseconds: 1_700_000_035_000)),
        pushServices: event.pushServices, attempts: 4, originTimestamp: WallTime(milliseconds: 1_700_000_000_000),
        firstAttemptAt: WallTime(milliseconds: 1_700_000_000_100), status: 503)
    let detail = Array("HTTP 503: overloaded".utf8)
    let history = Array("[{\"at\":\"2023-11-14T22:13:20.100Z\",\"pns\":\"apns\",\"status\":503,\"ms\":12}]".utf8)
    var output = HeaderList()
    for _ in 0..<count {
        output.removeAll()
        facts.append(
            for: event, value: value.span.bytes, recordTopic: "notifications.retry.5s", original: original,
            services: .standard, detail: detail.span.bytes, history: history.span.bytes, to: &output)
    }
    return output.count
}

/// Whole events through an engine: taken, called, answered, written, acknowledged and committed.
///
/// - Parameter asksLastWord: whether they are promotional, and there are opt-outs of a hundred thousand others.
private func event(_ count: Int, _ result: CallResult, isAtomic: Bool = true, asksLastWord: Bool = false) -> Int {
    var driver = engine(answering: result, isAtomic: isAtomic, asksLastWord: asksLastWord)
    driver.run(count)
    precondition(driver.counters.accepted == count, "not all were taken")
    return driver.producedBytes
}

/// The same over a notification hub, its calls written as well; without telemetry.
private func hub(_ count: Int) -> Int {
    let result = CallResult(status: 201)
    let writer: HubRequestWriter
    do {
        let string = "Endpoint=sb://bench.servicebus.windows.net/;SharedAccessKeyName=send;SharedAccessKey=c2VjcmV0"
        let sending = try HubSending(HubConnectionString(string), hub: "bench", formats: ["apns": .apple])
        // As long as a signature for such a hub.
        writer = HubRequestWriter(
            sending, authorization: "SharedAccessSignature \(String(repeating: "s", count: 180))", tracking: 7)
    } catch {
        preconditionFailure("\(error)")
    }
    var driver = engine(answering: result, over: HubCalls(writer))
    driver.run(count)
    precondition(driver.counters.accepted == count, "not all were taken")
    return driver.producedBytes + driver.calledBytes
}

private func decoded(_ value: [UInt8], _ headers: HeaderList, _ kind: RecordDecoder.TopicKind) -> DecodedEvent {
    var event = DecodedEvent()
    let failure = RecordDecoder().decode(
        topicKind: kind, topic: "notifications", partition: 3, offset: 123_456, value: value.span.bytes,
        headers: headers, into: &event)
    precondition(failure == nil, "the event does not decode")
    return event
}

/// The words of users who get no event, known for as long as a case takes; one of their events is recalled.
private func lastWord(ofOthers count: Int) -> LastWord {
    let lastWord = LastWord(hashSeed: 0, pushServices: .standard, maxLag: .hours(1))
    var optOut = OptOut()
    optOut.isOfPromotional = true
    for number in 0..<count { lastWord.set(optOut, of: "other-\(number)".utf8.span.bytes) }
    lastWord.recall(id: "1".utf8.span.bytes, source: nil, user: "other-1".utf8.span.bytes, true)
    lastWord.noteCurrent(asOf: MonotonicTime(nanoseconds: 0))
    return lastWord
}

private func engine(
    answering result: CallResult, isAtomic: Bool = true, over hub: HubCalls? = nil, asksLastWord: Bool = false
) -> EngineDriver {
    var configuration = EngineConfiguration(decoder: RecordDecoder())
    configuration.isAtomic = isAtomic
    // The defaults of `delivery.dedupe`.
    configuration.duplicateWindow = .minutes(10)
    configuration.duplicateSize = 1_000_000
    configuration.retryDelays = ["5s", "30s"].compactMap { DelayName($0) }
    if asksLastWord {
        configuration.classes = [.promotional]
        configuration.lastWord = lastWord(ofOthers: 100_000)
    }
    if result.status >= 300 {
        // Otherwise a case with failures alone would be held.
        configuration.breaker.of = 0
        configuration.deadLetterBreaker.of = 0
    }
    // Quick retries wait for time to pass, of which there is little here.
    configuration.retry = RetryPolicy(immediate: 0, delays: configuration.retryDelays.map(\.length))
    let numbers = 0..<1_000
    return EngineDriver(
        configuration: configuration, events: numbers.map(eventBytes), keys: numbers.map { Array(eventUser($0).utf8) },
        result: result, hub: hub)
}
