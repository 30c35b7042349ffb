internal import HeraldText
package import HeraldTools

/// What the state topic says: what became of dead letters, and which job works on them.
///
/// Pure, fed with its records.
package struct KnownState: Sendable {
    private let keyPrefix: String
    private var damages = MarkDamages()

    package private(set) var marks = MarkIndex()
    package private(set) var lease: Lease?

    /// - Parameter foreignTopic: whose dead letters are asked for; `nil` for Herald's own.
    package init(foreignTopic: String? = nil) { keyPrefix = MarkRecord.keyPrefix(foreignTopic) }

    /// Takes a record; the mark that it is, if it is one that can be read.
    package mutating func add(key: [UInt8], value: [UInt8]?, partition: Int32, offset: Int64) -> MarkRecord? {
        let name = String(decoding: key, as: UTF8.self)
        if name == Lease.key {
            lease = value.flatMap { Lease(decoding: $0) }
            return nil
        }
        guard name.hasPrefix(keyPrefix) else { return nil }
        let mark = value.flatMap { MarkRecord(decoding: $0) }
        damages.note(isDamaged: value != nil && mark == nil, key: name, place: "\(partition):\(offset)")
        if let mark { marks.add(mark) }
        return mark
    }

    /// Nothing tells what a damaged mark says, so nothing may be replayed on the strength of the others.
    package func checkDamages(of topic: String) throws(ToolFailure) {
        guard let sentence = damages.sentence else { return }
        throw ToolFailure("\(topic) cannot be read: \(sentence)")
    }
}

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
