/// Writes log lines of its level and above; cheap to copy, and a line of a level that is off costs one comparison.
///
/// Never blocks: a background thread writes, and when nobody reads, lines are dropped and counted (``LogWriter``).
public struct Logger: Sendable {
    /// Lines of less important levels are left out.
    public let level: LogLevel
    /// The fields that every line carries.
    public let fields: LogFields
    private let writer: LogWriter?

    /// A logger to a writer.
    public init(_ writer: LogWriter, level: LogLevel) {
        self.init(writer: writer, level: level, fields: [:])
    }

    private init(writer: LogWriter?, level: LogLevel, fields: LogFields) {
        self.writer = writer
        self.level = level
        self.fields = fields
    }

    /// A logger that writes nothing.
    public static let silent = Logger(writer: nil, level: .error, fields: [:])

    /// The same logger with more fields on every line.
    public func with(_ fields: LogFields) -> Self {
        Self(writer: writer, level: level, fields: self.fields.merging(fields))
    }

    /// Whether lines of this level are written.
    public func isOn(_ level: LogLevel) -> Bool { level <= self.level && writer != nil }

    /// Writes a line, unless its level is off; then neither the message nor the fields are made.
    public func log(
        _ level: LogLevel, _ message: @autoclosure () -> String, _ fields: @autoclosure () -> LogFields = [:]
    ) {
        guard level <= self.level, let writer else { return }
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
