import Glibc
import HeraldThreads

/// One thread that accepts connections and serves those that speak HTTP/2; the others go to the loop's daemon.
///
/// Several loops may accept from the same socket, as libmicrohttpd's threads do.
final class ServerLoop: Sendable {
    private let mailbox: StreamMailbox
    private let daemon: HTTPDaemon
    private let thread: OwnThread

    /// - Parameter listening: the socket that it accepts from; its owner closes it when the loop has ended.
    init(
        _ configuration: HTTPServer.Configuration, listening: Int32, tls: TLSAcceptor?, requests: RequestService,
        connections: OpenConnections
    ) throws(SystemError) {
        mailbox = try StreamMailbox()
        daemon = try HTTPDaemon(configuration, listening: nil, requests: requests, connections: connections)
        do {
            let run = try ServerLoopRun(
                configuration.connectionLimits, listening: listening, tls: tls, requests: requests,
                connections: connections, mailbox: mailbox, daemon: daemon)
            // Its thread alone takes the lock, and keeps it.
            let guarded = Guarded(run)
            thread = try OwnThread(name: "http-serving") { guarded.withLock { $0.run() } }
        } catch {
            daemon.stop()
            throw error
        }
    }

    /// Says goodbye on every connection, with what is answered so far, and ends; nothing may be suspended any more.
    func stop() {
        mailbox.stop()
        thread.join()
        daemon.stop()
    }
}
