internal import HeraldText

/// The marks that cannot be read, until a later record of the same key says something or takes them back: pure.
struct MarkDamages {
    private var places: [String: String] = [:]

    /// Takes a record.
    ///
    /// - Parameter place: `PARTITION:OFFSET`.
    mutating func note(isDamaged: Bool, key: String, place: String) { places[key] = isDamaged ? place : nil }

    /// What is damaged, and what to do about it; `nil` when nothing is.
    var sentence: String? {
        guard let first = places.min(by: { $0.key < $1.key }) else { return nil }
        let others = places.count > 1 ? ", and \(places.count - 1) more" : ""
        return
            "the record \(first.value) is damaged, or of a later version\(others); a record without a value under its "
            + "key \(SafeText.quoted(first.key, limit: 300)) takes it back"
    }
}
