import HeraldBytes

extension RecordDecoder {
    /// The failure of a record, with a hint at its publisher's probable mistake.
    static func hinting(_ failure: DecodingFailure, _ form: RecordForm, value: RawSpan, _ headers: HeaderList)
        -> DecodingFailure
    {
        let hint: String
        let foreign =
            failure.reason == .oversized ? nil : ForeignValue.hint(on: value, from: documentStart(in: value))
        if let foreign { return DecodingFailure(reason: failure.reason, detail: "\(failure.detail); \(foreign)") }
        // Only headers identify a CloudEvent.
        switch form {
        case .structured: return failure
        case .binary where looksLikeEnvelope(value):
            hint =
                "the value looks like a structured CloudEvent, and its headers that begin with ce_ make it the data of a binary "
                + "one: publish the data alone, or leave them out and set content-type: application/cloudevents+json"
        case .binary where headers.hasQuotedSource:
            hint = "the headers' values are in quotes: they are written as they are, not as JSON"
        case .binary: return failure
        case .plain where looksLikeEnvelope(value):
            let wanted = "content-type: application/cloudevents+json"
            hint =
                "the value looks like a structured CloudEvent: its header "
                + (contentType(in: headers).map { "content-type is \($0), and has to be \(wanted)" }
                    ?? "\(wanted) is missing")
        case .plain where headers.isOfHTTP:
            hint =
                "headers that begin with ce- are those of a CloudEvent over HTTP: in Kafka they are called ce_, and "
                + "\(HeaderName.cloudEventsSpecversion) is missing"
        case .plain: return failure
        }
        return DecodingFailure(reason: failure.reason, detail: "\(failure.detail); \(hint)")
    }

    /// The content type as written, without parameters; `nil` without one.
    private static func contentType(in headers: HeaderList) -> String? {
        guard let index = headers.lastIndex(namedInAnyCase: HeaderName.contentType.literal),
            let value = headers.value(at: index)
        else { return nil }
        let mediaType = RecordForm.mediaType(of: value)
        return mediaType.extracting(0..<min(mediaType.byteCount, shownContentType)).text
    }

    private static let shownContentType = 64

    private static func looksLikeEnvelope(_ value: RawSpan) -> Bool {
        var envelope = JSONFields(names: ["specversion", "data", "data_base64"])
        guard (try? envelope.read(value)) != nil else { return false }
        return envelope.fields[0].isPresent && envelope.fields[1...].contains(where: \.isPresent)
    }
}
