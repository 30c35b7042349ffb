/// How much more the other side of a connection over HTTP/2 may send that nothing needs.
///
/// Whatever flood there is (PING, SETTINGS, CONTINUATION, empty DATA, PRIORITY and the rest), it ends here. Each answer
/// pays for some frames, so that an honest connection lasts.
struct FrameAllowance {
    /// So many frames that carry nothing are taken beyond those that answers pay for.
    private static let framesLimit = 1_024
    /// So many each answer pays for.
    private static let framesOfAnswer = 16
    /// So many bytes are taken between two answers.
    private static let bytesLimit = 8 * 1_024 * 1_024

    private var frameCount = 0
    private var byteCount = 0

    /// A frame came; false when it is one too many.
    mutating func spendFrame() -> Bool {
        frameCount += 1
        return frameCount <= Self.framesLimit
    }

    /// So many bytes came; false when they are too many.
    mutating func spend(bytes: Int) -> Bool {
        byteCount += bytes
        return byteCount <= Self.bytesLimit
    }

    /// A request was answered.
    mutating func answered() {
        frameCount = max(0, frameCount - Self.framesOfAnswer)
        ended()
    }

    /// A request ended, in whatever way.
    mutating func ended() { byteCount = 0 }
}
