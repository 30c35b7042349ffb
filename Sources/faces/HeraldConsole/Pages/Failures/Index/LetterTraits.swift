internal import HeraldEvents
internal import HeraldReplay

/// The traits that many dead letters share, beside their campaign: grouping fields and the most frequent conditions.
struct LetterTraits: Hashable, Sendable {
    var reasonText: String?
    var reason: DeadLetterReason? { reasonText.flatMap(DeadLetterReason.init(rawValue:)) }
    var statusNumber: Int64?
    var pushServices: [String]
    /// The raw push services header, for conditions; `nil` without one.
    var pushServicesText: String?
    var source: String?
    var replays: Int
    /// The topic it came from, as far as known.
    var topic: String?
    var longField: String?
    var narrowTopics: String?
    /// Whether the notification may have arrived all the same.
    var mayHaveArrived: Bool

    init(_ entry: DeadLetterEntry) {
        reasonText = entry.reasonText
        statusNumber = entry.statusNumber
        pushServices = entry.pushServices
        pushServicesText = entry.text(.pns)
        source = entry.source
        replays = entry.replays
        topic = entry.topic
        longField = entry.longField
        narrowTopics = entry.narrowTopics
        mayHaveArrived = entry.mayHaveArrived
    }
}

/// A table of distinct values by number: most of a million dead letters share a few.
///
/// It is bounded in bytes, even with hostile headers: values beyond the bound become ``NumberedValues/unknown``.
struct NumberedValues<Value: Hashable & Sendable>: Sendable {
    /// The number of values that are not kept.
    static var unknown: UInt32 { .max }
    /// Longer texts are not real values.
    private static var longest: Int { 8 << 10 }

    /// The size limit of all values together.
    let byteLimit: Int
    private(set) var all: [Value] = []
    private var numbers: [Value: UInt32] = [:]
    private(set) var byteCount = 0

    init(byteLimit: Int) {
        self.byteLimit = byteLimit
    }

    /// The number of this value, whose size is about this; it is kept from then on if there is room.
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

struct LetterTables: Sendable {
    var traits = NumberedValues<LetterTraits>(byteLimit: 32 << 20)
    /// The inner `nil` stands for letters without a campaign.
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
    fileprivate var byteCount: Int {
        let texts = [reasonText, source, topic, pushServicesText].reduce(0) { $0 + ($1?.utf8.count ?? 0) }
        return 320 + texts + pushServices.reduce(0) { $0 + $1.utf8.count + 16 }
    }
}
