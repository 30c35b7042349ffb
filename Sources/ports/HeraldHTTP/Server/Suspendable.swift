/// What a request waits on for its answer: a connection over HTTP/1.1, a stream over HTTP/2.
///
/// It is suspended on its own thread and resumed on any.
protocol Suspendable: Sendable {
    func suspend()
    func resume()
    /// The socket that shows whether the client is still there; `nil` when the place's own thread looks after that.
    var watchedSocket: Int32? { get }
}
