import HeraldText
import HeraldTime

/// The JSON array of calls in `herald-history`.
public enum AttemptHistory {
    /// The most bytes that a history has; the oldest calls go first.
    public static let maximumByteCount = 8_192

    /// The signs of a call without an answer, or with that of a gateway which got none.
    private static let signs = [Array(#""error""#.utf8), Array("504".utf8)]

    /// Whether a history may contain a call that may have arrived: a quick look, for callers that ask about a million.
    public static func mayDoubt(_ history: RawSpan) -> Bool {
        history.withUnsafeBytes { bytes in
            signs.contains { sign in
                var place = bytes.startIndex
                while let begin = bytes[place...].firstIndex(of: sign[0]) {
                    if bytes[begin...].starts(with: sign) { return true }
                    place = begin + 1
                }
                return false
            }
        }
    }

    /// The calls in a history; a damaged history has none, and invalid elements are left out.
    public static func decode(_ history: RawSpan) -> [AttemptEntry] {
        guard let value = try? JSONValue(history), case .array(let elements) = value else { return [] }
        return elements.compactMap { element in
            guard let at = element["at"]?.time, let pushService = element["pns"]?.string,
                let milliseconds = element["ms"]?.integer
            else { return nil }
            return AttemptEntry(
                at: at, pushService: pushService, status: element["status"]?.integer.map { Int($0) },
                error: element["error"]?.string, duration: .milliseconds(milliseconds))
        }
    }
}
