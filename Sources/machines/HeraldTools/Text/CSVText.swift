internal import HeraldText

/// Cells of a CSV file (RFC 4180) that do nothing when a spreadsheet opens it.
package enum CSVText {
    /// What a file begins with that is meant for a spreadsheet: without it Excel reads UTF-8 as another encoding.
    package static let byteOrderMark = "\u{FEFF}"

    /// A line of these cells, with its end.
    package static func line(_ cells: [String], delimiter: String = ",") -> String {
        cells.map { cell($0, delimiter: delimiter) }.joined(separator: delimiter) + "\r\n"
    }

    /// The text as a cell: control characters escaped, quoted where needed, and with an apostrophe in front when a
    /// spreadsheet would take it for a formula.
    ///
    /// - Parameter delimiter: what stands between cells, where it is neither a comma nor a semicolon.
    package static func cell(_ text: String, delimiter: String = ",") -> String {
        // Spreadsheets go by characters (scalars): a mark that joins itself to an equals sign or a quote hides neither.
        let text = SafeText.escaped(text).unicodeScalars
        var cell = String.UnicodeScalarView()
        // Where a spreadsheet splits at semicolons, our quotes hold nothing together, and two are a cell's empty beginning.
        for (number, part) in text.split(separator: ";", omittingEmptySubsequences: false).enumerated() {
            if number > 0 { cell.append(";") }
            let first = part.first { !isSkipped($0) && !(number > 0 && $0 == "\"") }
            if let first, "=+-@|%＝＋－＠".unicodeScalars.contains(first),
                !isNumber(part)
            {
                cell.append("'")
            }
            cell.append(contentsOf: part)
        }
        let special = "\",;\r\n\(delimiter)".unicodeScalars
        guard cell.contains(where: { special.contains($0) }) || cell.first == " " || cell.last == " " else {
            return String(cell)
        }
        var quoted = String.UnicodeScalarView("\"".unicodeScalars)
        for scalar in cell {
            quoted.append(scalar)
            if scalar == "\"" { quoted.append(scalar) }
        }
        quoted.append("\"")
        return String(quoted)
    }

    /// What spreadsheets may pass over before they look whether it is a formula: spaces, and invisible characters.
    private static func isSkipped(_ scalar: Unicode.Scalar) -> Bool {
        scalar.properties.isWhitespace || scalar.properties.isDefaultIgnorableCodePoint
    }

    private static func isNumber(_ text: Substring.UnicodeScalarView) -> Bool {
        let digits = text.first == "-" ? text.dropFirst() : text
        return !digits.isEmpty && digits.allSatisfy { ("0"..."9").contains($0) }
    }
}
