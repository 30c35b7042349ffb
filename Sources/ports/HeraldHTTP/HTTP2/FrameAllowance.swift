/// How much more the other side of a connection over HTTP/2 may send that nothing needs.
///
/// Whatever flood there is (PING, SETTINGS, CONTINUATION, empty DATA, PRIORITY and the rest), it ends here. Each answer
/// pays for some frames, so that an honest connection lasts.
struct FrameAllowance {
    /// So many frames that carry nothing are taken beyond those that answers pay for.
    static let framesLimit = 1_024
    /// So many each answer pays for.
    private static let framesOfAnswer = 16
    /// So many bytes are taken between two answers.
    static let bytesLimit = 8 * 1_024 * 1_024

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
        earn(frames: Self.framesOfAnswer)
        ended()
    }

    /// A request ended, in whatever way.
    mutating func ended() { byteCount = 0 }

    /// So many frames are paid for.
    mutating func earn(frames: Int) { frameCount = max(0, frameCount - frames) }

    /// So many bytes are what was asked for.
    mutating func earn(bytes: Int) { byteCount = max(0, byteCount - bytes) }
}
