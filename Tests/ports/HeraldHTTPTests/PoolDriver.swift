import HeraldTime

@testable import HeraldHTTP

/// A completion with its texts, for comparisons in tests.
struct Ended: Equatable {
    var token: UInt64
    var status: Int
    var failure: FailureKind?
    var retryAfter: String
    var body: String
    var milliseconds: Int64
    var isSent = false
}

/// Drives a pool as a lane does, in the test's own thread.
final class PoolDriver {
    let loop: EventLoop
    var pool: ConnectionPool

    init(_ options: ConnectionOptions, lookUp: @escaping NameResolver.LookUp = NameResolver.lookUp) throws {
        loop = try EventLoop()
        pool = ConnectionPool(loop: loop, owner: 3, options: options, lookUp: lookUp)
    }

    convenience init(origin: String, limit: Int = 4) throws {
        try self.init(ConnectionOptions(origin: origin, limit: limit))
    }

    static let request = "POST /x?y=z HTTP/1.1\r\nHost: here\r\nContent-Length: 2\r\n\r\nhi"

    /// The lead of the pool's clock over the machine's (milliseconds).
    var ahead: Int64 = 0

    private var now: MonotonicTime { SystemClock.monotonic().advanced(by: .milliseconds(ahead)) }

    func begin(
        _ token: UInt64 = 1, request: String = PoolDriver.request, milliseconds: Int64 = 20_000, keepsBody: Bool = true
    ) {
        let now = self.now
        pool.begin(
            token: token, deadline: now.advanced(by: .milliseconds(milliseconds)), now: now, keepsBody: keepsBody
        ) { $0.append(contentsOf: request.utf8) }
    }

    func cancel(_ token: UInt64) -> Bool { pool.cancel(token: token, now: now) }

    func renew(tls: TLSFiles) { pool.renewConnections(proxy: nil, tls: tls, now: now) }

    /// Runs the loop until `count` calls have ended, and returns them in that order.
    func finish(_ count: Int) -> [Ended] {
        var ended: [Ended] = []
        repeat {
            ended += taken()
            if ended.count < count { turn() }
        } while ended.count < count
        return ended
    }

    /// Runs the loop until the condition holds; returns false if it does not within 20 s.
    func run(until condition: () -> Bool) -> Bool {
        let end = SystemClock.monotonic().advanced(by: .seconds(20))
        while !condition() {
            if SystemClock.monotonic() > end { return false }
            turn(atMost: .milliseconds(50))
        }
        return true
    }

    /// Makes one call from its begin to its end.
    func call(
        request: String = PoolDriver.request, milliseconds: Int64 = 20_000, keepsBody: Bool = true
    ) -> Ended? {
        begin(request: request, milliseconds: milliseconds, keepsBody: keepsBody)
        return finish(1).first
    }

    private func turn(atMost: Milliseconds = .max) {
        let now = self.now
        var timeout: Milliseconds? = .zero
        if pool.flush(now: now) { timeout = EventLoop.timeout(until: pool.nextDeadline, now: now) }
        let count = loop.wait(timeout: min(timeout ?? atMost, atMost))
        let later = self.now
        for index in 0..<count where loop[index].token.owner == 3 { pool.handle(loop[index], now: later) }
        if let deadline = pool.nextDeadline, deadline <= later { pool.tick(later) }
    }

    private func taken() -> [Ended] {
        let all = pool.completions.map { completion in
            Ended(
                token: completion.token, status: completion.status, failure: completion.failure,
                retryAfter: text(completion.retryAfter),
                body: text(completion.body), milliseconds: completion.durationNanoseconds / 1_000_000,
                isSent: completion.isSent)
        }
        pool.removeCompletions()
        return all
    }

    private func text(_ text: Completion.Text) -> String {
        pool.withText(text) { bytes in bytes.withUnsafeBytes { String(decoding: $0, as: UTF8.self) } }
    }
}
