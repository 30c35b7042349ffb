internal import CNGHTTP2

/// Frames of one session on their way to its socket, in as few writes as possible.
struct FrameOutput {
    enum Written {
        case all
        /// The rest has to wait until the socket takes more.
        case some
        case failed
    }

    private static let size = 32 * 1_024

    private var bytes: [UInt8] = []
    private var start = 0

    /// The number of bytes serialised and not written.
    var waitingCount: Int { bytes.count - start }

    /// Writes the queued frames.
    ///
    /// - Parameter serialized: receives the byte count of each frame as it is serialised, or nghttp2's error, negative.
    mutating func write(
        of session: OpaquePointer, serialized: (Int) -> Void, _ send: (UnsafeRawBufferPointer) -> Transport.Result
    ) -> Written {
        while true {
            if start == bytes.count, !gather(session, serialized) { return .all }
            switch bytes.withUnsafeBytes({ send(UnsafeRawBufferPointer(rebasing: $0[start...])) }) {
            case .bytes(let count): start += count
            case .wouldBlock: return .some
            case .end, .failed: return .failed
            }
        }
    }

    /// Serialises the next frames; false when there are none.
    private mutating func gather(_ session: OpaquePointer, _ serialized: (Int) -> Void) -> Bool {
        bytes.removeAll(keepingCapacity: true)
        start = 0
        while bytes.count < Self.size {
            var frame: UnsafePointer<UInt8>?
            let count = nghttp2_session_mem_send(session, &frame)
            if count != 0 { serialized(count) }
            guard count > 0, let frame else { break }
            bytes.append(contentsOf: UnsafeBufferPointer(start: frame, count: count))
        }
        return !bytes.isEmpty
    }
}
