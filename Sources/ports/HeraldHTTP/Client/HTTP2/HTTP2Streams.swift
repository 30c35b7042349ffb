internal import CNGHTTP2
internal import Glibc

/// The state of a connection's calls over HTTP/2, and of its other side; filled by nghttp2's callbacks.
///
/// The meaning of a frame or an error for a call, with `Outcome.Kind` as the word for it:
///
///     frame or error                                              meaning
///     answer complete (END_STREAM), body longer than is kept      answered
///     RST_STREAM with REFUSED_STREAM                              refused: not read, made again at once
///     GOAWAY, the call's stream behind the last one               refused
///     no byte of the call written when the connection ends        refused
///     RST_STREAM with HTTP_1_1_REQUIRED                           unwanted: not processed, made again over HTTP/1.1
///     RST_STREAM with any other code                              lost: in doubt if the whole call was written
///     GOAWAY, the call's stream not behind                        none: its answer comes, or the connection ends
///     answer without one good status, or larger than we take      broken: the answer, not the connection
///     frames against the rules of HTTP/2, or more than any need   the connection ends: lost, by what was written
///     connection closed, silent after PING                        the same
struct HTTP2Streams {
    struct Outcome {
        enum Kind: Equatable {
            case answered
            case refused(UInt32)
            case unwanted
            case lost(UInt32)
            case broken(UInt32)
        }

        var stream: Int
        var kind: Kind
    }

    struct Stream {
        var id: Int32 = 0
        var call: Int32 = -1
        var answer = AnswerState()
        var body: [UInt8] = []
        var bodyRead = 0
        /// The number of the connection's bytes before the call's first one; below it no byte of it is written.
        var start = Int.max
        /// The number of the connection's bytes up to the call's last one.
        var end = Int.max
        /// Bytes of the answer's fields so far, interim answers included.
        var fieldBytes = 0
        /// The status that the fields being read announce; -1 without one.
        var announced: Int32 = -1
        /// Whether one of them is no pseudo-field: those come first.
        var hasField = false
        var fault: AnswerReader.Fault?
        /// Whether its outcome is known, or unwanted.
        var isReported = false
        /// Whether the outcome was handed out, or is unwanted.
        var isDone = false
        /// Whether nghttp2 has forgotten it.
        var isClosed = false
        var wasReset = false
    }

    private(set) var streams: [Stream] = []
    private var free: [Int] = []
    private(set) var outcomes: [Outcome] = []
    private let keepsLocation: Bool

    /// The number of calls that the other side takes at once; `nil` until its first SETTINGS.
    private(set) var places: Int?
    var hasNews = false
    private(set) var isGoingAway = false
    /// Whether the other side requires HTTP/1.1 (HTTP_1_1_REQUIRED, RFC 9113, 7).
    private(set) var wantsHTTP1 = false
    /// The fault in the arrived bytes, for people.
    private(set) var fault: String?
    var latest = 0
    /// The stream whose last frame was just serialised.
    var endedStream: Int?
    /// The number of bytes serialised before this frame.
    var serializedCount = 0
    private var allowance = FrameAllowance()
    private var blockBytes = 0

    init(keepsLocation: Bool) {
        self.keepsLocation = keepsLocation
    }

    // MARK: Calls

    /// A place in the table for a call's stream.
    mutating func add(_ call: Int32, keepsBody: Bool, body: UnsafeRawBufferPointer) -> Int {
        if free.isEmpty {
            free.append(streams.count)
            streams.append(Stream())
            streams[streams.count - 1].answer.keepsLocation = keepsLocation
        }
        let index = free.removeLast()
        streams[index].begin(call, keepsBody: keepsBody, body: body)
        return index
    }

    mutating func name(_ index: Int, _ id: Int32) { streams[index].id = id }

    /// Forgets a stream that was never begun.
    mutating func forget(_ index: Int) {
        streams[index].isReported = true
        streams[index].isDone = true
        close(index)
    }

    /// The call's stream, while its outcome is unknown.
    func find(call: Int32) -> Int? { streams.firstIndex { $0.call == call && !$0.isReported } }

