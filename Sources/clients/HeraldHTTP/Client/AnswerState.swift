internal import CHTTPParser

/// What http_parser's callbacks write down about an answer.
///
/// It lives at a fixed address, which the parser carries as its `data`, so that a callback costs no reference count.
/// Callbacks come for pieces of a name or value.
struct AnswerState {
    /// Bytes given to the parser, of all interim answers too.
    var received = 0
    private(set) var isHeaderRead = false
    /// The final answer's; 0 until its headers are read.
    private(set) var status: Int32 = 0
    private(set) var isComplete = false
    private(set) var isKeptAlive = false
    private(set) var isBodyCut = false
    private(set) var fault: AnswerReader.Fault?
    private(set) var retryAfter: [UInt8] = []
    private(set) var body: [UInt8] = []

    private var keepsBody = false
    private var bodyCount = 0
    /// How many letters of `Retry-After` the name has matched so far; -1 for another name.
    private var matchedCount = 0
    private var isInValue = false
    private var keepsValue = false
    private var hasRetryAfter = false

    private static let retryAfterName: StaticString = "retry-after"

    mutating func begin(keepsBody: Bool) {
        received = 0
        isHeaderRead = false
        status = 0
        isComplete = false
        isKeptAlive = false
        isBodyCut = false
        fault = nil
        self.keepsBody = keepsBody
        bodyCount = 0
        body.removeAll(keepingCapacity: true)
        beginHeaders()
    }

    private mutating func beginHeaders() {
        retryAfter.removeAll(keepingCapacity: true)
        matchedCount = 0
        isInValue = false
        keepsValue = false
        hasRetryAfter = false
    }

    private mutating func appendName(_ piece: UnsafeRawBufferPointer) {
        if isHeaderRead { return }
        if isInValue {
            isInValue = false
            matchedCount = 0
        }
        let expected = Self.retryAfterName
        for byte in piece where matchedCount >= 0 {
            let isMatch = matchedCount < expected.utf8CodeUnitCount && expected.utf8Start[matchedCount] == byte | 0x20
            matchedCount = isMatch ? matchedCount + 1 : -1
        }
    }

    private mutating func appendValue(_ piece: UnsafeRawBufferPointer) {
        if isHeaderRead { return }
        if !isInValue {
            isInValue = true
            // The first of several counts.
            keepsValue = !hasRetryAfter && matchedCount == Self.retryAfterName.utf8CodeUnitCount
            if keepsValue { hasRetryAfter = true }
        }
        if keepsValue { retryAfter.append(contentsOf: piece.prefix(AnswerReader.valueLimit - retryAfter.count)) }
    }

    private mutating func endHeaders(_ parser: http_parser) -> Int32 {
        let status = parser.status_code
        if parser.http_major != 1 { return fail(.notHTTP1) }
        if status < 100 || status > 599 { return fail(.statusOutOfRange) }
        if status == 101 { return fail(.protocolSwitch) }
        // Interim answers, 204 and 304 have no body, whatever their headers say; http_parser has to be told.
        if status < 200 { return 1 }
        isHeaderRead = true
        self.status = Int32(status)
        if status >= 300 { keepsBody = true }
        return status == 204 || status == 304 ? 1 : 0
    }

    private mutating func fail(_ fault: AnswerReader.Fault) -> Int32 {
        self.fault = fault
        return -1
    }

    private mutating func appendBody(_ piece: UnsafeRawBufferPointer) -> Int32 {
        let room = AnswerReader.bodyLimit - bodyCount
        bodyCount += piece.count
        if keepsBody { body.append(contentsOf: piece.prefix(room)) }
        isBodyCut = piece.count > room
        return isBodyCut ? -1 : 0
    }

    private mutating func endMessage(_ parser: UnsafeMutablePointer<http_parser>) {
        guard isHeaderRead else {
            // An interim answer: the real one follows.
            return beginHeaders()
        }
        isComplete = true
        isKeptAlive = http_should_keep_alive(parser) != 0
        http_parser_pause(parser, 1)
    }

    static let callbacks: http_parser_settings = {
        var settings = http_parser_settings()
        http_parser_settings_init(&settings)
        settings.on_header_field = { parser, at, count in
            AnswerState.of(parser)?.pointee.appendName(UnsafeRawBufferPointer(start: at, count: count))
            return 0
        }
        settings.on_header_value = { parser, at, count in
            AnswerState.of(parser)?.pointee.appendValue(UnsafeRawBufferPointer(start: at, count: count))
            return 0
        }
        settings.on_headers_complete = { parser in
            guard let parser, let state = AnswerState.of(parser) else { return -1 }
            return state.pointee.endHeaders(parser.pointee)
        }
        settings.on_body = { parser, at, count in
            AnswerState.of(parser)?.pointee.appendBody(UnsafeRawBufferPointer(start: at, count: count)) ?? -1
        }
        settings.on_message_complete = { parser in
            guard let parser, let state = AnswerState.of(parser) else { return -1 }
            state.pointee.endMessage(parser)
            return 0
        }
        return settings
    }()

    private static func of(_ parser: UnsafeMutablePointer<http_parser>?) -> UnsafeMutablePointer<AnswerState>? {
        parser?.pointee.data?.assumingMemoryBound(to: AnswerState.self)
    }
}
