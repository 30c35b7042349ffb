internal import HeraldHTTP
public import HeraldTelemetry
public import HeraldText
public import HeraldThreads
internal import HeraldTime

/// The destination of spans, and their origin.
public struct TraceConfiguration: Sendable {
    /// The collector's address for traces, used unchanged.
    public var url: String
    /// The authorities trusted instead of the system's (PEM).
    public var caFile: String?
    /// Reads the headers that the collector requires; called for each request, because their file may change.
    public var headers: @Sendable () throws -> [(name: String, value: Secret)]
    /// The attributes of this process.
    public var resource: [SpanAttribute]
    /// Herald's version.
    public var version: String
    /// The time that spans wait for others to share a request.
    public var interval: Duration

    /// A collector; spans wait for 5 seconds, as in OpenTelemetry's own batch processor.
    public init(
        url: String, caFile: String? = nil,
        headers: @escaping @Sendable () throws -> [(name: String, value: Secret)] = { [] },
        resource: [SpanAttribute], version: String, interval: Duration = .seconds(5)
    ) {
        self.url = url
        self.caFile = caFile
        self.headers = headers
        self.resource = resource
        self.version = version
        self.interval = interval
    }
}

/// Sends spans to a collector (OTLP/HTTP with JSON) on its own thread.
///
/// Makers of spans never wait for it. An absent, slow or wrong collector costs the spans, which are counted; the log
/// reports the beginning and the end.
public final class TraceExporter: Sendable {
    private static let timeout: Milliseconds = .seconds(10)

    /// The queue that takes spans.
    public let queue: SpanQueue

    private let configuration: TraceConfiguration
    private let logger: Logger
    private let writer: SpanJSON
    private let closing: Wakeup
    private let ended: Wakeup

    /// Starts the thread; throws when descriptors or threads have run out.
    public init(_ configuration: TraceConfiguration, logger: Logger) throws(SystemError) {
        self.configuration = configuration
        self.logger = logger
        queue = try SpanQueue()
        writer = SpanJSON(resource: configuration.resource, version: configuration.version)
        closing = try Wakeup()
        ended = try Wakeup()
        // Not joined: it ends with the queue, or remains in a request that takes too long.
        _ = try OwnThread(name: "traces") { [self] in run() }
    }

    /// Exports the waiting spans, but for no longer than the limit; afterwards spans are dropped.
    public func close(within limit: Duration) {
        let deadline = SystemClock.monotonic().advanced(by: Milliseconds(limit))
        queue.close(deadline: deadline)
        closing.signal()
        _ = ended.wait(for: limit + .milliseconds(100))
    }

    private func run() {
        var troubles = ExportTroubles(logger)
        while let batch = queue.next(within: configuration.interval) {
            guard !batch.isEmpty else { continue }
            if export(batch, &troubles) { continue }
            if queue.deadline != nil { queue.dropAll() }
        }
        ended.signal()
    }

    /// Offers a batch until the collector has it or it is given up; returns whether it was accepted.
    private func export(_ batch: [TraceSpan], _ troubles: inout ExportTroubles) -> Bool {
        let body = writer.encoded(batch)
        var policy = ExportPolicy()
        while let timeout = timeLeft() {
            let outcome = request(body, timeout)
            switch policy.judge(outcome, chance: .random(in: 0...1)) {
            case .exported(let refused):
                queue.note(exported: batch.count - min(refused, batch.count), dropped: min(refused, batch.count))
                troubles.end(refused: refused)
                return true
            case .again(let pause):
                troubles.begin(outcome, at: configuration.url)
                guard !closing.wait(for: pause.duration) else { return drop(batch) }
            case .dropped:
                troubles.begin(outcome, at: configuration.url)
                return drop(batch)
            }
        }
        return drop(batch)
    }

    private func drop(_ batch: [TraceSpan]) -> Bool {
        queue.note(dropped: batch.count)
        return false
    }

    private func request(_ body: [UInt8], _ timeout: Milliseconds) -> SingleRequest.Outcome {
        let headers: [SingleRequest.Header]
        do {
            headers = try configuration.headers().map { .init(name: $0.name, value: $0.value.reveal()) }
        } catch {
            return .failure(.connectFailed, detail: "traces.headersFile: \(error)")
        }
        let request = SingleRequest(
            .post(body, mediaType: "application/json"), url: configuration.url, authorization: nil, headers: headers,
            timeout: timeout, proxy: nil, tls: TLSFiles(caFile: configuration.caFile))
        return request.perform(isCancelled: { [queue] in
            queue.deadline.map { $0 <= SystemClock.monotonic() } ?? false
        })
    }

    /// The time limit of the next request; `nil` when the time for ending is over.
    private func timeLeft() -> Milliseconds? {
        guard let deadline = queue.deadline else { return Self.timeout }
        let left = deadline.time(since: SystemClock.monotonic())
        return left > .zero ? min(left, Self.timeout) : nil
    }
}

/// Reports once that spans are lost, and once that they no longer are.
private struct ExportTroubles {
    private let logger: Logger
    private var isLosing = false
    private var isRefusing = false

    init(_ logger: Logger) { self.logger = logger }

    mutating func begin(_ outcome: SingleRequest.Outcome, at url: String) {
        guard !isLosing else { return }
        isLosing = true
        let reason =
            switch outcome {
            case .response(let response): "it answers \(response.status)"
            case .failure(_, let detail): SafeText.escaped(detail)
            }
        logger.warning("traces: the collector at \(url) takes no spans: \(reason). Deliveries are not affected.")
    }

    mutating func end(refused: Int) {
        if isLosing { logger.info("traces: the collector takes spans again") }
        isLosing = false
        if refused > 0, !isRefusing { logger.warning("traces: the collector refuses spans", ["count": .int(refused)]) }
        isRefusing = refused > 0
    }
}
