internal import HeraldEvents
internal import HeraldReplay

/// What many dead letters have in common, beside their campaign: what they are grouped by, and what conditions ask most.
struct LetterTraits: Hashable, Sendable {
    var reasonText: String?
    var reason: DeadLetterReason?
    var statusNumber: Int64?
    var pushServices: [String]
    /// The push services' header as it is, which conditions ask; `nil` when there is none.
    var pushServicesText: String?
    var source: String?
    var replays: Int
    /// The topic that it came from, as far as that is told.
    var topic: String?
    var hasLongMessage: Bool
    /// Whether a person may have got it all the same.
    var mayHaveArrived: Bool

    init(_ entry: DeadLetterEntry) {
        reasonText = entry.reasonText
        reason = entry.reason
        statusNumber = entry.statusNumber
        pushServices = entry.pushServices
        pushServicesText = entry.text(.pns)
        source = entry.source
        replays = entry.replays
        topic = entry.topic
        hasLongMessage = entry.hasLongMessage
        mayHaveArrived = entry.mayHaveArrived
    }
}

/// Each different value once, by number: most of a million dead letters share a few.
///
/// Bounded in bytes, whatever stands in headers: of what comes beyond that nothing is known (``NumberedValues/unknown``).
struct NumberedValues<Value: Hashable & Sendable>: Sendable {
    /// The number of values that are not kept.
    static var unknown: UInt32 { .max }
    /// Longer ones are no real values.
    private static var longest: Int { 8 << 10 }

    /// Bytes of all values together at most.
    let byteLimit: Int
    private(set) var all: [Value] = []
    private var numbers: [Value: UInt32] = [:]
    private(set) var byteCount = 0

    init(byteLimit: Int) {
        self.byteLimit = byteLimit
    }

    /// The number of this value, which takes about so many bytes; it is kept from now on if there is room.
    mutating func number(of value: Value, byteCount bytes: @autoclosure () -> Int) -> UInt32 {
        if let number = numbers[value] { return number }
        let bytes = bytes()
        guard bytes <= Self.longest, byteCount + bytes <= byteLimit else { return Self.unknown }
        byteCount += bytes
        let number = UInt32(all.count)
        numbers[value] = number
        all.append(value)
        return number
    }

    /// `nil` when it is not kept.
    subscript(number: UInt32) -> Value? { number == Self.unknown ? nil : all[Int(number)] }
}

/// What rows refer to by number.
struct LetterTables: Sendable {
    var traits = NumberedValues<LetterTraits>(byteLimit: 32 << 20)
    /// The empty one of the optional is that there is none.
    var campaigns = NumberedValues<String?>(byteLimit: 16 << 20)
    var details = NumberedValues<String?>(byteLimit: 16 << 20)

    mutating func traits(of entry: DeadLetterEntry) -> UInt32 {
        let traits = LetterTraits(entry)
        return self.traits.number(of: traits, byteCount: traits.byteCount)
    }

    mutating func campaign(of entry: DeadLetterEntry) -> UInt32 {
        let campaign = entry.campaign
        return campaigns.number(of: campaign, byteCount: 64 + (campaign?.utf8.count ?? 0))
    }

    mutating func detail(of entry: DeadLetterEntry) -> UInt32 {
        let detail = entry.text(.detail).map(NotificationTraits.cut)
        return details.number(of: detail, byteCount: 64 + (detail?.utf8.count ?? 0))
    }
}

extension LetterTraits {
    /// About what it takes in memory.
    fileprivate var byteCount: Int {
        let texts = [reasonText, source, topic, pushServicesText].reduce(0) { $0 + ($1?.utf8.count ?? 0) }
        return 320 + texts + pushServices.reduce(0) { $0 + $1.utf8.count + 16 }
    }
}
