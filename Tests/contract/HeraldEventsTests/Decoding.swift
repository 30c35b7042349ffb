import HeraldBytes
import HeraldEvents

/// A decoding with its fields as text, because spans cannot leave the expressions that tests check.
struct Decoding {
    var event = DecodedEvent()
    var failure: DecodingFailure?
    let value: [UInt8]

    init(
        _ value: [UInt8], headers: [(String, String?)] = [], kind: RecordDecoder.TopicKind = .request,
        decoder: RecordDecoder = RecordDecoder()
    ) {
        self.value = value
        var list = HeaderList()
        for (name, text) in headers { list.append(name, text) }
        failure = decoder.decode(
            topicKind: kind, topic: "notifications", partition: 3, offset: 42, value: value.span.bytes,
            headers: list, into: &event)
    }

    init(
        _ value: String, headers: [(String, String?)] = [], kind: RecordDecoder.TopicKind = .request,
        decoder: RecordDecoder = RecordDecoder()
    ) {
        self.init(Array(value.utf8), headers: headers, kind: kind, decoder: decoder)
    }

    func text(_ field: ByteField) -> String? {
        field.isPresent ? event.bytes(of: field, value: value.span.bytes).text : nil
    }

    var id: String? { text(event.id) }
    var user: String? { text(event.user) }
    var message: String? { text(event.message) }
    var pushServices: [String] { event.pushServices.map { PushServices.standard.names[$0] } }
}

/// A valid event with some members replaced or, by `nil`, left out; `members` are raw JSON.
func eventJSON(_ members: [String: String?] = [:]) -> String {
    var all: [String: String] = ["id": #""e-1""#, "user": #""ann""#, "message": #""Hi""#, "pns": #"["apns"]"#]
    for (name, value) in members { all[name] = value }
    return "{" + all.sorted { $0.key < $1.key }.map { "\"\($0.key)\":\($0.value)" }.joined(separator: ",") + "}"
}
