internal import FoundationEssentials

/// The JSON of records that tools write.
package enum RecordJSON {
    /// The value as one line, with its members in the order of their names: the same facts are the same bytes.
    package static func encoded(_ value: some Encodable) -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        // Texts and numbers always encode.
        return (try? encoder.encode(value)).map { Array($0) } ?? []
    }
}
