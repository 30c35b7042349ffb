import Foundation
import HeraldHTTP
import HeraldHub
import HeraldSandbox
import TestSupport
import Testing

/// The emulated hub gets the requests that the real one has answered.
///
/// Names, their order, types and statuses must match; ids, times and addresses are its own.
@Suite("The emulated hub beside the real service's recorded answers", .judged(by: .azure))
struct HubRecordingTests {
    private static let entryType = "application/atom+xml;type=entry;charset=utf-8"

    /// The structure of a document, without texts and attribute values.
    private static func shape(_ element: XMLElement) -> String {
        let attributes = element.attributes.keys.sorted().joined(separator: ",")
        let children = element.children.map { shape($0) }.joined(separator: " ")
        return "\(element.namespace.suffix(7)):\(element.name)[\(attributes)](\(children))"
    }

    private static func shape(_ text: String) throws -> String { shape(try XMLElement(document: Array(text.utf8))) }

    /// The raw descriptions of an entry or a feed, without tags that only an installation can have.
    private static func descriptions(_ text: String) -> [Substring] {
        text.split(separator: #"<content type="application/xml">"#).dropFirst().compactMap { piece in
            piece.range(of: "</content>").map {
                piece[..<$0.lowerBound].replacing(/<Tags>[$][^<]*<\/Tags>/, with: "<Tags>tag1</Tags>")
            }
        }
    }

    private static func entry(_ description: Substring) -> String {
        #"<entry xmlns="http://www.w3.org/2005/Atom"><content type="application/xml">\#(description)</content></entry>"#
    }

    private func create(_ caller: HubCaller, _ description: Substring) throws -> SingleRequest.Response {
        let response = try caller.call(
            "POST", "registrations", body: Self.entry(description), type: Self.entryType)
        #expect(response.status == 200, "\(response.text)")
        return response
    }

    private static func answers(_ first: String, where isWanted: (HubRecordings.Answer) -> Bool = { _ in true })
        throws -> [HubRecordings.Answer]
    {
        try HubRecordings.answers().filter { $0.segments.first == first && isWanted($0) }
    }

