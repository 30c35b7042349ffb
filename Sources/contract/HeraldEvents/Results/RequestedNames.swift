import HeraldBytes

extension DecodedEvent {
    /// A result has so many at most.
    static let requestedNamesLimit = 8

    /// The names by which the event asked for a push service, in its order, each once; none when it asked by the name that
    /// the service has in ``PushServices/names`` alone.
    ///
    /// Most events have no other names: for them this costs a comparison.
    func requestedNames(of service: Int, value: RawSpan, _ pushServices: PushServices) -> [[UInt8]] {
        guard otherNames.isPresent else { return [] }
        let json = bytes(of: otherNames, value: value)
        var names: [[UInt8]] = []
        // It was read whole before: nothing can be wrong with it.
        guard let tokens = try? Self.names(in: json) else { return [] }
        for token in tokens where names.count < Self.requestedNamesLimit {
            var name: [UInt8] = []
            token.append(in: json, to: &name)
            if pushServices.index(of: name.span.bytes) == service, !names.contains(name) { names.append(name) }
        }
        if names.count == 1, let only = names.first,
            pushServices.bytes(ofName: service).hasSameBytes(as: only.span.bytes)
        {
            return []
        }
        return names
    }

    private static func names(in json: RawSpan) throws(JSONError) -> [JSONToken] {
        var reader = JSONReader(json)
        let token = try reader.readValue()
        return token.kind == .array ? try token.elements(in: json) : [token]
    }
}
