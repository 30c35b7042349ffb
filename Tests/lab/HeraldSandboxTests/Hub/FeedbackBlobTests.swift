import Foundation
import HeraldHTTP
import HeraldHub
import HeraldText
import HeraldTime
import Testing

@testable import HeraldSandbox

@Suite("Blobs of the emulated hub's feedback container")
struct FeedbackBlobTests {
    private static let names = [
        "ETag", "Last-Modified", "Content-Length", "Content-Range", "Content-Type", "Accept-Ranges", "x-ms-blob-type",
        "x-ms-error-code", "x-ms-version", "x-ms-client-request-id",
    ]

    private struct Container {
        let caller: HubCaller
        let blob: String

        /// A container with one blob.
        init() throws {
            caller = try HubCaller.start { $0.outcomes = [HubOutcomeRule("ExpiredChannel")] }
            try caller.registerApple("1", "AA", tags: "a")
            _ = try caller.send("apple", tags: "a")
            let address = try caller.call("GET", "feedbackcontainer").text
            let list = try caller.with(authorization: "").request("GET", url: address + "&comp=list&restype=container")
            let name = try #require(try list.xml()["Blobs"]?["Blob"]?["Name"]?.text)
            blob = address.replacing("/feedback?", with: "/feedback/\(name)?")
        }

        func call(_ headers: [String: String] = [:], method: String = "GET") throws -> SingleRequest.Response {
            let outcome = SingleRequest(
                .other(method), url: blob, authorization: nil,
                headers: headers.map { SingleRequest.Header(name: $0.key, value: $0.value) }, wantedHeaders: names,
                timeout: .minutes(1), proxy: nil, tls: TLSFiles(caFile: caller.emulator.caFile)
            ).perform()
            guard case .response(let response) = outcome else {
                throw HubCaller.Failure(description: "\(outcome)")
            }
            return response
        }
    }

    @Test("A whole blob has the headers that Azure's clients read")
    func whole() throws {
        let container = try Container()
        let answer = try container.call(["x-ms-client-request-id": "mine", "x-ms-version": "2024-05-04"])
        #expect(answer.status == 200)
        #expect(answer.headers["ETag"]?.wholeMatch(of: /"0x[0-9A-F]+"/) != nil)
        #expect(answer.headers["Last-Modified"]?.hasSuffix("GMT") == true)
        #expect(answer.headers["Content-Length"] == "\(answer.body.count)")
        #expect(answer.headers["Accept-Ranges"] == "bytes")
        #expect(answer.headers["x-ms-blob-type"] == "BlockBlob")
        #expect(answer.headers["x-ms-client-request-id"] == "mine")
        #expect(answer.headers["x-ms-version"] == "2024-05-04")
    }

    @Test("HEAD returns a blob's properties and ignores ranges")
    func head() {
        let blob = FeedbackBlob(number: 26, name: "26.xml", text: "<PnsFeedback/>", at: 0)
        let answer = blob.response(method: "HEAD", ["Range": "bytes=0-1"])
        #expect(answer.status == 200)
        #expect(answer.headers["ETag"] == #""0x1A""#)
        #expect(answer.headers["Content-Range"] == nil)
        #expect(answer.body.count == blob.text.utf8.count)
        #expect(blob.response(method: "HEAD", ["If-Match": #""0x1B""#]).status == 412)
    }

    @Test(
        "A range is answered with its bytes and their position, from either header",
        arguments: [
            ("Range", "bytes=0-4", 0, 4), ("x-ms-range", "bytes=3-", 3, nil),
            ("x-ms-range", "bytes=0-33554431", 0, nil), ("Range", "bytes=5-5", 5, 5),
        ] as [(String, String, Int, Int?)])
    func ranges(header: String, range: String, first: Int, last: Int?) throws {
        let container = try Container()
        let whole = try container.call().body
        let answer = try container.call([header: range])
        let end = last ?? whole.count - 1
        #expect(answer.status == 206)
        #expect(answer.headers["Content-Range"] == "bytes \(first)-\(end)/\(whole.count)")
        #expect(answer.body == Array(whole[first...end]))
    }

    @Test("Azure's own range header wins over HTTP's, and other forms return the whole blob")
    func otherRanges() throws {
        let container = try Container()
        #expect(try container.call(["Range": "bytes=0-9", "x-ms-range": "bytes=0-1"]).body.count == 2)
        for range in ["bytes=-5", "bytes=5-3", "items=0-1", "bytes=0-1,3-4"] {
            #expect(try container.call(["Range": range]).status == 200)
        }
        let beyond = try container.call(["Range": "bytes=100000-"])
        #expect(beyond.status == 416)
        #expect(beyond.headers["x-ms-error-code"] == "InvalidRange")
        #expect(beyond.headers["Content-Range"]?.hasPrefix("bytes */") == true)
    }

    @Test("Conditions compare this blob's ETag and its age")
    func conditions() throws {
        let container = try Container()
        let whole = try container.call()
        let tag = try #require(whole.headers["ETag"])
        let date = try #require(whole.headers["Last-Modified"])
        let past = "Mon, 01 Jan 2024 00:00:00 GMT"
        for (name, value, status) in [
            ("If-Match", tag, 200), ("If-Match", "*", 200), ("If-Match", "\"0x0\"", 412), ("If-None-Match", tag, 304),
            ("If-None-Match", "\"0x0\", \(tag)", 304), ("If-None-Match", "\"0x0\"", 200),
            ("If-Unmodified-Since", date, 200), ("If-Unmodified-Since", past, 412), ("If-Modified-Since", date, 304),
            ("If-Modified-Since", past, 200),
        ] {
            let answer = try container.call([name: value])
            #expect(answer.status == status, "\(name): \(value)")
            if status == 412 { #expect(answer.headers["x-ms-error-code"] == "ConditionNotMet") }
        }
        // Azure's clients read the rest of a blob this way.
        #expect(try container.call(["If-Match": tag, "x-ms-range": "bytes=2-3"]).status == 206)
        #expect(try container.call(method: "DELETE").status == 405)
    }
}