    @Test("Every recorded answer of the data plane is compared by another test here")
    func complete() throws {
        let places = Set(try HubRecordings.answers().map { "\($0.segments[0]) \($0.status)" })
        #expect(
            places == [
                "registrations 200", "registrations 404", "tags 200", "registrationids 201", "installations 200",
                "installations 204", "installations 404", "messages 201", "messages 403", "schedulednotifications 201",
            ])
    }

    @Test("A registration, created and read")
    func entries() throws {
        let caller = try HubCaller.start()
        var shapes: Set<String> = []
        for answer in try Self.answers("registrations", where: { $0.body.hasPrefix("<entry") }) {
            let expected = try Self.shape(answer.body)
            let isNew = answer.headers["Content-Location"] != nil
            let description = try #require(Self.descriptions(answer.body).first)
            guard shapes.insert("\(isNew) \(expected)").inserted else { continue }
            var response = try create(caller, description)
            if !isNew {
                let id = try #require(try response.xml()["title"]?.text)
                let isChanged = answer.headers["ETag"] == #"W/"2""#
                response =
                    try isChanged
                    ? caller.put(id, Self.entry(description)) : caller.call("GET", "registrations/\(id)")
            }
            #expect(try Self.shape(response.text) == expected)
            for name in ["ETag", "Content-Type"] { #expect(response.headers[name] == answer.headers[name]) }
            #expect((response.headers["Content-Location"] != nil) == isNew)
        }
        #expect(shapes.count > 15)
    }

    @Test("A list, by tag or of all, with its continuation")
    func lists() throws {
        var shapes: Set<String> = []
        let isFeed = { (answer: HubRecordings.Answer) in answer.body.hasPrefix("<feed") }
        for answer in try Self.answers("registrations", where: isFeed) + Self.answers("tags", where: isFeed) {
            let expected = try Self.shape(answer.body)
            guard shapes.insert(expected).inserted else { continue }
            let caller = try HubCaller.start()
            let descriptions = Self.descriptions(answer.body)
            for description in descriptions { _ = try create(caller, description) }
            let continues = answer.headers["x-ms-continuationtoken"] != nil
            if continues { _ = try create(caller, descriptions[0]) }
            let path = answer.segments[0] == "tags" ? "tags/\(answer.segments[1])/registrations" : "registrations"
            let response = try caller.call("GET", "\(path)?$top=\(max(descriptions.count, 1))")
            #expect(try Self.shape(response.text) == expected)
            #expect(response.headers["Content-Type"] == answer.headers["Content-Type"])
            #expect((response.headers["x-ms-continuationtoken"] != nil) == continues)
        }
        #expect(shapes.count > 15)
    }

    @Test("A new id, a deleted registration, and a missing one")
    func idsAndDeletions() throws {
        let caller = try HubCaller.start()
        let newID = try #require(try Self.answers("registrationids").first)
        let given = try caller.call("POST", "registrationids")
        #expect(given.status == newID.status)
        #expect(given.headers["Content-Length"] == newID.headers["Content-Length"])
        let id = try #require(given.headers["Location"].flatMap { HubAddress.id(in: $0) })
        let deleted = try #require(
            try Self.answers("registrations", where: { $0.status == 200 && $0.body.isEmpty }).first)
        try caller.registerApple(id, "AA", tags: "a")
        let response = try caller.call("DELETE", "registrations/\(id)", headers: ["If-Match": "*"])
        #expect(response.status == deleted.status)
        #expect(response.body.isEmpty && response.headers["Content-Length"] == deleted.headers["Content-Length"])
        for missing in try Self.answers("registrations", where: { $0.status == 404 }) {
            let response = try caller.call("GET", "registrations/\(missing.segments[1])")
            #expect(response.status == 404)
            #expect(try Self.shape(response.text) == Self.shape(missing.body))
            #expect(response.headers["Content-Type"] == missing.headers["Content-Type"])
        }
    }

    @Test("An installation, member by member, with its neighbouring answers")
    func installations() throws {
        let caller = try HubCaller.start()
        let type = "application/xml; charset=utf-8"
        var count = 0
        for answer in try Self.answers("installations") {
            let path = "installations/\(answer.segments[1])"
            #expect(answer.headers["Content-Type"] == type)
            switch (answer.status, answer.body.isEmpty) {
            case (200, false):
                // The SDK's tests give templates no tags, but the service does.
                let document = answer.body.replacing(#","tags":["Template Name"]"#, with: "")
                let put = try caller.call("PUT", path, body: document, type: "application/json")
                #expect(put.status == 200 && put.body.isEmpty && put.headers["Content-Type"] == type)
                let got = try caller.call("GET", path)
                #expect(got.text == answer.body)
                #expect(got.headers["Content-Type"] == type)
                count += 1
            // The answer to a PUT or a PATCH.
            case (200, true): break
            case (204, _):
                let deleted = try caller.call("DELETE", path)
                #expect(deleted.status == 204 && deleted.body.isEmpty)
            default:
                _ = try caller.call("DELETE", path)
                let missing = try caller.call("GET", path)
                #expect(missing.status == answer.status && missing.headers["Content-Type"] == type)
                #expect(try Self.shape(missing.text) == Self.shape(answer.body))
            }
        }
        #expect(count == 9)
    }

    @Test("A send to tags, to a handle, to a batch, a scheduled one, and one without the right")
    func sends() throws {
        let caller = try HubCaller.start()
        for answer in try Self.answers("messages") + Self.answers("schedulednotifications") {
            let response = try reply(caller, answer)
            #expect(response.status == answer.status)
            #expect(response.body.isEmpty && answer.body.isEmpty)
            #expect(response.headers["Content-Type"] == answer.headers["Content-Type"])
            for name in ["TrackingId", "x-ms-correlation-request-id"] where answer.headers[name] != nil {
                #expect(response.headers[name] != nil)
            }
            guard let location = answer.headers["Location"].flatMap({ URL(string: $0) }) else { continue }
            let own = try #require(response.headers["Location"].flatMap { URL(string: $0) })
            #expect(own.pathComponents[2] == location.pathComponents[2])
            #expect(HubAddress.id(in: own.absoluteString) != nil)
        }
    }

    /// Sends the request of a recorded answer.
    private func reply(_ caller: HubCaller, _ answer: HubRecordings.Answer) throws -> SingleRequest.Response {
        var headers = ["ServiceBusNotification-DeviceHandle": "AA"]
        if answer.segments[0] == "schedulednotifications" {
            let time = ISO8601DateFormatter().string(from: Date().addingTimeInterval(86_400)).dropLast()
            headers["ServiceBusNotification-ScheduleTime"] = String(time)
        }
        guard answer.segments.count == 2 else {
            let path = answer.segments[0] + (answer.path.hasSuffix("&direct") ? "?direct" : "")
            return try (answer.status == 403 ? caller.listener : caller).send("apple", headers: headers, path: path)
        }
        let body =
            "--b\r\nContent-Type: application/json\r\nContent-Disposition: inline; name=notification\r\n\r\n{}\r\n"
            + "--b\r\nContent-Type: application/json\r\nContent-Disposition: inline; name=devices\r\n\r\n[\"AA\"]\r\n"
            + "--b--"
        return try caller.send("apple", body, path: "messages/$batch?direct", type: "multipart/mixed; boundary=b")
    }
}
