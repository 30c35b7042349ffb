internal import HeraldBytes
internal import HeraldText
internal import HeraldTools

/// The first line of a CSV file: what its columns are called.
struct AudienceHeader {
    /// What a list of those who were not reached has behind the columns of its audience.
    static let unreached = ["why", "pns", "reason", "status", "detail", "completedAt", "completedUTC"].map {
        "unreached_\($0)"
    }

    /// What a list of invalid lines has behind them.
    static let invalid = ["line", "row", "why"].map { "invalid_\($0)" }

    let names: [String]
    let isUTF8: Bool

    init(_ fields: [CSVScanner.Field], of bytes: RawSpan) {
        var isUTF8 = true
        names = fields.map { field in
            var text: [UInt8] = []
            CSVScanner.append(field, of: bytes, to: &text)
            if String(validating: text, as: UTF8.self) == nil { isUTF8 = false }
            return CellPadding.plain(String(decoding: text, as: UTF8.self))
        }
        self.isUTF8 = isUTF8
    }

    /// How many columns are the audience's own: the first ones, without those that lists have added.
    var ownCount: Int {
        var own = names[...]
        while let list = [Self.unreached, Self.invalid].first(where: { own.suffix($0.count) == $0[...] }) {
            own.removeLast(list.count)
        }
        return own.count
    }

    /// The column that holds the users: the one of this name, or `user`, in whatever case when no other is called so.
    func userColumn(named name: String?) throws(ToolFailure) -> Int {
        let wanted = name ?? AudienceReader.userName
        if let index = try index(of: wanted) { return index }
        let alike = names.indices.filter { names[$0].lowercased() == CellPadding.plain(wanted).lowercased() }
        if alike.count == 1 { return alike[0] }
        throw missing(
            name == nil
                ? "the audience has no column user, and nothing says which one holds the users (--user-column)"
                : "the audience has no column \(SafeText.quoted(wanted))", wanted)
    }

    /// - Parameter place: the text that uses it.
    func column(_ name: String, in place: String) throws(ToolFailure) -> Int {
        if let index = try index(of: name) { return index }
        throw missing("the \(place) uses {{\(name)}}, which is no column of the audience", name)
    }

    private func index(of name: String) throws(ToolFailure) -> Int? {
        let wanted = CellPadding.plain(name)
        let found = names.indices.filter { names[$0] == wanted }
        guard found.count < 2 else { throw ToolFailure("the audience has the column \(SafeText.quoted(name)) twice") }
        return found.first
    }

    private func missing(_ what: String, _ name: String) -> ToolFailure {
        let shown = names.prefix(20).map { SafeText.quoted($0) }.joined(separator: ", ")
        let nearest = Suggestion.nearest(to: name, in: names).map { "; did you mean \(SafeText.quoted($0))? Its" }
        return ToolFailure("\(what)\(nearest ?? "; its") columns are \(shown)")
    }
}
