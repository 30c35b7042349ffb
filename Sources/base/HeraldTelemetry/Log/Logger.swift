import Synchronization

/// Writes log lines of its level and above; cheap to copy, and a disabled level costs one comparison.
///
/// It never blocks: a background thread writes, and without a reader lines are dropped and counted (``LogWriter``).
public struct Logger: Sendable {
    /// The least important level that is written, shared by all loggers derived from one.
    private final class Threshold: Sendable {
        let verbosity: Atomic<Int>

        init(_ level: LogLevel) { verbosity = Atomic(level.verbosity) }
    }

    private let threshold: Threshold
    /// The fields that every line carries.
    public let fields: LogFields
    private let writer: LogWriter?

    /// A logger to a writer.
    public init(_ writer: LogWriter, level: LogLevel) {
        self.init(writer: writer, threshold: Threshold(level), fields: [:])
    }

    private init(writer: LogWriter?, threshold: Threshold, fields: LogFields) {
        self.writer = writer
        self.threshold = threshold
        self.fields = fields
    }

    /// A logger that writes nothing.
    public static let silent = Logger(writer: nil, threshold: Threshold(.error), fields: [:])

    /// The same logger with more fields on every line.
    public func with(_ fields: LogFields) -> Self {
        Self(writer: writer, threshold: threshold, fields: self.fields.merging(fields))
    }

    /// The same logger with a level of its own, unaffected by later changes of this one's.
    public func at(_ level: LogLevel) -> Self { Self(writer: writer, threshold: Threshold(level), fields: fields) }

    /// Changes the level of this logger, the one that it came from and all that came from them.
    ///
    /// Callable on any thread.
    public func use(_ level: LogLevel) { threshold.verbosity.store(level.verbosity, ordering: .relaxed) }

    /// Whether lines of this level are written.
    public func isOn(_ level: LogLevel) -> Bool { writer != nil && isWritten(level) }

    private func isWritten(_ level: LogLevel) -> Bool {
        level.verbosity <= threshold.verbosity.load(ordering: .relaxed)
    }

    /// Writes a line, unless its level is off; then neither the message nor the fields are made.
    public func log(
        _ level: LogLevel, _ message: @autoclosure () -> String, _ fields: @autoclosure () -> LogFields = [:]
    ) {
        guard isWritten(level), let writer else { return }
        writer.write(message(), level: level, self.fields.merging(fields()))
    }

    /// Writes a line of level `error`.
    public func error(_ message: @autoclosure () -> String, _ fields: @autoclosure () -> LogFields = [:]) {
        log(.error, message(), fields())
    }

    /// Writes a line of level `warning`.
    public func warning(_ message: @autoclosure () -> String, _ fields: @autoclosure () -> LogFields = [:]) {
        log(.warning, message(), fields())
    }

    /// Writes a line of level `info`.
    public func info(_ message: @autoclosure () -> String, _ fields: @autoclosure () -> LogFields = [:]) {
        log(.info, message(), fields())
    }

    /// Writes a line of level `debug`.
    public func debug(_ message: @autoclosure () -> String, _ fields: @autoclosure () -> LogFields = [:]) {
        log(.debug, message(), fields())
    }
}

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
