/// What looks like a mistake in the text of one field: pure.
package enum FieldDoubt: Int, Sendable {
    /// It has no text, and the message nothing in its place.
    case empty
    /// It holds U+FFFD, which is what a program writes for a character that it could not read.
    case damaged
    /// It is what a database or spreadsheet writes for nothing, or for a mistake.
    case placeholder

    private static let placeholders = [
        "NULL", "(null)", "[NULL]", "\\N", "#N/A", "#NAME?", "#VALUE!", "#REF!", "#DIV/0!", "#NULL!", "#NUM!", "NaN",
        "undefined", "#NV", "#WERT!", "#BEZUG!", "#ZAHL!", "#VALEUR!", "#NOM?", "#NOMBRE!",
    ].map { Array($0.utf8) }
    private static let longest = 9
    private static let replacement: [UInt8] = [0xEF, 0xBF, 0xBD]

    /// What to doubt in a text that is there; `nil` for nothing.
    init?(_ text: ArraySlice<UInt8>) {
        if text.count <= Self.longest, Self.placeholders.contains(where: { text.elementsEqual($0) }) {
            self = .placeholder
        } else if text.indices.contains(where: { text[$0] == 0xEF && text[$0...].starts(with: Self.replacement) }) {
            self = .damaged
        } else {
            return nil
        }
    }
}
