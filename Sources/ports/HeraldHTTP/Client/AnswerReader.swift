internal import CHTTPParser

/// Reads one HTTP/1.x answer at a time from the bytes of a connection, in pieces of any size.
///
/// Only this file uses http_parser: its project is archived, so that another parser may have to replace it.
///
/// The reader knows no socket. Its result depends on the bytes alone, never on their split. Its memory is reused for
/// the next answer: an answer whose body is not kept allocates nothing.
final class AnswerReader {
    /// Status line and headers together, interim (1xx) answers included.
    static let headerLimit = 64 * 1_024
    /// The part of a body that is kept; a longer one is cut, which ends the connection and leaves the status as it is.
    static let bodyLimit = 64 * 1_024
    /// The size of a whole answer, so that a body in tiny chunks has an end too.
    static let answerLimit = 1_024 * 1_024
    static let valueLimit = 256
    static let locationLimit = 2_048

    enum Progress: Equatable {
        case incomplete
        /// The answer is complete. `isReusable` is false when the connection must not carry another one.
        case complete(isReusable: Bool)
        /// The bytes are no valid HTTP/1.x answer.
        case broken(Fault)
    }

    enum Fault: Equatable {
        case syntax(UInt32)
        case statusOutOfRange
        case notHTTP1
        case headersTooLarge
        case protocolSwitch
        case differentLengths
        /// HTTP/2: a pseudo-field that is unknown, repeated or late.
        case pseudoField
        case noStatus
        /// HTTP/2: nothing follows an interim answer.
        case onlyInterim
    }

    private let parser: UnsafeMutablePointer<http_parser>
    /// The state, at a fixed address, which the parser carries as its `data`, so that a callback costs no reference
    /// count.
    private let state: UnsafeMutablePointer<AnswerState>
    private let settings: UnsafeMutablePointer<http_parser_settings>

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

    /// The known part of an incomplete answer, in words; `nil` without a status.
    var fragment: String? {
        if status > 0 { return Self.fragment(status: status) }
        let announced = parser.pointee.status_code
        return hasBegun && (200...599).contains(announced) ? "a \(announced) whose headers were cut off" : nil
    }

    /// The known part of an answer with complete headers.
    static func fragment(status: Int32) -> String { "a \(status) whose body was cut off" }

    /// The value of the first Retry-After header, at most ``valueLimit`` bytes; empty without one.
    var retryAfter: [UInt8] { state.pointee.retryAfter }

    /// The value of the Location header, at most ``locationLimit`` bytes; empty without one, or when it is not wanted.
    var location: [UInt8] { state.pointee.location }

    /// The first ``bodyLimit`` bytes of the body; empty for a 2xx answer whose body the caller does not want.
    var body: [UInt8] { state.pointee.body }

    /// The value of an error's first Date header, at most ``valueLimit`` bytes; empty without one.
    var date: [UInt8] { state.pointee.date }

    /// Whether bytes followed an answer although its connection was to continue, which nothing in it announced.
    private(set) var hasSurplus = false

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
    /// - Parameter memo: the memory of readers with the same options; it learns an answer that comes in one piece.
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

    /// Takes the next bytes of the connection, without a memory.
    func feed(_ bytes: UnsafeRawBufferPointer) -> Progress {
        if !hasBegun {
            http_parser_init(parser, HTTP_RESPONSE)
            parser.pointee.data = UnsafeMutableRawPointer(state)
        }
        var rest = bytes[...]
        while let base = UnsafeRawBufferPointer(rebasing: rest).baseAddress, !rest.isEmpty {
            // The limits are exact for any pieces: the parser never sees a byte beyond the last one that counts.
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

    /// Notes that the connection ended; `nil` when it ended before the answer did.
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
