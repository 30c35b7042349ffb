internal import HeraldBytes
public import HeraldText

/// A container of Azure's blob storage behind an address that is signed: `https://ACCOUNT.blob…/CONTAINER?sv=…&sig=…`.
///
/// The address is a secret: its holder may read the container.
public struct BlobContainer: Sendable, Hashable {
    /// A part of what is in the container (List Blobs: `EnumerationResults`).
    public struct Page: Sendable, Hashable {
        /// A blob.
        public struct Blob: Sendable, Hashable {
            /// Its name.
            public var name: String
            /// Its version; absent when the container tells none.
            public var etag: String?
        }

        /// The blobs, in the container's order.
        public var blobs: [Blob]
        /// Where the next part begins; absent behind the last.
        public var marker: String?

        /// Reads the document.
        public init(document: [UInt8]) throws(InvalidArgument) {
            let root = try XMLElement(document: document)
            guard root.name == "EnumerationResults", let list = root["Blobs"] else {
                throw InvalidArgument("the container's answer is no EnumerationResults with Blobs")
            }
            blobs = []
            for blob in list.children where blob.name == "Blob" {
                guard let name = blob["Name"]?.text, !name.isEmpty else {
                    throw InvalidArgument("the container lists a blob without a name")
                }
                blobs.append(Blob(name: name, etag: blob["Properties"]?["Etag"]?.text))
            }
            let next = root["NextMarker"]?.text.trimmed ?? ""
            marker = next.isEmpty ? nil : next
        }
    }

    private static let pageSize = 1_000

    private let path: Secret
    private let query: Secret

    /// Takes the address that the hub answers with; throws when it is none.
    public init(address text: String) throws(InvalidArgument) {
        let text = text.trimmed
        let parts = text.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        let isClean = text.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "\"") }
        guard isClean, text.utf8.count <= 4_096, parts.count == 2, !parts[1].isEmpty,
            parts[0].hasPrefix("https://"), parts[0].dropFirst("https://".count).contains("/")
        else { throw InvalidArgument("the hub's answer is no signed address of a blob container") }
        var path = String(parts[0])
        while path.hasSuffix("/") { path.removeLast() }
        self.path = Secret(path)
        query = Secret(String(parts[1]))
    }

    /// The address of a part of the list.
    public func list(from marker: String?) -> Secret {
        let place = marker.map { "&marker=\(PercentEncoding.encoded($0))" } ?? ""
        return Secret(
            "\(path.reveal())?\(query.reveal())&restype=container&comp=list&maxresults=\(Self.pageSize)\(place)")
    }

    /// The address of a blob.
    public func blob(_ name: String) -> Secret {
        Secret("\(path.reveal())/\(PercentEncoding.encoded(name, keepingSlashes: true))?\(query.reveal())")
    }
}
