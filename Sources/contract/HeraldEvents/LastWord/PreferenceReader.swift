import HeraldBytes
import HeraldText

/// Reads what counts of users' words, one record after another: strictly, because a mistake must not opt anybody in.
package struct PreferenceReader: Sendable {
    /// What a record comes to.
    package struct Reading: Equatable, Sendable {
        /// What was understood.
        package var optOut = OptOut()
        /// The quiet hours that were understood.
        package var quiet: QuietHours?
        /// What is wrong and where, as a continuation of "the record"; `nil` for a sound one.
        package var problem: String?

        /// Whether it counts as it is.
        package var isSound: Bool { problem == nil }
    }

    private let pushServices: PushServices
    private var scratch: [UInt8] = []

    package init(pushServices: PushServices) { self.pushServices = pushServices }

    /// Reads a record's value.
    package mutating func read(_ value: RawSpan) -> Reading {
        var reading = Reading()
        do throws(JSONError) {
            try read(value, into: &reading)
        } catch {
            reading.problem = reading.problem ?? "\(error)"
        }
        return reading
    }

    private mutating func read(_ value: RawSpan, into reading: inout Reading) throws(JSONError) {
        var reader = JSONReader(value)
        try reader.enterDocumentObject()
        var isFirst = true
        var (optOuts, quiets) = (0, 0)
        while let key = try reader.nextKey(isFirst: &isFirst) {
            let token = try reader.readValue()
            if names(key, "optOut", in: value) {
                optOuts += 1
                try readEntries(token, value, &reading)
            } else if names(key, "quiet", in: value) {
                quiets += 1
                try readQuiet(token, value, &reading)
            }
        }
        try reader.expectEnd()
        if optOuts == 0 { note("has no optOut; an empty one is written []", &reading) }
        if optOuts > 1 { note("holds optOut twice", &reading) }
        if quiets > 1 { note("holds quiet twice", &reading) }
    }

    private mutating func readEntries(
        _ token: JSONToken, _ value: RawSpan, _ reading: inout Reading
    ) throws(JSONError) {
        guard token.kind == .array else {
            return note("has an optOut that is \(token.kindName); it has to be an array of strings", &reading)
        }
        var reader = JSONReader(value, offset: token.range.lowerBound)
        try reader.enterContainer()
        var isFirst = true
        var index = 0
        while let element = try reader.nextElement(isFirst: &isFirst) {
            defer { index += 1 }
            guard element.kind == .string else {
                note("has \(element.kindName) as optOut[\(index)]; it has to be a string", &reading)
                continue
            }
            // What nearly all words are: no text is made of it.
            if !element.hasEscapes, value.extracting(element.range).hasSameBytes(as: "promotional") {
                reading.optOut.isOfPromotional = true
                continue
            }
            let entry = element.text(in: value)
            if let problem = reading.optOut.insert(entry, knowing: pushServices) {
                note("has optOut[\(index)], \(SafeText.quoted(entry, limit: 40)), which \(problem)", &reading)
            }
        }
    }

    private mutating func readQuiet(
        _ token: JSONToken, _ value: RawSpan, _ reading: inout Reading
    ) throws(JSONError) {
        if token.kind == .null { return }
        guard token.kind == .object else {
            return note("has a quiet that is \(token.kindName); it has to be an object", &reading)
        }
        var times: [String: Int] = [:]
        var zone: String?
        var days = Weekdays.all
        var reader = JSONReader(value, offset: token.range.lowerBound)
        try reader.enterContainer()
        var isFirst = true
        while let key = try reader.nextKey(isFirst: &isFirst) {
            let member = try reader.readValue()
            switch key.text(in: value) {
            case "zone" where member.kind != .null:
                zone = member.kind == .string ? member.text(in: value) : nil
                if !(zone.map { (1...QuietHours.longestZone).contains($0.utf8.count) } ?? false) {
                    note("has a quiet.zone that is no zone's name, as Europe/Berlin", &reading)
                }
            case let name where name == "start" || name == "end":
                times[name] = member.kind == .string ? QuietHours.minute(member.text(in: value)) : nil
            case "days": days = try readDays(member, value, &reading)
            default: break
            }
        }
        guard let start = times["start"], let end = times["end"] else {
            let name = times["start"] == nil ? "start" : "end"
            return note("has no quiet.\(name) that is a time, as \"22:00\"", &reading)
        }
        let quiet = QuietHours(zone: zone, start: start, end: end, days: days)
        if let problem = quiet.problem { return note("has quiet hours that \(problem)", &reading) }
        reading.quiet = quiet
    }

    private mutating func readDays(
        _ token: JSONToken, _ value: RawSpan, _ reading: inout Reading
    ) throws(JSONError) -> Weekdays {
        let allowed = "allowed: \(Weekdays.names.joined(separator: ", "))"
        guard token.kind == .array else {
            note("has quiet.days that are \(token.kindName); they have to be an array of days, \(allowed)", &reading)
            return .all
        }
        var days: Weekdays = []
        var reader = JSONReader(value, offset: token.range.lowerBound)
        try reader.enterContainer()
        var isFirst = true
        while let element = try reader.nextElement(isFirst: &isFirst) {
            if element.kind == .string, let day = Weekdays(named: element.text(in: value)) {
                days.insert(day)
            } else {
                note("has a day in quiet.days that is unknown; \(allowed)", &reading)
            }
        }
        if days.isEmpty { note("has quiet.days without a day; leave them out for each day", &reading) }
        return days
    }

    private mutating func names(_ key: JSONToken, _ name: StaticString, in value: RawSpan) -> Bool {
        let bytes = value.extracting(key.range)
        guard key.hasEscapes else { return bytes.hasSameBytes(as: name) }
        scratch.removeAll(keepingCapacity: true)
        JSONEscapes.append(bytes, to: &scratch)
        return scratch.span.bytes.hasSameBytes(as: name)
    }

    /// The first problem is the one that is told.
    private func note(_ problem: String, _ reading: inout Reading) { reading.problem = reading.problem ?? problem }
}
