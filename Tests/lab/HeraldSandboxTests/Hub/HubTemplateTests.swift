import Foundation
import HeraldHTTP
import HeraldHub
import HeraldSandbox
import HeraldText
import Testing

@Suite("Templates of the emulated hub")
struct HubTemplateTests {
    private struct Delivery: Decodable {
        let headers: [String: String]
        let payload: String
    }

    private func received(_ caller: HubCaller, _ handle: String) throws -> [Delivery] {
        let url = "\(caller.emulator.url)/sandbox/inbox/\(handle)"
        return try JSONDecoder().decode([Delivery].self, from: Data(caller.request("GET", url: url).body))
    }

    private func register(
        _ caller: HubCaller, _ kind: String, _ handle: String, body: String, _ rest: String = ""
    ) throws {
        let fields = "\(handle)<BodyTemplate>\(XMLText.escaped(body))</BodyTemplate>\(rest)"
        let entry = HubCaller.entry("\(kind)TemplateRegistrationDescription", fields)
        #expect(try caller.call("POST", "registrations", body: entry, type: "application/atom+xml").status == 200)
    }

    @Test("A property's name is case-insensitive, and an unknown name stands for nothing")
    func names() throws {
        let caller = try HubCaller.start()
        try register(
            caller, "Gcm", "<GcmRegistrationId>g</GcmRegistrationId>",
            body: #"{"data":{"a":"$(Message)","b":"$( message )","c":"$(none)"}}"#)
        #expect(try caller.send("template", #"{"MESSAGE":"hi"}"#).status == 201)
        #expect(caller.emulator.payloads(ofHandle: "g") == [#"{"data":{"a":"hi","b":"hi","c":""}}"#])
    }

    @Test("A value is written as the body's kind requires: valid JSON, valid XML, or raw text")
    func kinds() throws {
        let caller = try HubCaller.start()
        let type = "<WnsHeaders><WnsHeader><Header>X-WNS-Type</Header><Value>wns/toast</Value></WnsHeader></WnsHeaders>"
        try register(caller, "Apple", "<DeviceToken>AA</DeviceToken>", body: #" {"aps":{"alert":"$(m)"}}"#)
        try register(caller, "Windows", "<ChannelUri>w</ChannelUri>", body: "<toast>$(m)</toast>", type)
        try register(
            caller, "Windows", "<ChannelUri>r</ChannelUri>", body: "raw $(m)",
            type.replacing("toast", with: "raw"))
        #expect(try caller.send("template", #"{"m":"a\"b & <c>\n$(m)"}"#).status == 201)
        #expect(caller.emulator.payloads(ofHandle: "AA") == [#" {"aps":{"alert":"a\"b & <c>\n$(m)"}}"#])
        #expect(caller.emulator.payloads(ofHandle: "w") == ["<toast>a&quot;b &amp; &lt;c&gt;\n$(m)</toast>"])
        #expect(caller.emulator.payloads(ofHandle: "r") == ["raw a\"b & <c>\n$(m)"])
    }

    @Test("The headers of a template reach its push service, from a registration or an installation")
    func headers() throws {
        let caller = try HubCaller.start()
        try register(
            caller, "Windows", "<ChannelUri>w</ChannelUri>", body: "<toast/>",
            "<WnsHeaders><WnsHeader><Header>X-WNS-Type</Header><Value>wns/toast</Value></WnsHeader>"
                + "<WnsHeader><Header>X-WNS-Tag</Header><Value>$(Tag)</Value></WnsHeader></WnsHeaders>")
        let installation =
            #"{"installationId":"i","platform":"wns","pushChannel":"v","templates":{"t":{"body":"<toast/>","#
            + #""headers":{"X-WNS-Type":"wns/toast","X-WNS-Tag":"$(tag)"}}}}"#
        #expect(
            try caller.call("PUT", "installations/i", body: installation, type: "application/json").status == 200)
        #expect(try caller.send("template", #"{"tag":"a&b"}"#).status == 201)
        for handle in ["w", "v"] {
            #expect(
                try received(caller, handle).map(\.headers) == [["X-WNS-Type": "wns/toast", "X-WNS-Tag": "a&b"]])
        }
    }

    @Test("The digits of an Apple token find its inbox in any case, even after a direct send")
    func handles() throws {
        let caller = try HubCaller.start()
        try caller.registerApple("1", "ab", tags: "a")
        #expect(try caller.send("apple", tags: "a").status == 201)
        let direct = ["ServiceBusNotification-DeviceHandle": "aB"]
        #expect(try caller.send("apple", headers: direct, path: "messages?direct").status == 201)
        for handle in ["ab", "AB", "Ab"] { #expect(caller.emulator.payloads(ofHandle: handle).count == 2) }
        #expect(try caller.request("GET", url: "\(caller.emulator.url)/sandbox/inbox/ab").text.contains("apns"))
    }
}
