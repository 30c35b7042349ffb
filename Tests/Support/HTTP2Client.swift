import Foundation

/// A client that speaks HTTP/2 by prior knowledge over one socket, so that tests see and say what is on the wire.
package final class HTTP2Client {
    /// The frames of the connection.
    package let peer: HTTP2Peer
    private let socket: Int32

    /// Connects to this port of 127.0.0.1 and greets.
    ///
    /// - Parameter settings: what is said first, by SETTINGS' numbers.
    package init(port: UInt16, settings: [UInt16: UInt32] = [:]) throws {
        socket = try LoopbackSocket.connect(port: port)
        guard let connection = ScriptedPeer(socket: socket, context: nil) else {
            close(socket)
            throw ScriptedPeer.Ended()
        }
        peer = try HTTP2Peer(calling: connection, settings: settings)
    }

    deinit { close(socket) }

    /// Makes a call and reads its answer.
    package func request(
        _ stream: UInt32, _ method: String = "GET", _ path: String = "/", _ fields: [(String, String)] = [],
        body: String? = nil
    ) throws -> HTTP2Peer.Call {
        try peer.call(stream, method, path, fields, body: body)
        return try peer.readCall()
    }

    /// Reads on until a stream is reset, and says with which code.
    package func readReset(_ stream: UInt32) throws -> HTTP2Peer.Code? {
        while true {
            let frame = try peer.readFrame(HTTP2Peer.Frame.reset)
            if frame.stream == stream { return frame.code }
        }
    }

    /// Reads on until the server says goodbye: the last stream that it took, and its code.
    package func readGoAway() throws -> (last: UInt32, code: HTTP2Peer.Code?) {
        let frame = try peer.readFrame(HTTP2Peer.Frame.goAway)
        return (HTTP2Peer.number(in: frame.payload.prefix(4)), frame.code)
    }
}
