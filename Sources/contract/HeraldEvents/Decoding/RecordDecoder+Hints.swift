import HeraldBytes

extension RecordDecoder {
    /// The failure of a record that was read as a plain event, with what its publisher probably forgot: nothing but headers
    /// tells a CloudEvent.
    static func hinting(_ failure: DecodingFailure, _ form: RecordForm, value: RawSpan, _ headers: HeaderList)
        -> DecodingFailure
    {
        guard form == .plain else { return failure }
        var detail = failure.detail
        if looksLikeEnvelope(value) {
            detail +=
                "; the value looks like a structured CloudEvent: its header "
                + "content-type: application/cloudevents+json is missing"
        } else if headers.isOfHTTP {
            detail +=
                "; headers that begin with ce- are those of a CloudEvent over HTTP: in Kafka they are called ce_, and "
                + "\(HeaderName.cloudEventsSpecversion) is missing"
        } else {
            return failure
        }
        return DecodingFailure(reason: failure.reason, detail: detail)
    }

    private static func looksLikeEnvelope(_ value: RawSpan) -> Bool {
        var envelope = JSONFields(names: ["specversion", "data", "data_base64"])
        guard (try? envelope.read(value)) != nil else { return false }
        return envelope.fields[0].isPresent && envelope.fields[1...].contains(where: \.isPresent)
    }
}
