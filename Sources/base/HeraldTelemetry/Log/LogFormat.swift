import HeraldText
import HeraldTime

/// The format of log lines.
public enum LogFormat: Sendable, Equatable {
    /// One JSON object per line: `time` (RFC 3339), `level`, `message`, then the fields.
    case json
    /// For people: time, level, message, `name=value`; with colours only on a terminal that supports them.
    case text(coloured: Bool)

    func append(
        _ message: String, level: LogLevel, at time: WallTime, _ fields: LogFields, to output: inout [UInt8]
    ) {
        switch self {
        case .json: Self.appendJSON(message, level, time, fields, to: &output)
        case .text(let coloured): Self.appendText(message, level, time, fields, coloured, to: &output)
        }
        output.append(UInt8(ascii: "\n"))
    }

    private static func appendJSON(
        _ message: String, _ level: LogLevel, _ time: WallTime, _ fields: LogFields, to output: inout [UInt8]
    ) {
        output += "{\"time\":\"".utf8
        RFC3339.append(time, to: &output)
        output += "\",\"level\":\"".utf8
        output += level.rawValue.utf8
        output += "\",\"message\":".utf8
        LogText.appendQuoted(message, to: &output)
        for field in fields.fields {
            output.append(UInt8(ascii: ","))
            LogText.appendQuoted(name(of: field), to: &output)
            output.append(UInt8(ascii: ":"))
            switch field.value {
            case .string(let text): LogText.appendQuoted(text, to: &output)
            case .int(let number): output += "\(number)".utf8
            case .double(let number) where number.isFinite: output += "\(number)".utf8
            case .double(let number): LogText.appendQuoted("\(number)", to: &output)
            case .bool(let bool): output += "\(bool)".utf8
            }
        }
        output.append(UInt8(ascii: "}"))
    }

    private static func appendText(
        _ message: String, _ level: LogLevel, _ time: WallTime, _ fields: LogFields, _ coloured: Bool,
        to output: inout [UInt8]
    ) {
        RFC3339.append(time, to: &output)
        output += coloured ? " \u{1B}[\(colour(of: level))m".utf8 : " ".utf8
        output += level.rawValue.utf8
        if coloured { output += "\u{1B}[0m".utf8 }
        output += String(repeating: " ", count: widestLevel + 1 - level.rawValue.utf8.count).utf8
        output += SafeText.escapedAsJSON(message, escapingQuotes: false).utf8
        for field in fields.fields {
            output.append(UInt8(ascii: " "))
            output += SafeText.escapedAsJSON(name(of: field)).utf8
            output.append(UInt8(ascii: "="))
            switch field.value {
            case .string(let text) where LogText.isPlainWord(text): output += text.utf8
            case .string(let text): LogText.appendQuoted(text, to: &output)
            case .int(let number): output += "\(number)".utf8
            case .double(let number): output += "\(number)".utf8
            case .bool(let bool): output += "\(bool)".utf8
            }
        }
    }

    private static let widestLevel = "warning".utf8.count

    private static func name(of field: LogFields.Field) -> String {
        switch field.name {
        case "time", "level", "message": field.name + "_"
        default: field.name
        }
    }

    private static func colour(of level: LogLevel) -> Int {
        switch level {
        case .error: 31
        case .warning: 33
        case .info: 32
        case .debug: 2
        }
    }
}
