/// One request on its way in and its answer on the way out.
///
/// libmicrohttpd holds it between its callbacks, which never run at the same time for one connection: the thread that
/// serves the connection is the only one that touches it.
final class ServerTransaction {
    /// What happens when the body is complete or a parked connection goes on.
    enum Ending {
        case respond(HTTPResponse)
        /// With what the responder has been told by then.
        case respondAs(HTTPResponder)
        case stream(HTTPResponse, HTTPStream)
        case hangUp
    }

    let rawTarget: String
    /// Whether the first callback, which has the head only, has been.
    var hasBegun = false
    /// Set when the answer is decided while the connection waits.
    var ending: Ending?
    /// By which ``ParkedConnections`` knows the connection that waits for the answer.
    var parkedID: UInt64?
    /// A larger body is answered with 413.
    var bodyLimitBytes: Int
    private(set) var body: [UInt8] = []
    private(set) var discardedBytes = 0

    init(rawTarget: String, bodyLimitBytes: Int) {
        self.rawTarget = rawTarget
        self.bodyLimitBytes = bodyLimitBytes
    }

    var tooLarge: HTTPResponse { .text("the body is larger than \(bodyLimitBytes) bytes\n", status: 413) }

    /// Takes a piece of the body; what is beyond the limit is counted and thrown away.
    func append(_ piece: UnsafeRawBufferPointer) {
        if discardedBytes == 0, body.count + piece.count <= bodyLimitBytes {
            body.append(contentsOf: piece)
        } else {
            discardedBytes += piece.count
        }
    }
}
