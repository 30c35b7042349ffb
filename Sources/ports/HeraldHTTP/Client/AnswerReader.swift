internal import CHTTPParser

/// Reads one HTTP/1.x answer at a time from the bytes of a connection, in whatever pieces they come.
///
/// This file alone knows http_parser: its project is archived, so that another parser may have to take its place.
///
/// The reader knows no socket. What comes out depends on the bytes alone, never on how they were split. Its memory is used
/// again for the next answer: an answer whose body is not kept allocates nothing.
final class AnswerReader {
    /// Status line and headers together, interim (1xx) answers included.
    static let headerLimit = 64 * 1_024
    /// As much of a body as is kept; a longer one is cut, which ends the connection and leaves the status as it is.
    static let bodyLimit = 64 * 1_024
    /// Everything together, so that a body in tiny chunks has an end too.
    static let answerLimit = 1_024 * 1_024
    /// As much of a header's value as is kept.
    static let valueLimit = 256
    /// As much of an address as is kept.
    static let locationLimit = 2_048

    /// How far the answer is.
    enum Progress: Equatable {
        /// More bytes have to come.
        case incomplete
        /// The answer is there. `isReusable` is false when the connection must not carry another one.
        case complete(isReusable: Bool)
        /// This is no HTTP/1.x answer, or none that we take.
        case broken(Fault)
    }

    /// What is wrong with an answer.
    enum Fault: Equatable {
        /// http_parser's error number.
        case syntax(UInt32)
        case statusOutOfRange
        case notHTTP1
        case headersTooLarge
        case protocolSwitch
        case differentLengths
        /// Of HTTP/2: a pseudo-field that is unknown, comes twice or comes late.
        case pseudoField
        case noStatus
        /// Of HTTP/2: nothing follows an interim answer.
        case onlyInterim
    }

    private let parser: UnsafeMutablePointer<http_parser>
    /// At a fixed address, which the parser carries as its `data`, so that a callback costs no reference count.
    private let state: UnsafeMutablePointer<AnswerState>
    private let settings: UnsafeMutablePointer<http_parser_settings>

    /// - Parameter keepsLocation: whether the header Location is wanted.
    init(keepsLocation: Bool = false) {
        parser = .allocate(capacity: 1)
        parser.initialize(to: http_parser())
        state = .allocate(capacity: 1)
        state.initialize(to: AnswerState())
        state.pointee.keepsLocation = keepsLocation
        settings = .allocate(capacity: 1)
        settings.initialize(to: Self.callbacks)
        begin(keepsBody: false)
    }

    deinit {
        parser.deallocate()
        state.deinitialize(count: 1)
        state.deallocate()
        settings.deallocate()
    }

    /// The answer's status, once its headers are read; 0 before that.
    var status: Int32 { state.pointee.status }

    /// What there is of an answer that goes no further, in words; `nil` when not even its status is known.
    var fragment: String? {
        if status > 0 { return Self.fragment(status: status) }
        let announced = parser.pointee.status_code
        return hasBegun && (200...599).contains(announced) ? "a \(announced) whose headers were cut off" : nil
    }

    /// The same of an answer whose headers are there.
    static func fragment(status: Int32) -> String { "a \(status) whose body was cut off" }

    /// The value of the first Retry-After header, at most ``valueLimit`` bytes; empty without one.
    var retryAfter: [UInt8] { state.pointee.retryAfter }

    /// The value of the Location header, at most ``locationLimit`` bytes; empty without one, or when it is not wanted.
    var location: [UInt8] { state.pointee.location }

    /// The first ``bodyLimit`` bytes of the body; empty for a 2xx answer whose body the caller does not want.
    var body: [UInt8] { state.pointee.body }

    /// The value of an error's first Date header, at most ``valueLimit`` bytes; empty without one.
    var date: [UInt8] { state.pointee.date }

    /// Whether bytes came behind an answer whose connection was to go on, which nothing in it announced.
    private(set) var hasSurplus = false

    /// Whether a byte of the answer has come.
    var hasBegun: Bool { state.pointee.received > 0 }

    /// Forgets the last answer and waits for the next.
    ///
    /// - Parameter keepsBody: whether the body of a 2xx answer is wanted; that of any other answer is always kept.
    func begin(keepsBody: Bool) {
        hasSurplus = false
        state.pointee.begin(keepsBody: keepsBody)
    }

    /// Takes the next bytes of the connection; not to be called again once the answer is complete or broken.
    ///
    /// - Parameter memo: what readers with the same wishes have read before; one that comes whole is learned.
    func feed(_ bytes: UnsafeRawBufferPointer, memo: inout ResponseMemo) -> Progress {
        guard !hasBegun, state.pointee.isBodyOptional else { return feed(bytes) }
        if memo.hasBytes(bytes) {
            state.pointee.endRemembered(status: memo.status, count: bytes.count)
            return .complete(isReusable: true)
        }
        let progress = feed(bytes)
        if progress == .complete(isReusable: true), state.pointee.hasKeptNothing {
            memo.become(bytes, status: status)
        }
        return progress
    }

