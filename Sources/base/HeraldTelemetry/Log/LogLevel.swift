/// The importance of a log line; a logger writes lines of its own level and more important ones.
public enum LogLevel: String, CaseIterable, Comparable, Sendable {
    /// Something failed and an operator has to act.
    case error
    /// Something is wrong and may fix itself.
    case warning
    /// Normal work that an operator wants to see.
    case info
    /// For debugging.
    case debug

    var verbosity: Int {
        switch self {
        case .error: 0
        case .warning: 1
        case .info: 2
        case .debug: 3
        }
    }

    /// Whether the left level is more important.
    public static func < (left: Self, right: Self) -> Bool { left.verbosity < right.verbosity }
}
