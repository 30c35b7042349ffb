import Foundation
import HeraldEvents
import HeraldHTTP
import TestSupport
import Testing

@testable import HeraldHub

@Suite("Recorded answers of the real service, read by the client", .judged(by: .azure))
struct HubRecordingTests {
    private static let suffix = "RegistrationDescription"

    @Test("Every registration has its id, its tags and, if Herald writes its native kind, its device")
    func registrations() throws {
        var (kinds, count): (Set<String>, Int) = ([], 0)
        for answer in try HubRecordings.answers() where answer.headers["Content-Type"]?.contains("atom+xml") == true {
            let root = try XMLElement(document: Array(answer.body.utf8))
            let entries = root.name == "feed" ? root.children.filter { $0.name == "entry" } : [root]
            let body = Array(answer.body.utf8)
            let read =
                try root.name == "feed" ? HubRegistration.list(feed: body) : [HubRegistration(entry: body)]
            try #require(read.count == entries.count)
            for (registration, entry) in zip(read, entries) {
                let description = try #require(entry["content"]?.children.first)
                let kind = String(description.name.dropLast(Self.suffix.count))
                kinds.insert(kind)
                count += 1
                #expect(registration.id == description["RegistrationId"]?.text)
                #expect(registration.tags == (description["Tags"]?.text.split(separator: ",").map(String.init) ?? []))
                switch registration.device {
                case .apple(let token): #expect(token == description["DeviceToken"]?.text)
                case .gcm(let token): #expect(token == description["GcmRegistrationId"]?.text)
                case .windows(let channel): #expect(channel == description["ChannelUri"]?.text)
                case .fcmV1, .browser: Issue.record("none was recorded")
                case nil: #expect(!["Apple", "Gcm", "Windows"].contains(kind))
                }
            }
        }
        #expect(kinds.count == 12)
        #expect(count > 100)
    }

    @Test("Every address of a registration, a message or a scheduled send ends in its id")
    func addresses() throws {
        let ids = try HubRecordings.answers().compactMap(\.headers["Location"]).map { HubAddress.id(in: $0) }
        #expect(ids.count == 18)
        let form = /\d+-\d+-\d|[0-9a-f]{32}[-_]\d{14}[-_]\d+[-_]\d+(?:_QNH\w+-S\d+)?/
        for id in ids { #expect(try #require(id).wholeMatch(of: form) != nil, "\(id ?? "")") }
    }

    @Test("Every refusal is reported with the service's own words and its tracking id")
    func refusals() throws {
        var texts: Set<String> = []
        for answer in try HubRecordings.answers() where answer.status >= 400 {
            let response = SingleRequest.Response(
                status: answer.status, headers: ["TrackingId": "own"], body: Array(answer.body.utf8))
            let failure = HubFailure(response)
            #expect(failure.status == answer.status)
            let detail = try #require(failure.detail)
            #expect(detail.contains("TrackingId:") && detail.contains("own") == answer.body.isEmpty)
            #expect(CallVerdict(readAtHub: 403, hasRetryAfter: false, detail: detail) == nil)
            #expect(CallVerdict(readAtHub: 400, hasRetryAfter: false, detail: detail) == nil)
            texts.insert(String(detail.prefix { $0 != "." }))
        }
        #expect(texts == ["", "Installation not found", "TrackingId:own"])
    }
}
