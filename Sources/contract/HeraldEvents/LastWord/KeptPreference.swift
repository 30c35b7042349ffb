import HeraldBytes

extension Preference {
    /// The beginning of the key of a record that outlives its user's erasure; 64 hexadecimal digits follow.
    package static let keptPrefix = "hash:"

    /// Whether a record's key is that of a word that outlived its user's erasure, and no user.
    package static func isKept(under key: RawSpan) -> Bool {
        key.byteCount == keptPrefix.utf8.count + 64 && key.text.hasPrefix(keptPrefix)
    }
}
