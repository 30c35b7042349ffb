import HeraldHub
import HeraldText
import HeraldTime
import Testing

@Suite("A hub's telemetry of its messages")
struct TelemetryTests {
    private static let namespaces =
        "xmlns=\"http://schemas.microsoft.com/netservices/2010/10/servicebus/connect\" "
        + "xmlns:i=\"http://www.w3.org/2001/XMLSchema-instance\""

    private func document(state: String, counts: String = "") -> [UInt8] {
        Array(
            """
            <NotificationDetails \(Self.namespaces)><NotificationId>NH-1-06</NotificationId>\
            <Location>sb://contoso.servicebus.windows.net/hub/messages/NH-1-06?api-version=2020-06</Location>\
            <State>\(state)</State><EnqueueTime>2022-12-14T20:24:18.813Z</EnqueueTime>\
            <NotificationBody>{"aps":{}}</NotificationBody><Tags>username:ann</Tags>\
            <TargetPlatforms>apple,gcm</TargetPlatforms>\(counts)<PnsErrorDetailsUri>https://x/</PnsErrorDetailsUri>\
            </NotificationDetails>
            """.utf8)
    }

    @Test("Outcomes are added up over all platforms, including new and unknown ones")
    func outcomes() throws {
        let counts = """
            <ApnsOutcomeCounts><Outcome><Name>Success</Name><Count>3</Count></Outcome>\
            <Outcome><Name>ExpiredChannel</Name><Count>1</Count></Outcome></ApnsOutcomeCounts>\
            <MpnsOutcomeCounts i:nil="true"/><WnsOutcomeCounts/>\
            <FcmV1OutcomeCounts><Outcome><Name>Success</Name><Count>2</Count></Outcome>\
            <Outcome><Name>NobodyKnowsThis</Name><Count>4</Count></Outcome></FcmV1OutcomeCounts>
            """
        let details = try MessageDetails(document: document(state: "Completed", counts: counts))
        #expect(details.state == MessageDetails.State("Completed") && details.state.isFinal)
        #expect(details.outcomes == ["Success": 5, "ExpiredChannel": 1, "NobodyKnowsThis": 4])
    }

    @Test(
        "A message is finished in four states, in any spelling",
        arguments: [
            ("Completed", true), ("NoTargetFound", true), ("Abandoned", true), ("Cancelled", true), ("Canceled", true),
            ("Enqueued", false), ("Processing", false), ("DetailedStateAvailable", false), ("Scheduled", false),
            ("Unknown", false), ("SomethingNew", false),
        ])
    func states(name: String, isFinal: Bool) throws {
        let details = try MessageDetails(document: document(state: name))
        #expect(details.state.name == name && details.state.isFinal == isFinal && details.outcomes.isEmpty)
    }

    @Test(
        "Any other document is refused",
        arguments: [
            "", "<a/>", "<NotificationDetails/>", "<NotificationDetails><State> </State></NotificationDetails>",
            "<NotificationDetails><State>Completed</State><ApnsOutcomeCounts><Outcome><Name>Success</Name>"
                + "<Count>-1</Count></Outcome></ApnsOutcomeCounts></NotificationDetails>",
            "<NotificationDetails><State>Completed</State><ApnsOutcomeCounts><Outcome><Count>1</Count></Outcome>"
                + "</ApnsOutcomeCounts></NotificationDetails>",
        ])
    func refused(text: String) {
        #expect(throws: InvalidArgument.self) { try MessageDetails(document: Array(text.utf8)) }
    }

    private func answer(_ status: Int, retryAfter: String? = nil, body: [UInt8] = []) -> MessageAnswer {
        MessageAnswer(status: status, retryAfter: retryAfter, body: body, now: 784_111_777_000)
    }

    @Test("An answer concerns either the message or the hub alone")
    func answers() throws {
        let body = document(state: "Completed")
        #expect(answer(200, body: body) == .details(try MessageDetails(document: body)))
        #expect(answer(404) == .notKnown && answer(400) == .notKnown)
        #expect(answer(429, retryAfter: "7") == .unavailable(reason: "HTTP 429", retryAfter: .seconds(7)))
        #expect(
            answer(403, retryAfter: "Sun, 06 Nov 1994 08:49:40 GMT")
                == .unavailable(reason: "HTTP 403", retryAfter: .seconds(3)))
        #expect(answer(503) == .unavailable(reason: "HTTP 503", retryAfter: nil))
        #expect(answer(429, retryAfter: "soon") == .unavailable(reason: "HTTP 429", retryAfter: nil))
        #expect(
            answer(429, retryAfter: "999999999") == .unavailable(reason: "HTTP 429", retryAfter: .minutes(10)))
        for status in [401, 403, 408, 500, 502, 504] {
            #expect(answer(status) == .unavailable(reason: "HTTP \(status)", retryAfter: nil))
        }
        guard case .unavailable = answer(200, body: Array("<html/>".utf8)) else {
            Issue.record("a page of somebody else's was taken for the hub's")
            return
        }
    }
}

