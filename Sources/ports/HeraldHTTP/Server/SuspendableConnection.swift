import CMicroHTTPD

/// A connection of libmicrohttpd, which may be suspended on its own thread and resumed on any.
struct SuspendableConnection: Suspendable, @unchecked Sendable {
    let pointer: OpaquePointer

    func suspend() { MHD_suspend_connection(pointer) }
    func resume() { MHD_resume_connection(pointer) }
    var watchedSocket: Int32? { herald_http_connection_socket(pointer) }
}
