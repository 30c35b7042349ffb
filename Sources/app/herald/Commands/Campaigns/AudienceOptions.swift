import HeraldCampaigns
import HeraldCommandLine

/// How an audience is written, where that is not recognised.
enum AudienceOptions {
    static let format = CommandOption.optional(
        "format", .choice(AudienceFormat.self), "How the audience is written, if its name does not say.")
    static let delimiter = CommandOption.optional(
        "delimiter",
        ValueType<AudienceDelimiter>("CHAR", allowed: "one of , ; | tab, or comma, semicolon, pipe") {
            AudienceDelimiter($0)
        }, "What stands between a CSV file's fields; recognised by its first line if not given.")
    static let userColumn = CommandOption.optional(
        "user-column", .text("NAME"), "The column, or field, that holds the users; user if not given.")

    static let encoding = CommandOption.optional(
        "encoding",
        ValueType<AudienceEncoding>("NAME", allowed: "an encoding such as WINDOWS-1251 (iconv -l lists all)") {
            AudienceEncoding($0)
        }, "How its text is encoded, if not in UTF-8.")

    static let all: [any DeclaredOption] = [format, delimiter, userColumn, encoding]

    static func form(_ parsed: ParsedCommand) -> AudienceForm {
        AudienceForm(
            format: parsed[format], delimiter: parsed[delimiter], userColumn: parsed[userColumn],
            encoding: parsed[encoding])
    }
}