    /// Whether that stream has this identifier, and nghttp2 still knows it.
    func isLatest(_ id: Int32) -> Bool {
        latest < streams.count && streams[latest].id == id && !streams[latest].isClosed
    }

    func find(id: Int32) -> Int? { streams.firstIndex { $0.id == id && !$0.isClosed } }

    mutating func abandon(_ index: Int) {
        streams[index].isReported = true
        done(index)
    }

    mutating func done(_ index: Int) {
        streams[index].isDone = true
        if streams[index].isClosed { free.append(index) }
    }

    mutating func takeOutcomes(_ body: (borrowing Stream, Outcome.Kind) -> Void) {
        for outcome in outcomes {
            body(streams[outcome.stream], outcome.kind)
            done(outcome.stream)
        }
        outcomes.removeAll(keepingCapacity: true)
    }

    mutating func report(_ index: Int, _ kind: Outcome.Kind) {
        if streams[index].isReported { return }
        streams[index].isReported = true
        outcomes.append(Outcome(stream: index, kind: kind))
        if kind == .answered { allowance.answered() } else { allowance.ended() }
    }

    private mutating func close(_ index: Int) {
        if streams[index].isClosed { return }
        streams[index].isClosed = true
        if streams[index].isDone { free.append(index) }
    }

    mutating func closed(_ index: Int, code: UInt32) {
        if code == NGHTTP2_REFUSED_STREAM.rawValue, !streams[index].answer.isHeaderRead {
            report(index, .refused(code))
        } else if code == NGHTTP2_HTTP_1_1_REQUIRED.rawValue, !streams[index].answer.isHeaderRead {
            wantsHTTP1 = true
            report(index, .unwanted)
        } else {
            report(index, streams[index].wasReset ? .lost(code) : .broken(code))
        }
        close(index)
    }

    mutating func wasReset(_ index: Int) { streams[index].wasReset = true }

    // MARK: What is sent

    mutating func begins(_ index: Int) { streams[index].start = serializedCount }

    mutating func serialized(_ count: Int) {
        serializedCount += count
        if let endedStream { streams[endedStream].end = serializedCount }
        endedStream = nil
    }

    /// Copies the next bytes of a call's body; true when those are the last.
    mutating func readBody(_ index: Int, into buffer: UnsafeMutableRawBufferPointer) -> (count: Int, isLast: Bool) {
        let (read, all) = (streams[index].bodyRead, streams[index].body.count)
        let count = min(buffer.count, all - read)
        streams[index].body.withUnsafeBytes {
            buffer.copyMemory(from: UnsafeRawBufferPointer(rebasing: $0[read..<read + count]))
        }
        streams[index].bodyRead += count
        return (count, read + count == all)
    }

    // MARK: What comes

    /// Counts received bytes; false when they are more than answers need.
    mutating func received(_ count: Int) -> Bool {
        allowance.spend(bytes: count) || fail("more was sent than answers need")
    }

    /// Begins a frame; false when it is one too many.
    mutating func beginFrame(_ header: nghttp2_frame_hd) -> Bool {
        let type = UInt32(header.type)
        if type == NGHTTP2_DATA.rawValue, header.length > 0 { return true }
        if !allowance.spendFrame() { return fail("more frames were sent than answers need") }
        if type == NGHTTP2_HEADERS.rawValue { blockBytes = 0 }
        if type == NGHTTP2_HEADERS.rawValue || type == NGHTTP2_CONTINUATION.rawValue {
            blockBytes += header.length
            if blockBytes > AnswerReader.headerLimit { return fail(AnswerReader.describe(.headersTooLarge)) }
        }
        return true
    }

    private mutating func fail(_ text: String) -> Bool {
        note(text)
        return false
    }

    /// Notes that the connection has become unusable; the first reason counts.
    mutating func note(_ text: String) { fault = fault ?? text }

    mutating func offers(places: Int) {
        self.places = places
        hasNews = true
    }

