import HeraldBytes

extension HeaderList {
    /// The most bytes of a needed header's value.
    static let longestNeededValue = 1_024

    /// The publisher's headers needed to read the event again, or to carry its trace.
    private static let needed: [HeaderName] = [
        .cloudEventsSpecversion, .cloudEventsID, .cloudEventsSource, .cloudEventsType, .cloudEventsTime,
        .cloudEventsTraceparent, .traceparent,
    ]

    /// Appends the needed headers of the other list: the last of each name, if it is not too long.
    ///
    /// - Returns: whether anything but Herald's own headers was omitted.
    mutating func append(neededOf original: HeaderList) -> Bool {
        let chosen = Self.needed.compactMap { original.lastIndex(named: $0.literal) }.filter {
            original.valueByteCount(at: $0) <= Self.longestNeededValue
        }
        for index in chosen.sorted() { append(name: original.name(at: index), value: original.value(at: index)) }
        var isPart = chosen.count
        if let index = original.lastIndex(namedInAnyCase: HeaderName.contentType.literal),
            let value = original.value(at: index)
        {
            // Parameters may be of any length, and nothing depends on them.
            let mediaType = RecordForm.mediaType(of: value)
            if mediaType.byteCount <= Self.longestNeededValue {
                append(name: original.name(at: index), value: mediaType)
                isPart += mediaType.byteCount == value.byteCount ? 1 : 0
            }
        }
        let foreign = (0..<original.count).count { !HeaderName.isHeralds(original.name(at: $0)) }
        return isPart < foreign
    }
}
