internal import HeraldBytes
internal import HeraldEvents
internal import HeraldText
internal import HeraldTime

/// What a worker would read in a value that is to be published in a dead letter's place: judged before anything moves.
struct JudgedEvent {
    /// Its own; `nil` when the value has none.
    let id: String?
    let user: String
    let message: String
    /// The parts beside it.
    let content: EventContent
    /// The push services that would be called.
    let pushServices: [String]
    let campaign: String?
    let expiresAt: WallTime?

    /// Throws with what is wrong when it is no event.
    init(_ value: [UInt8], of entry: DeadLetterEntry, _ decoder: RecordDecoder) throws(InvalidArgument) {
        var event = DecodedEvent()
        // What Herald's headers say of the push services is about the event as it was.
        let failure = decoder.decode(
            topicKind: .request, topic: "dead-letter", partition: entry.partition, offset: entry.offset,
            value: value.span.bytes, headers: entry.originalHeaders, into: &event)
        if let failure { throw InvalidArgument(failure.detail) }
        let names = decoder.pushServices.names
        id = event.hasOwnID && event.id.isPresent ? event.bytes(of: event.id, value: value.span.bytes).text : nil
        user = event.bytes(of: event.user, value: value.span.bytes).text
        message = event.bytes(of: event.message, value: value.span.bytes).text
        content = event.content(in: value.span.bytes)
        pushServices = names.indices.filter { event.pushServices.contains($0) }.map { names[$0] }
        campaign = event.campaign.isPresent ? event.bytes(of: event.campaign, value: value.span.bytes).text : nil
        expiresAt = event.expiresAt
    }
}