    mutating func goesAway(code: UInt32) {
        isGoingAway = true
        if code == NGHTTP2_HTTP_1_1_REQUIRED.rawValue { wantsHTTP1 = true }
        hasNews = true
    }

    /// Takes a field of the answer; false when it is invalid.
    mutating func appendField(_ index: Int, _ name: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) -> Bool {
        // Trailers have nothing that is wanted.
        if streams[index].answer.isHeaderRead { return true }
        // As HTTP/2 counts them.
        streams[index].fieldBytes += name.count + value.count + 32
        if streams[index].fieldBytes > AnswerReader.headerLimit {
            streams[index].fault = .headersTooLarge
            return false
        }
        if name.first == UInt8(ascii: ":") {
            streams[index].fault = streams[index].appendPseudoField(name, value)
            return streams[index].fault == nil
        }
        streams[index].hasField = true
        streams[index].answer.appendName(name, isError: streams[index].announced >= 300)
        streams[index].answer.appendValue(value)
        return true
    }

    /// Ends the fields; false when this is no valid answer.
    mutating func endFields(_ index: Int) -> Bool {
        if streams[index].answer.isHeaderRead { return true }
        let status = streams[index].announced
        if status < 0 || streams[index].answer.endHeaders(status: status, isHTTP1: true) < 0 {
            streams[index].fault = streams[index].answer.fault ?? .noStatus
            report(index, .broken(NGHTTP2_PROTOCOL_ERROR.rawValue))
            return false
        }
        // After an interim answer the fields begin anew.
        if status < 200 {
            _ = streams[index].answer.endMessage(isKeptAlive: true)
            streams[index].announced = -1
            streams[index].hasField = false
        }
        return true
    }

    /// Takes a piece of the body; false when no more is taken from now on.
    mutating func appendBody(_ index: Int, _ piece: UnsafeRawBufferPointer) -> Bool {
        if streams[index].isReported { return true }
        if streams[index].answer.appendBody(piece) == 0 { return true }
        _ = streams[index].answer.endMessage(isKeptAlive: true)
        report(index, .answered)
        return false
    }

    /// Ends the stream of the other side; false when it did not wait for the whole call.
    mutating func ended(_ index: Int) -> Bool {
        if streams[index].isReported { return true }
        if streams[index].answer.isHeaderRead {
            _ = streams[index].answer.endMessage(isKeptAlive: true)
            report(index, .answered)
        } else {
            streams[index].fault = .onlyInterim
            report(index, .broken(NGHTTP2_PROTOCOL_ERROR.rawValue))
        }
        return streams[index].bodyRead == streams[index].body.count
    }
}

extension HTTP2Streams.Stream {
    fileprivate mutating func begin(_ call: Int32, keepsBody: Bool, body: UnsafeRawBufferPointer) {
        id = 0
        self.call = call
        answer.begin(keepsBody: keepsBody)
        self.body.removeAll(keepingCapacity: true)
        self.body.append(contentsOf: body)
        bodyRead = 0
        start = .max
        end = .max
        fieldBytes = 0
        isReported = false
        isDone = false
        isClosed = false
        wasReset = false
        announced = -1
        hasField = false
        fault = nil
    }

    /// The fault of a field whose name begins with a colon; `nil` for the status.
    fileprivate mutating func appendPseudoField(
        _ name: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer
    ) -> AnswerReader.Fault? {
        let expected: StaticString = ":status"
        guard name.count == expected.utf8CodeUnitCount, let start = name.baseAddress,
            memcmp(start, expected.utf8Start, name.count) == 0, announced < 0, !hasField
        else { return .pseudoField }
        guard value.count == 3, value.allSatisfy({ (0x30...0x39).contains($0) }) else { return .noStatus }
        announced = value.reduce(0) { $0 * 10 + Int32($1 - 0x30) }
        return nil
    }

    /// Whether the whole call is written, on a connection that has written this many bytes.
    func isWhollyWritten(_ count: Int) -> Bool { end <= count }
    func isUntouched(_ count: Int) -> Bool { start >= count }
}
