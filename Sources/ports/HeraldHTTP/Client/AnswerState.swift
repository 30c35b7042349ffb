/// The state of an ``AnswerReader`` while it reads; names, values and the body come in pieces.
struct AnswerState {
    /// Bytes given to the parser, of all interim answers too.
    var received = 0
    private(set) var isHeaderRead = false
    /// The final answer's status; 0 until its headers are read.
    private(set) var status: Int32 = 0
    private(set) var isComplete = false
    private(set) var isKeptAlive = false
    private(set) var isBodyCut = false
    private(set) var fault: AnswerReader.Fault?
    private(set) var retryAfter: [UInt8] = []
    private(set) var location: [UInt8] = []
    /// The Date of an error, to which its Retry-After may be relative.
    private(set) var date: [UInt8] = []
    private(set) var body: [UInt8] = []

    var keepsLocation = false
    private var keepsBody = false
    private var bodyCount = 0
    /// The number of letters of the expected name that have matched so far; -1 for another name.
    private var matchedCount = 0
    private var isInValue = false
    private var keepsValue = false
    private var hasRetryAfter = false
    /// The candidate name, by its first letter.
    private var field = Field.retryAfter

    private var isInLength = false
    private var length: UInt64?
    private var hasDifferentLengths = false
    /// Whether a body may follow that is not allowed, or whose end is doubtful.
    private var isLast = false

    private enum Field {
        case retryAfter
        case location
        case date

        var name: StaticString {
            switch self {
            case .retryAfter: "retry-after"
            case .location: "location"
            case .date: "date"
            }
        }
    }

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
        isLast = false
        body.removeAll(keepingCapacity: true)
        beginHeaders()
    }

    var isBodyOptional: Bool { !keepsBody }

    /// Whether only the answer's status is kept.
    var hasKeptNothing: Bool { retryAfter.isEmpty && location.isEmpty && body.isEmpty }

    /// Ends an answer that was read before: see ``ResponseMemo``.
    mutating func endRemembered(status: Int32, count: Int) {
        received = count
        isHeaderRead = true
        self.status = status
        isComplete = true
        isKeptAlive = true
    }

    private mutating func beginHeaders() {
        retryAfter.removeAll(keepingCapacity: true)
        matchedCount = 0
        isInValue = false
        keepsValue = false
        hasRetryAfter = false
        field = .retryAfter
        isInLength = false
        length = nil
        hasDifferentLengths = false
        date.removeAll(keepingCapacity: true)
        if keepsLocation { location.removeAll(keepingCapacity: true) }
    }

    mutating func beginLength() { isInLength = true }

    /// Ends that value, if any: repeated equal ones are allowed (RFC 9110, 8.6).
    mutating func endLength(_ value: UInt64) {
        guard isInLength else { return }
        isInLength = false
        if let length, length != value { hasDifferentLengths = true }
        length = value
    }

    mutating func appendName(_ piece: UnsafeRawBufferPointer, isError: Bool) {
        if isHeaderRead { return }
        if isInValue {
            isInValue = false
            matchedCount = 0
        }
        if matchedCount == 0 {
            switch piece.first.map({ $0 | 0x20 }) {
            case UInt8(ascii: "l") where keepsLocation: field = .location
            case UInt8(ascii: "d") where isError: field = .date
            default: field = .retryAfter
            }
        }
        let expected = field.name
        for byte in piece where matchedCount >= 0 {
            let isMatch = matchedCount < expected.utf8CodeUnitCount && expected.utf8Start[matchedCount] == byte | 0x20
            matchedCount = isMatch ? matchedCount + 1 : -1
        }
    }

    mutating func appendValue(_ piece: UnsafeRawBufferPointer) {
        if isHeaderRead { return }
        if !isInValue {
            isInValue = true
            keepsValue = matchedCount == field.name.utf8CodeUnitCount
            // The first of repeated ones counts.
            switch field {
            case .retryAfter:
                keepsValue = keepsValue && !hasRetryAfter
                if keepsValue { hasRetryAfter = true }
            case .location: keepsValue = keepsValue && location.isEmpty
            case .date: keepsValue = keepsValue && date.isEmpty
            }
        }
        guard keepsValue else { return }
        switch field {
        case .retryAfter: retryAfter.append(contentsOf: piece.prefix(AnswerReader.valueLimit - retryAfter.count))
        case .location: location.append(contentsOf: piece.prefix(AnswerReader.locationLimit - location.count))
        case .date: date.append(contentsOf: piece.prefix(AnswerReader.valueLimit - date.count))
        }
    }

    /// Returns 1 without a body, and -1 for an invalid answer.
    ///
    /// - Parameter isEncoded: whether there is a Transfer-Encoding, which determines the body's end despite any length.
    mutating func endHeaders(status: Int32, isHTTP1: Bool, isEncoded: Bool = false) -> Int32 {
        if !isHTTP1 { return fail(.notHTTP1) }
        if status < 100 || status > 599 { return fail(.statusOutOfRange) }
        if status == 101 { return fail(.protocolSwitch) }
        if hasDifferentLengths, !isEncoded { return fail(.differentLengths) }
        // Interim answers, 204 and 304 have no body, despite their headers; some backends send one all the same.
        let hasNoBody = status < 200 || status == 204 || status == 304
        isLast = isLast || (hasNoBody ? isEncoded || length ?? 0 > 0 : isEncoded && length != nil)
        if status < 200 { return 1 }
        isHeaderRead = true
        self.status = status
        if status >= 300 { keepsBody = true }
        return hasNoBody ? 1 : 0
    }

    private mutating func fail(_ fault: AnswerReader.Fault) -> Int32 {
        self.fault = fault
        return -1
    }

    mutating func appendBody(_ piece: UnsafeRawBufferPointer) -> Int32 {
        let room = AnswerReader.bodyLimit - bodyCount
        bodyCount += piece.count
        if keepsBody { body.append(contentsOf: piece.prefix(room)) }
        isBodyCut = piece.count > room
        return isBodyCut ? -1 : 0
    }

    /// False when it was an interim answer: the real one follows.
    mutating func endMessage(isKeptAlive: Bool) -> Bool {
        guard isHeaderRead else {
            beginHeaders()
            return false
        }
        isComplete = true
        self.isKeptAlive = isKeptAlive && !isLast
        return true
    }
}