    /// Takes the next bytes of the connection, whatever was read before.
    func feed(_ bytes: UnsafeRawBufferPointer) -> Progress {
        if !hasBegun {
            http_parser_init(parser, HTTP_RESPONSE)
            parser.pointee.data = UnsafeMutableRawPointer(state)
        }
        var rest = bytes[...]
        while let base = UnsafeRawBufferPointer(rebasing: rest).baseAddress, !rest.isEmpty {
            // The limits are exact, whatever the pieces: the parser never sees a byte beyond the one that counts.
            let isHeaderRead = state.pointee.isHeaderRead
            let allowed = (isHeaderRead ? Self.answerLimit : Self.headerLimit) - state.pointee.received
            if allowed <= 0 { return isHeaderRead ? .complete(isReusable: false) : .broken(.headersTooLarge) }
            let offered = min(rest.count, allowed)
            state.pointee.received += offered
            let consumed = http_parser_execute(
                parser, settings, base.assumingMemoryBound(to: CChar.self), offered)
            if state.pointee.isComplete {
                // Bytes after the end belong to no request of ours.
                hasSurplus = state.pointee.isKeptAlive && consumed < rest.count
                return .complete(isReusable: state.pointee.isKeptAlive && !hasSurplus)
            }
            if let fault { return fault }
            rest = rest.dropFirst(offered)
        }
        return .incomplete
    }

    /// Takes note that the connection ended; `nil` when it ended before the answer did.
    func end() -> Progress? {
        guard state.pointee.isHeaderRead else { return nil }
        // An answer without a length ends with its connection; any other one has been cut off.
        _ = http_parser_execute(parser, settings, nil, 0)
        return state.pointee.isComplete ? .complete(isReusable: false) : nil
    }

    private var fault: Progress? {
        let number = parser.pointee.http_errno
        if number == HPE_OK.rawValue { return nil }
        if state.pointee.isBodyCut { return .complete(isReusable: false) }
        return .broken(state.pointee.fault ?? .syntax(number))
    }

    /// One line for people about what is wrong with an answer.
    static func describe(_ fault: Fault) -> String {
        switch fault {
        case .syntax(let number):
            "the answer is not HTTP: \(String(cString: http_errno_description(http_errno(rawValue: number))))"
        case .statusOutOfRange: "the answer's status is not between 100 and 599"
        case .notHTTP1: "the answer is not HTTP/1.x"
        case .headersTooLarge: "the answer's headers are larger than \(headerLimit / 1_024) KiB"
        case .protocolSwitch: "the answer switches to another protocol"
        case .differentLengths: "the answer has two different lengths (RFC 9112, 6.3)"
        case .pseudoField: "the answer has a pseudo-field that is unknown, comes twice or late (RFC 9113, 8.3)"
        case .noStatus: "the answer has no :status of three digits (RFC 9113, 8.3.2)"
        case .onlyInterim: "the answer ends with an interim one (RFC 9113, 8.1)"
        }
    }

    private static let callbacks: http_parser_settings = {
        var settings = http_parser_settings()
        http_parser_settings_init(&settings)
        settings.on_header_field = { parser, at, count in
            guard let parser, let state = AnswerReader.state(of: parser) else { return -1 }
            state.pointee.endLength(parser.pointee.content_length)
            let isError = parser.pointee.status_code >= 300
            state.pointee.appendName(UnsafeRawBufferPointer(start: at, count: count), isError: isError)
            return 0
        }
        settings.on_header_value = { parser, at, count in
            guard let parser, let state = AnswerReader.state(of: parser) else { return -1 }
            if parser.pointee.flags & F_CONTENTLENGTH.rawValue != 0 {
                // The parser would refuse a second length, whatever it is.
                parser.pointee.flags &= ~F_CONTENTLENGTH.rawValue
                state.pointee.beginLength()
            }
            state.pointee.appendValue(UnsafeRawBufferPointer(start: at, count: count))
            return 0
        }
        settings.on_headers_complete = { parser in
            guard let parser, let state = AnswerReader.state(of: parser) else { return -1 }
            state.pointee.endLength(parser.pointee.content_length)
            return state.pointee.endHeaders(
                status: Int32(parser.pointee.status_code), isHTTP1: parser.pointee.http_major == 1,
                isEncoded: parser.pointee.uses_transfer_encoding != 0)
        }
        settings.on_body = { parser, at, count in
            AnswerReader.state(of: parser)?.pointee.appendBody(UnsafeRawBufferPointer(start: at, count: count)) ?? -1
        }
        settings.on_message_complete = { parser in
            guard let parser, let state = AnswerReader.state(of: parser) else { return -1 }
            let isKeptAlive = http_should_keep_alive(parser) != 0
            if state.pointee.endMessage(isKeptAlive: isKeptAlive) { http_parser_pause(parser, 1) }
            return 0
        }
        return settings
    }()

    private static func state(of parser: UnsafeMutablePointer<http_parser>?) -> UnsafeMutablePointer<AnswerState>? {
        parser?.pointee.data?.assumingMemoryBound(to: AnswerState.self)
    }
}
