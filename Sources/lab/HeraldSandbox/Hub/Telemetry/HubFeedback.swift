import HeraldHub

/// The feedback container: one blob for each device reported as gone, as listed by Azure Blob Storage.
struct HubFeedback: Sendable {
    private static let blobLimit = 10_000
    private static let pageLimit = 5_000

    private var blobs = BoundedLog<FeedbackBlob>(limit: Self.blobLimit)
    private var lastNumber = 0

    mutating func report(_ registration: HubRegistration, _ outcome: String, messageID: String?, at time: Int64) {
        lastNumber += 1
        var text = HubXML.element("FeedbackTime", HubTime.text(time))
        text += HubXML.element("NotificationSystemError", outcome)
        text += HubXML.element("Platform", registration.platform.rawValue)
        text += HubXML.element("PnsHandle", registration.handle)
        if let installation = registration.installation {
            text += HubXML.element("InstallationId", installation)
        } else if !registration.id.isEmpty {
            text += HubXML.element("RegistrationId", registration.id)
        }
        if let messageID { text += HubXML.element("NotificationId", messageID) }
        let digits = "\(lastNumber)"
        blobs.append(
            FeedbackBlob(
                number: lastNumber, name: String(repeating: "0", count: max(0, 12 - digits.count)) + digits + ".xml",
                text: "<PnsFeedback>\(text)</PnsFeedback>", at: time))
    }

    subscript(_ name: String) -> FeedbackBlob? { blobs.elements.first { $0.name == name } }

    /// The answer of *List Blobs*: the blobs after the marker whose names have the prefix.
    func list(containerURL: String, prefix: String, marker: String, limit: Int?) -> String {
        let count = min(max(limit ?? Self.pageLimit, 1), Self.pageLimit)
        let found = blobs.elements.filter { $0.name > marker && $0.name.hasPrefix(prefix) }
        let page = found.prefix(count)
        let next = page.count < found.count ? page.last?.name ?? "" : ""
        let slash = containerURL.lastIndex(of: "/") ?? containerURL.endIndex
        return "<?xml version=\"1.0\" encoding=\"utf-8\"?><EnumerationResults ServiceEndpoint=\""
            + XMLText.escaped("\(containerURL[..<slash])/") + "\" ContainerName=\""
            + XMLText.escaped(String(containerURL[slash...].dropFirst())) + "\">" + HubXML.element("Prefix", prefix)
            + HubXML.element("Marker", marker) + HubXML.element("MaxResults", "\(count)")
            + "<Blobs>\(page.map { Self.entry($0) }.joined())</Blobs>" + HubXML.element("NextMarker", next)
            + "</EnumerationResults>"
    }

    private static func entry(_ blob: FeedbackBlob) -> String {
        "<Blob>\(HubXML.element("Name", blob.name))<Properties>" + HubXML.element("Creation-Time", blob.date)
            + HubXML.element("Last-Modified", blob.date) + HubXML.element("Etag", blob.etag)
            + HubXML.element("Content-Length", "\(blob.text.utf8.count)")
            + HubXML.element("Content-Type", FeedbackBlob.mediaType) + HubXML.element("BlobType", "BlockBlob")
            + "</Properties></Blob>"
    }
}
