// The fuzzer compiles the session's sources together with this file.
#if !FUZZING
    @testable import HeraldHTTP
#endif

/// The properties of a session over HTTP/2 for any bytes of the other side.
///
/// Uses nothing of Swift Testing, because the fuzzer calls it too.
enum HTTP2SessionProperties {
    private static let callCount: Int32 = 3
    private static let request = Array("POST /x HTTP/1.1\r\nHost: here\r\nContent-Length: 2\r\n\r\nhi".utf8)
    /// The other side's greeting, so that the following bytes are read as frames.
    private static let greeting: [UInt8] = [0, 0, 0, 4, 0, 0, 0, 0, 0]

    /// The outcomes of the calls.
    private struct Run {
        /// Outcomes that the other side gave.
        var outcomes: [String] = []
        /// Outcomes that we found ourselves, which end with the frame that says so.
        var found: [String] = []
        var calls: [Int32] = []
        var isOver = false
        var isTooLong = false
    }

    /// The property that is broken for these bytes; `nil` if none is.
    static func brokenProperty(_ input: [UInt8]) -> String? {
        guard let whole = run(input, pieces: .max), let split = run(input, pieces: 1) else {
            return "a session could not be made, or a call not be submitted"
        }
        // When every call has ended, the rest of the bytes does not matter; when the connection has, neither do further
        // faults.
        let isSameEnd = whole.isOver == split.isOver || whole.calls.count == callCount
        let isSameFind = whole.found == split.found || whole.isOver || split.isOver
        if whole.outcomes != split.outcomes || !isSameEnd || !isSameFind, !hasContinuation(input) {
            return "pieces change what becomes of calls: \(whole) and \(split)"
        }
        if whole.isTooLong { return "more of a body is kept than may be" }
        if Set(whole.calls).count != whole.calls.count { return "a call has two outcomes: \(whole)" }
        return nil
    }

    /// Whether there is a frame CONTINUATION, which nghttp2 counts once more for each part of its head.
    private static func hasContinuation(_ input: [UInt8]) -> Bool {
        var place = 0
        while place + 9 <= input.count {
            if input[place + 3] == 9 { return true }
            place += 9 + (Int(input[place]) << 16 | Int(input[place + 1]) << 8 | Int(input[place + 2]))
        }
        return false
    }

    private static func run(_ input: [UInt8], pieces: Int) -> Run? {
        guard let session = HTTP2Session(isEncrypted: false, keepsLocation: true) else { return nil }
        for call in 0..<callCount {
            let isTaken = request.withUnsafeBytes { session.submit(call: call, $0, keepsBody: call > 0) }
            if !isTaken { return nil }
        }
        var run = Run()
        write(session, &run)
        let all = greeting + input
        var start = 0
        while !run.isOver, start < all.count {
            let end = pieces < all.count - start ? start + pieces : all.count
            run.isOver = !all[start..<end].withUnsafeBytes { session.receive($0) }
            start = end
        }
        write(session, &run)
        return run
    }

    private static func write(_ session: HTTP2Session, _ run: inout Run) {
        if case .failed = session.write({ .bytes($0.count) }) { run.isOver = true }
        session.takeOutcomes { stream, kind, isSent in
            let (status, body) = (stream.answer.status, stream.answer.body)
            run.calls.append(stream.call)
            run.isTooLong = run.isTooLong || body.count > AnswerReader.bodyLimit
            let text = "\(stream.call) \(kind) \(isSent) \(status)"
            // The length of a broken answer's body before the fault depends on the split.
            if case .broken = kind {
                run.found.append(text)
            } else {
                run.outcomes.append("\(text) \(body) \(stream.answer.retryAfter)")
            }
        }
    }
}
