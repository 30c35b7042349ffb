public import HeraldTelemetry

/// What a worker's lanes make their spans with.
public struct Tracing: Sendable {
    /// Which traces are recorded.
    public var sampler: TraceSampler
    /// Where spans go.
    public var queue: SpanQueue
    /// What every span of an event says.
    public var event: [SpanAttribute]
    /// The name of every span of a call: method and path.
    public var callName: String
    /// What every span of a call says.
    public var call: [SpanAttribute]

    /// Spans for a consumer group that calls a backend.
    ///
    /// - Parameters:
    ///   - url: the backend's, without a query: it would hold the user.
    ///   - path: of a notification, behind the URL.
    public init(
        sampler: TraceSampler, queue: SpanQueue, group: String, url: String, host: String, port: Int, path: String
    ) {
        self.sampler = sampler
        self.queue = queue
        event = [SpanAttribute("messaging.system", "kafka"), SpanAttribute("messaging.consumer.group.name", group)]
        callName = "POST \(path)"
        call = [
            SpanAttribute("http.request.method", "POST"), SpanAttribute("url.full", url + path),
            SpanAttribute("server.address", host), SpanAttribute("server.port", Int64(port)),
        ]
    }
}
