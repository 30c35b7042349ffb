import HeraldTime

/// Bounds the warnings and errors of one kind: some in each minute, then one, with how many were like it: pure.
///
/// Lines are of one kind that differ in digits alone, such as an offset or a lane.
struct LineLimit: Sendable {
    static let window: Milliseconds = .minutes(1)
    /// The lines of a kind written in a minute, unless the minute before had more.
    static let most = 5
    /// The number of kinds told apart; lines of further ones are written.
    static let kinds = 500

    private struct Kind {
        var level: LogLevel
        var endsAt: WallTime
        var written = 1
        var most = LineLimit.most
        var more = 0
        /// The latest of those that were not written.
        var message = ""
    }

    private var kinds: [[UInt8]: Kind] = [:]
    private var nextEnd = never
    private static let never = WallTime(milliseconds: .max)

    /// Takes a line; false when it is only counted.
    mutating func admit(_ message: String, level: LogLevel, now: WallTime) -> Bool {
        guard level <= .warning else { return true }
        let digits = UInt8(ascii: "0")...UInt8(ascii: "9")
        let key = [UInt8(level.verbosity)] + message.utf8.filter { !digits.contains($0) }
        guard var kind = kinds[key] else {
            if kinds.count < Self.kinds { note(Kind(level: level, endsAt: now.advanced(by: Self.window)), key) }
            return true
        }
        let isWritten = kind.written < kind.most
        if isWritten {
            kind.written += 1
        } else {
            kind.more += 1
            kind.message = message
        }
        kinds[key] = kind
        return isWritten
    }

    /// What to write of the kinds whose minute is over, or of all.
    mutating func takeCounts(now: WallTime, ofAll: Bool = false) -> [(message: String, level: LogLevel)] {
        guard now >= nextEnd || ofAll else { return [] }
        nextEnd = Self.never
        var told: [(message: String, level: LogLevel)] = []
        for (key, kind) in kinds {
            guard now >= kind.endsAt || ofAll else {
                nextEnd = min(nextEnd, kind.endsAt)
                continue
            }
            guard kind.more > 0 else {
                kinds[key] = nil
                continue
            }
            told.append(("\(kind.more) more in the last minute, such as: \(kind.message)", kind.level))
            note(Kind(level: kind.level, endsAt: now.advanced(by: Self.window), written: 0, most: 1), key)
        }
        return told.sorted { $0.message < $1.message }
    }

    private mutating func note(_ kind: Kind, _ key: [UInt8]) {
        kinds[key] = kind
        nextEnd = min(nextEnd, kind.endsAt)
    }
}
