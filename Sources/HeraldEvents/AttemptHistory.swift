import HeraldBytes
import HeraldTime

/// The JSON array of calls in `herald-history`.
public enum AttemptHistory {
    /// The most bytes that a history has; the oldest calls go first.
    public static let maximumByteCount = 8_192

    /// Appends a history of the calls before and the new ones, without the oldest when that would be too long.
    ///
    /// What was before and is no JSON array of objects is left out, all of it: a history is for people, and never a
    /// reason to stop.
    public static func append(_ entries: [AttemptEntry], to existing: RawSpan, into output: inout [UInt8]) {
        var pieces: [UInt8] = []
        var starts: [Int] = []
        for range in elements(of: existing) {
            starts.append(pieces.count)
            pieces.append(copying: existing.extracting(range))
        }
        for entry in entries {
            starts.append(pieces.count)
            append(entry, to: &pieces)
        }
        var first = 0
        // Two brackets, and a comma between two calls.
        while first < starts.count, pieces.count - starts[first] + starts.count - first + 1 > maximumByteCount {
            first += 1
        }
        output.append(UInt8(ascii: "["))
        for index in first..<starts.count {
            if index > first { output.append(UInt8(ascii: ",")) }
            output += pieces[starts[index]..<(index + 1 < starts.count ? starts[index + 1] : pieces.count)]
        }
        output.append(UInt8(ascii: "]"))
    }

    /// The calls that a history tells; one that is damaged tells none, and what is no call is left out.
    public static func decode(_ history: RawSpan) -> [AttemptEntry] {
        guard let value = try? JSONValue(history), case .array(let elements) = value else { return [] }
        return elements.compactMap { element in
            guard let at = element["at"]?.time, let pushService = element["pns"]?.string,
                let milliseconds = element["ms"]?.integer
            else { return nil }
            return AttemptEntry(
                at: at, pushService: pushService, status: element["status"]?.integer.map { Int($0) },
                error: element["error"]?.string, durationMilliseconds: milliseconds)
        }
    }

    private static func append(_ entry: AttemptEntry, to output: inout [UInt8]) {
        var writer = JSONObjectWriter()
        writer.append("at", entry.at, to: &output)
        writer.append("pns", entry.pushService, to: &output)
        if let status = entry.status { writer.append("status", Int64(status), to: &output) }
        if let error = entry.error { writer.append("error", error, to: &output) }
        writer.append("ms", entry.durationMilliseconds, to: &output)
        writer.end(&output)
    }

    /// Where the array's elements are; nowhere when it is no array of objects.
    private static func elements(of history: RawSpan) -> [Range<Int>] {
        var reader = JSONReader(history)
        var ranges: [Range<Int>] = []
        do {
            let array = try reader.readValue()
            try reader.expectEnd()
            guard array.kind == .array else { return [] }
            reader = JSONReader(history, offset: array.range.lowerBound)
            try reader.enterContainer()
            var isFirst = true
            while let element = try reader.nextElement(isFirst: &isFirst) {
                guard element.kind == .object else { return [] }
                ranges.append(element.range)
            }
        } catch {
            return []
        }
        return ranges
    }
}
