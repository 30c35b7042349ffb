/// The allowance of unneeded frames and bytes from the other side of a connection over HTTP/2.
///
/// Any flood (PING, SETTINGS, CONTINUATION, empty DATA, PRIORITY and the rest) ends here. Each answer pays for some
/// frames, so that an honest connection lasts.
struct FrameAllowance {
    /// The number of empty frames accepted beyond those that answers pay for.
    private static let framesLimit = 1_024
    private static let framesOfAnswer = 16
    private static let bytesLimit = 8 * 1_024 * 1_024

    private var frameCount = 0
    private var byteCount = 0

    /// Counts a frame; false when it is one too many.
    mutating func spendFrame() -> Bool {
        frameCount += 1
        return frameCount <= Self.framesLimit
    }

    /// Counts bytes; false when they are too many.
    mutating func spend(bytes: Int) -> Bool {
        byteCount += bytes
        return byteCount <= Self.bytesLimit
    }

    mutating func answered() {
        frameCount = max(0, frameCount - Self.framesOfAnswer)
        ended()
    }

    /// Notes that a request ended, in whatever way.
    mutating func ended() { byteCount = 0 }
}
