import HeraldTime
import Testing

@testable import HeraldEvents
@testable import HeraldTools

@Suite("The review of an event before it is published")
struct EventReviewTests {
    private func warnings(_ json: String, isCloudEvent: Bool = false) -> [String] {
        EventReview(
            of: Array(json.utf8), isCloudEvent: isCloudEvent, RecordDecoder(), now: WallTime(milliseconds: 0)
        ).warnings
    }

    private func plain(_ more: String) -> [String] {
        warnings(#"{"id":"i","user":"u","pns":"apns","message":"m"\#(more)}"#)
    }

    private func cloudEvent(_ more: String, data: String = "") -> [String] {
        warnings(
            #"{"specversion":"1.0","type":"t","source":"s","id":"i"\#(more),"#
                + #""data":{"user":"u","pns":"apns","message":"m"\#(data)}}"#, isCloudEvent: true)
    }

    @Test(
        "Other names of optional fields cause a warning",
        arguments: [
            ("ttl", "expiresAt"), ("expiry", "expiresAt"), ("sendAt", "notBefore"),
            ("collapse_key", "options.collapseId"),
            ("deepLink", "link"), ("deep_link", "link"), ("url", "link"), ("click_action", "link"),
            ("imageUrl", "image"),
            ("picture", "image"), ("headline", "title"), ("channel_id", "category"), ("extras", "data"),
            ("campaignId", "campaign"), ("expiresat", "expiresAt"), ("collapseid", "options.collapseId"),
        ])
    func synonyms(name: String, field: String) {
        #expect(
            plain(#","\#(name)":1"#) == ["\(name) is no field and is ignored: did you mean \(field)?"])
    }

    @Test("A title or message of blanks alone causes a warning")
    func blank() {
        #expect(plain(#","title":" \n""#) == ["title is blank: a phone shows nothing there"])
        #expect(plain(#","title":" a ""#).isEmpty)
    }

    @Test(
        "Other names of required fields cause a warning, beside the error about the missing field",
        arguments: [
            ("eventId", "id"), ("userId", "user"), ("to", "user"), ("msg", "message"), ("text", "message"),
            ("body", "message"),
        ])
    func required(name: String, field: String) {
        let found = warnings(#"{"\#(name)":"x"}"#)
        #expect(found == ["\(name) is no field and is ignored: did you mean \(field)?"])
    }

    @Test("Each wrong member of data, and each wrong push service, is named")
    func parts() {
        let value =
            #"{"user":"u","message":"m","pns":["ios","apns","android","nokia"],"#
            + #""data":{"n":1,"ok":"x","b":true,"from":"me"}}"#
        let found = EventReview(
            of: Array(value.utf8), isCloudEvent: false, RecordDecoder(), now: WallTime(milliseconds: 0)
        ).mistakes.map(\.sentence)
        for (name, hint) in [("ios", "; did you mean apns?"), ("android", "; did you mean fcm?"), ("nokia", "")] {
            #expect(
                found.contains { $0.contains("pns holds \"\(name)\"; allowed are") && $0.hasSuffix(hint) }, "\(found)")
        }
        for name in ["data.n", "data.b", "data.from"] { #expect(found.contains { $0.contains(name) }, "\(found)") }
        #expect(Set(found).count == found.count)
    }

    @Test(
        "The payloads of push services are told what they are called here",
        arguments: ["notification", "aps", "android", "webpush", "payload"])
    func platforms(name: String) {
        let found = plain(#","\#(name)":{"title":"t","body":"b"}"#)
        #expect(
            found.count == 1
                && found[0].hasPrefix("\(name) is no field and is ignored: Herald writes each push service's"))
        #expect(found[0].contains("title") && found[0].contains("message"))
    }

    @Test("The parts beside the message are sent to where they belong")
    func places() {
        #expect(plain(#","options":{"title":"x"}"#) == ["title in options is ignored: it belongs beside the message"])
        #expect(cloudEvent(#","link":"shop://1""#) == ["link beside data is ignored: it belongs into data"])
        #expect(
            cloudEvent("", data: #","imageUrl":"x""#) == [
                "imageUrl in data is no field and is ignored: did you mean image?"
            ])
        #expect(
            plain(
                #","title":"t","link":"shop://1","image":"https://a/b","data":{"k":"v"},"badge":1,"sound":"none","category":"c""#
            )
            .isEmpty)
        #expect(cloudEvent("", data: #","title":"t","data":{"k":"v"}"#).isEmpty)
    }

    @Test("Each unknown member is reported as ignored, once, and long names are shortened")
    func unknown() {
        #expect(
            plain(#","locale":"x","order":{"id":1},"locale":2,"text":"x""#)
                == ["locale", "order", "text"].map { "\($0) is no field and is ignored" })
        #expect(plain(#","options":{"locale":1}"#) == ["locale in options is no field and is ignored"])
        #expect(
            plain(#","options":{"collapse_id":1}"#)
                == ["collapse_id in options is no field and is ignored: did you mean options.collapseId?"])
        #expect(cloudEvent("", data: #","orderId":"x""#) == ["orderId in data is no field and is ignored"])
        #expect(cloudEvent(#","order_id":"x""#) == ["order_id beside data is no field and is ignored"])
        let long = String(repeating: "é", count: 100)
        #expect(plain(#","\#(long)":1"#) == ["\(long.prefix(64))… is no field and is ignored"])
    }

    @Test("Attributes that CloudEvents defines or allows cause no warning")
    func others() {
        #expect(
            cloudEvent(#","subject":"x","datacontenttype":"application/json","dataschema":"s","traceparent":"t""#)
                .isEmpty)
        #expect(cloudEvent(#","partitionkey":"x","tenant":"t""#).isEmpty)
    }

    @Test(
        "Options beside the message are reported as ignored", arguments: ["collapseId", "pushType", "priority"])
    func options(name: String) {
        #expect(plain(#","\#(name)":"x""#) == ["\(name) is ignored: it belongs into options"])
        #expect(cloudEvent("", data: #","\#(name)":"x""#) == ["\(name) in data is ignored: it belongs into options"])
        #expect(
            cloudEvent(#","\#(name)":"x""#) == ["\(name) beside data is ignored: it belongs into the options in data"])
    }

    @Test("Fields beside a CloudEvent's data, and id and source within the data, are reported as ignored")
    func cloudEvents() {
        for name in ["expiresAt", "notBefore", "campaign", "options"] {
            let found = cloudEvent(#","\#(name)":"x""#)
            #expect(found.first == "\(name) beside data is ignored: it belongs into data", "\(found)")
        }
        #expect(
            cloudEvent(#","expiresat":"x""#)
                == ["expiresat beside data is no field and is ignored: did you mean data.expiresAt?"])
        for name in ["id", "source", "time"] {
            let found = cloudEvent("", data: #","\#(name)":"x""#)
            #expect(found == ["\(name) in data is ignored: what counts is the CloudEvent's own, beside data"])
        }
    }

    @Test(
        "An error message names the place of the mistake",
        arguments: [
            (#""id":"i","user":"a b","pns":"apns""#, "user holds a space (U+0020) as character 2; a user has only"),
            (#""id":"i","user":"u","pns":"apns,gcm""#, "several are an array, as [\"apns\", \"gcm\"]"),
            (#""id":"","user":"u","pns":"apns""#, "id is empty; it has to have 1 to 128 characters"),
            (#""id":"\#(String(repeating: "i", count: 129))","user":"u","pns":"apns""#, "id is too long; it has"),
        ])
    func mistakes(members: String, words: String) {
        let review = EventReview(
            of: Array(#"{"message":"m",\#(members)}"#.utf8), isCloudEvent: false, RecordDecoder(),
            now: WallTime(milliseconds: 0))
        #expect(review.mistakes.contains { $0.detail.contains(words) }, "\(review.mistakes)")
    }

    @Test("Fields among the options are reported as ignored")
    func fieldsInOptions() {
        #expect(
            plain(#","options":{"expiresAt":"x"}"#) == [
                "expiresAt in options is ignored: it belongs beside the message"
            ])
    }

    @Test("The members of another program's envelope are not reported one by one")
    func foreignEnvelope() {
        let review = EventReview(
            of: Array(#"{"op":"c","before":null,"after":{"user":"u"},"ts_ms":1}"#.utf8), isCloudEvent: false,
            RecordDecoder(), now: WallTime(milliseconds: 0))
        #expect(review.warnings.isEmpty && review.mistakes.first?.detail.contains("Debezium") == true)
    }

    @Test("The table has each member that the decoder knows")
    func table() {
        let known = Set(EventField.allCases.map { "\($0.name)" } + ["pushType", "priority", "collapseId"])
        #expect(Set(EventMember.all.map(\.name)) == known)
        // `data` is a CloudEvent's, and the app's within it.
        #expect(EventMember.all.count == known.count + 1)
    }
}
