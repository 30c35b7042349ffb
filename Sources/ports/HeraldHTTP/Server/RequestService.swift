/// What is decided about a request: whether its body is read, and how it ends.
final class RequestService: Sendable {
    let parked: ParkedConnections
    let bodyLimitBytes: Int
    private let handler: HTTPServer.Handler
    private let bodyRule: (@Sendable (HTTPRequest) -> HTTPBodyDecision)?

    init(
        handler: @escaping HTTPServer.Handler, parked: ParkedConnections, bodyLimitBytes: Int,
        bodyRule: (@Sendable (HTTPRequest) -> HTTPBodyDecision)?
    ) {
        self.handler = handler
        self.parked = parked
        self.bodyLimitBytes = bodyLimitBytes
        self.bodyRule = bodyRule
    }

    /// What a request with a body is refused with before the body is sent: one that may not come, or announces itself as
    /// too large; `nil` when it is read, up to the transaction's limit.
    func refusal(
        of transaction: ServerTransaction, announcedBytes: Int?, _ makeRequest: (HTTPTarget) -> HTTPRequest
    ) -> HTTPResponse? {
        if let bodyRule {
            // Without a readable target the handler is not asked either.
            guard let target = HTTPTarget(parsing: transaction.rawTarget) else { return badTarget }
            switch bodyRule(makeRequest(target)) {
            case .read(let limitBytes): transaction.bodyLimitBytes = min(limitBytes, bodyLimitBytes)
            case .refuse(let response): return response
            }
        }
        return announcedBytes ?? 0 > transaction.bodyLimitBytes ? tooLarge(transaction) : nil
    }

    /// Lets the handler decide about a complete request; false when it now waits.
    func decide(
        _ transaction: ServerTransaction, on connection: SuspendableConnection,
        _ makeRequest: (HTTPTarget) -> HTTPRequest
    ) -> Bool {
        switch answer(to: transaction, makeRequest) {
        case .respond(let response):
            transaction.ending = .respond(response)
            return true
        case .respondLater(let response, let wait):
            transaction.ending = .respond(response)
            return wait <= .zero || !park(transaction, on: connection, for: wait)
        case .respondWhenReady(let begin):
            // Until there is a responder, only the server's stop can let the request go on.
            transaction.ending = .hangUp
            guard park(transaction, on: connection, for: nil), let id = transaction.parkedID else { return true }
            let responder = HTTPResponder(parked: parked, id: id)
            transaction.ending = .respondAs(responder)
            begin(responder)
            return false
        case .stream(let response, let stream):
            transaction.ending = .stream(response, stream)
            return true
        case .hang:
            transaction.ending = .hangUp
            return !park(transaction, on: connection, for: nil)
        case .hangUp(let wait):
            transaction.ending = .hangUp
            return wait <= .zero || !park(transaction, on: connection, for: wait)
        }
    }

    private func park(
        _ transaction: ServerTransaction, on connection: SuspendableConnection, for wait: Duration?
    ) -> Bool {
        transaction.parkedID = parked.park(connection, for: wait)
        return transaction.parkedID != nil
    }

    private func answer(
        to transaction: ServerTransaction, _ makeRequest: (HTTPTarget) -> HTTPRequest
    ) -> HTTPAnswer {
        guard transaction.discardedBytes == 0 else { return .respond(tooLarge(transaction)) }
        guard let target = HTTPTarget(parsing: transaction.rawTarget) else { return .respond(badTarget) }
        return handler(makeRequest(target))
    }

    /// What an answer becomes whose header fields cannot be sent, such as one with a line break.
    static var unsendable: HTTPResponse { .text("the answer has a header that cannot be sent\n", status: 500) }

    private var badTarget: HTTPResponse {
        .text("the address is not properly percent-encoded UTF-8\n", status: 400)
    }

    func tooLarge(_ transaction: ServerTransaction) -> HTTPResponse {
        .text("the body is larger than \(transaction.bodyLimitBytes) bytes\n", status: 413)
    }
}
