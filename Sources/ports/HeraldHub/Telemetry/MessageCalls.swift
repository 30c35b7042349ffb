internal import HeraldBytes
public import HeraldHTTP
public import HeraldTime

/// Questions to a hub about its messages, over kept connections, driven by a loop's thread.
///
/// The caller hands over the events of `owner`, calls ``tick(_:)`` when ``nextDeadline`` passes, and drains the answers.
public final class MessageCalls {
    /// The time before the last token's end at which a new one is made.
    private static let renewalSeconds: Int64 = 300

    private var pool: ConnectionPool
    private let connectionString: HubConnectionString
    private let hub: String
    private let timeout: Milliseconds
    private var requestEnd: [UInt8] = []
    private var tokenEnd: Int64 = 0

    /// Calls over connections of this loop.
    ///
    /// - Parameters:
    ///   - owner: the owner in the tokens of these calls' events.
    ///   - hub: checked with ``HubClient/check(hub:)`` before.
    ///   - connections: their number, time-outs, proxy and files; the origin is the connection string's.
    public init(
        loop: EventLoop, owner: UInt8, _ connectionString: HubConnectionString, hub: String,
        connections: ConnectionOptions, timeout: Milliseconds
    ) {
        var options = connections
        options.origin = connectionString.origin
        pool = ConnectionPool(loop: loop, owner: owner, options: options)
        self.connectionString = connectionString
        self.hub = hub
        self.timeout = timeout
    }

    /// The time at which ``tick(_:)`` is due next, if at all.
    public var nextDeadline: MonotonicTime? { pool.nextDeadline }

    /// Asks about a message.
    public func ask(_ id: String, token: UInt64, now: MonotonicTime, wall: WallTime) {
        sign(at: wall.milliseconds / 1_000)
        pool.begin(
            token: token, deadline: now.advanced(by: timeout), now: now, keepsBody: true
        ) { output in
            output.append(contentsOf: "GET \(connectionString.basePath)/\(hub)/messages/".utf8)
            PercentEncoding.append(Array(id.utf8).span.bytes, to: &output)
            output.append(contentsOf: requestEnd)
        }
    }

    /// Receives an event whose token has these calls' owner.
    public func handle(_ event: ReadyEvent, now: MonotonicTime) { pool.handle(event, now: now) }

    /// Ends the calls whose deadline has passed, and does other due work.
    public func tick(_ now: MonotonicTime) { pool.tick(now) }

    /// Calls `body` with the answers that have arrived.
    public func drain(wall: WallTime, _ body: (_ token: UInt64, MessageAnswer) -> Void) {
        var answers: [(UInt64, MessageAnswer)] = []
        for completion in pool.completions {
            let bytes = pool.withText(completion.body) { $0.withUnsafeBytes { Array($0) } }
            if let failure = completion.failure {
                let reason = "\(failure): \(String(decoding: bytes, as: UTF8.self))"
                answers.append((completion.token, .unavailable(reason: reason, retryAfter: nil)))
                continue
            }
            let retryAfter = pool.withText(completion.retryAfter) { $0.text }
            let answer = MessageAnswer(
                status: completion.status, retryAfter: retryAfter.isEmpty ? nil : retryAfter, body: bytes,
                now: wall.milliseconds)
            answers.append((completion.token, answer))
        }
        pool.removeCompletions()
        for (token, answer) in answers { body(token, answer) }
    }

    /// Forgets all calls and closes the connections.
    public func close() { pool.close() }

    private func sign(at seconds: Int64) {
        guard seconds > tokenEnd - Self.renewalSeconds || tokenEnd > seconds + 2 * HubClient.tokenLifetimeSeconds
        else { return }
        tokenEnd = seconds + HubClient.tokenLifetimeSeconds
        let token = SharedAccessSignature(for: connectionString, expiresAt: tokenEnd)
        requestEnd = Array(
            ("?api-version=\(HubClient.apiVersion) HTTP/1.1\r\nHost: \(connectionString.authority)\r\n"
                + "Authorization: \(token.authorization)\r\nUser-Agent: herald\r\n\r\n").utf8)
    }
}
