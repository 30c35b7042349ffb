import HeraldHTTP
import HeraldThreads
import TestSupport
import Testing

/// A connection over HTTP/2, by prior knowledge or agreed on in TLS's handshake.
enum HTTP2Wire: String, CaseIterable, CustomTestStringConvertible {
    case plain
    case tls

    var testDescription: String { rawValue }

    /// A server whose script gets each connection with the preface read.
    func server(
        settings: [UInt16: UInt32]? = [:], _ script: @escaping @Sendable (HTTP2Peer) throws -> Void
    ) throws -> ScriptedServer {
        try ScriptedServer(tls: self == .tls ? TestCertificates.shared().good.withHTTP2 : nil) { peer in
            try script(try HTTP2Peer(peer, settings: settings))
        }
    }

    func driver(_ server: ScriptedServer, limit: Int = 4) throws -> PoolDriver {
        try PoolDriver(try options(server, limit: limit))
    }

    func options(_ server: ScriptedServer, limit: Int = 4) throws -> ConnectionOptions {
        let tls = self == .tls ? TLSFiles(caFile: try TestCertificates.shared().authorityFile) : TLSFiles()
        return ConnectionOptions(
            origin: server.origin, limit: limit, tls: tls, keepsLocation: true,
            versions: self == .tls ? .agreed : .http2)
    }
}

extension HTTP2Peer {
    /// SETTINGS_MAX_CONCURRENT_STREAMS.
    static let maxStreams: UInt16 = 3
    /// SETTINGS_INITIAL_WINDOW_SIZE.
    static let initialWindow: UInt16 = 4

    /// Answers every call in the same way until the connection ends.
    func serve(status: Int = 200) throws {
        while true { try answer(try readCall().stream, status: status) }
    }
}

/// Distinguishes the first call of ``take()`` from later ones.
final class First: Sendable {
    private let isOver = Guarded(false)

    func take() -> Bool {
        isOver.withLock { isOver in
            defer { isOver = true }
            return !isOver
        }
    }
}