@Suite("Expired devices")
struct DeviceNewsTests {
    private let one = """
        <?xml version="1.0" encoding="utf-16"?><PnsFeedback><FeedbackTime>2022-12-14T20:24:18.8130000Z</FeedbackTime>\
        <NotificationSystemError>ExpiredChannel</NotificationSystemError><Platform>apns</Platform>\
        <PnsHandle>A1B2</PnsHandle><RegistrationId>328-179-3</RegistrationId><NotificationId>NH-1</NotificationId>\
        </PnsFeedback>
        """

    @Test("A blob contains one device, several below a root, or several documents one after the other")
    func documents() throws {
        let device = try #require(try DeviceNews.read(blob: Array("\u{FEFF}\(one)".utf8)).first)
        #expect(device.platform == "apns" && device.handle == "A1B2" && device.reason == "ExpiredChannel")
        #expect(device.registrationID == "328-179-3" && device.installationID == nil && device.messageID == "NH-1")
        #expect(device.at == WallTime(milliseconds: 1_671_049_458_813))
        let other = one.replacing("A1B2", with: "C3D4")
        #expect(try DeviceNews.read(blob: Array("\(one)\r\n\(other)".utf8)).map(\.handle) == ["A1B2", "C3D4"])
        let bare =
            "<PnsFeedback><Platform>gcm</Platform><PnsHandle>x</PnsHandle><NewPnsHandle>y</NewPnsHandle>"
            + "</PnsFeedback>"
        let list = try DeviceNews.read(blob: Array("<List>\(bare)\(bare)</List>".utf8))
        #expect(list.count == 2 && list[0].newHandle == "y" && list[0].at == nil && list[0].reason == nil)
        #expect(try DeviceNews.read(blob: []).isEmpty)
    }

    @Test(
        "A blob without a device, or with one that cannot be identified, is refused",
        arguments: ["<a/>", "text", "<PnsFeedback/>", "<PnsFeedback><Platform>gcm</Platform></PnsFeedback>", "<a>"])
    func refused(text: String) {
        #expect(throws: InvalidArgument.self) { try DeviceNews.read(blob: Array(text.utf8)) }
    }

    @Test("A container's list is read page by page, and its blobs by their names")
    func container() throws {
        let container = try BlobContainer(address: " https://a.blob.core.windows.net/c/?sv=2019&sig=a%2Bb%3D\n")
        #expect("\(container)".contains("sig") == false)
        #expect(
            container.list(from: nil).reveal()
                == "https://a.blob.core.windows.net/c?sv=2019&sig=a%2Bb%3D&restype=container&comp=list&maxresults=1000")
        #expect(container.list(from: "2!8/=").reveal().hasSuffix("&marker=2%218%2F%3D"))
        #expect(
            container.blob("2022/12 a?.xml").reveal()
                == "https://a.blob.core.windows.net/c/2022/12%20a%3F.xml?sv=2019&sig=a%2Bb%3D")
        let page = try BlobContainer.Page(
            document: Array(
                """
                <?xml version="1.0" encoding="utf-8"?><EnumerationResults ContainerName="c"><Blobs>\
                <Blob><Name>one.xml</Name><Properties><Etag>0x8D1</Etag><Content-Length>9</Content-Length></Properties>\
                </Blob><BlobPrefix><Name>dir/</Name></BlobPrefix><Blob><Name>two.xml</Name></Blob></Blobs>\
                <NextMarker>2!8</NextMarker></EnumerationResults>
                """.utf8))
        #expect(page.blobs.map(\.name) == ["one.xml", "two.xml"] && page.blobs.map(\.etag) == ["0x8D1", nil])
        #expect(page.marker == "2!8")
        let last = "<EnumerationResults><Blobs/><NextMarker/></EnumerationResults>"
        #expect(try BlobContainer.Page(document: Array(last.utf8)).marker == nil)
    }

    @Test(
        "An unsigned address, or an invalid list, is refused",
        arguments: [
            "", "https://a/c", "https://a?sig=1", "ftp://a/c?sig=1", "http://a/c?sig=1", "https://a/c?",
            "https://a/c?si g",
        ])
    func refusedAddresses(text: String) {
        #expect(throws: InvalidArgument.self) { try BlobContainer(address: text) }
        #expect(throws: InvalidArgument.self) { try BlobContainer.Page(document: Array("<a/>".utf8)) }
    }
}
