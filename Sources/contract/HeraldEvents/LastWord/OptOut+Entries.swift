extension OptOut {
    /// The entries of `optOut`, as records and commands have them.
    public var entries: [String] {
        (isOfAll ? ["all"] : []) + (isOfPromotional ? ["promotional"] : []) + pushServices.map { "pns:\($0)" }
            + sources.map { "source:\($0)" }
    }

    /// Adds what another one says.
    public mutating func formUnion(_ other: OptOut) {
        isOfAll = isOfAll || other.isOfAll
        isOfPromotional = isOfPromotional || other.isOfPromotional
        for name in other.pushServices where !pushServices.contains(name) { pushServices.append(name) }
        for source in other.sources where !sources.contains(source) { sources.append(source) }
    }

    /// Adds an entry.
    ///
    /// - Returns: what is wrong with it, as a continuation of its place; `nil` for an entry that Herald knows.
    package mutating func insert(_ entry: String, knowing known: PushServices) -> String? {
        if entry == "all" {
            isOfAll = true
        } else if entry == "promotional" {
            isOfPromotional = true
        } else if let name = entry.suffix(after: "pns:") {
            guard let index = known.index(of: name.utf8.span.bytes) else {
                return "names no push service of this Herald; allowed: \(known.names.joined(separator: ", "))"
            }
            if !pushServices.contains(known.names[index]) { pushServices.append(known.names[index]) }
        } else if let source = entry.suffix(after: "source:") {
            guard !source.isEmpty else { return "names no source" }
            guard source.utf8.count <= RecordDecoder.maximumSourceBytes else {
                return "is longer than a source can be (\(RecordDecoder.maximumSourceBytes) bytes)"
            }
            if !sources.contains(String(source)) { sources.append(String(source)) }
        } else {
            return "is unknown; allowed: all, promotional, pns:NAME, source:SOURCE"
        }
        return nil
    }
}

extension String {
    /// What follows a beginning; `nil` without that beginning.
    fileprivate func suffix(after start: String) -> Substring? { hasPrefix(start) ? dropFirst(start.count) : nil }
}
