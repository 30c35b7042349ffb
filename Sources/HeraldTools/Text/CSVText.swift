internal import HeraldText

/// Cells of a CSV file (RFC 4180) that do nothing when a spreadsheet opens it.
public enum CSVText {
    /// A line of these cells, with its end.
    public static func line(_ cells: [String]) -> String {
        cells.map(cell).joined(separator: ",") + "\r\n"
    }

    /// The text as a cell: control characters escaped, quoted where needed, and with an apostrophe in front when a
    /// spreadsheet would take it for a formula.
    static func cell(_ text: String) -> String {
        var text = SafeText.escaped(text)
        // Spreadsheets skip leading spaces.
        if let first = text.first(where: { $0 != " " }), "=+-@|%＝＋－＠".contains(first), !isNumber(text) {
            text = "'" + text
        }
        guard text.contains(where: { "\",;\r\n".contains($0) }) || text.hasPrefix(" ") || text.hasSuffix(" ") else {
            return text
        }
        return "\"" + text.replacing("\"", with: "\"\"") + "\""
    }

    private static func isNumber(_ text: String) -> Bool {
        let digits = text.hasPrefix("-") ? text.dropFirst() : text[...]
        return !digits.isEmpty && digits.allSatisfy { $0.isASCII && $0.isNumber }
    }
}
