import Glibc
import HeraldSettings
import HeraldTelemetry

extension Settings {
    /// Where log lines go: standard error, as the settings say.
    func logWriter(isColoured: Bool) throws -> LogWriter {
        switch log.format {
        case .json: try LogWriter(format: .json)
        case .text: try LogWriter(format: .text(coloured: isColoured))
        }
    }

    /// The level from which on lines are written.
    var logLevel: HeraldTelemetry.LogLevel {
        switch log.level {
        case .error: .error
        case .warning: .warning
        case .info: .info
        case .debug: .debug
        }
    }
}
