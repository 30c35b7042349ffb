internal import Foundation

/// What a request line asks for: a path and a query, read from the bytes that the client sent.
public struct HTTPTarget: Sendable, Equatable {
    /// One `name=value` of a query, decoded.
    public struct Parameter: Sendable, Equatable {
        /// The decoded name.
        public var name: String
        /// The decoded value; empty when there was no `=`.
        public var value: String
    }

    /// The path as it was sent, percent-encoded.
    public let path: String
    /// The path cut at its slashes and then decoded, so that an encoded slash stays inside its segment.
    public let segments: [String]
    /// The query as it was sent, without its question mark.
    public let query: String
    /// The parameters of the query in their order, repeated names included.
    public let parameters: [Parameter]

    /// Reads a request target in origin form (`/a?b=c`) or absolute form (`http://host/a?b=c`).
    ///
    /// In the query `+` is a space, as forms write it and ASP.NET reads it; in the path it is a plus. `nil` when a
    /// percent sign has no two hexadecimal digits behind it or the decoded bytes are not UTF-8.
    public init?(parsing target: String) {
        let bytes = Array(target.utf8)[...]
        let origin = Self.originForm(of: bytes)
        let queryStart = origin.firstIndex(of: 0x3F) ?? origin.endIndex
        let pathBytes = origin[..<queryStart]
        var segments: [String] = []
        for segment in pathBytes.split(separator: 0x2F, omittingEmptySubsequences: false).dropFirst() {
            guard let decoded = Self.decoded(segment, plusIsSpace: false) else { return nil }
            segments.append(decoded)
        }
        var parameters: [Parameter] = []
        for pair in origin[queryStart...].dropFirst().split(separator: 0x26) {
            let equals = pair.firstIndex(of: 0x3D) ?? pair.endIndex
            guard let name = Self.decoded(pair[..<equals], plusIsSpace: true),
                let value = Self.decoded(pair[equals...].dropFirst(), plusIsSpace: true)
            else { return nil }
            parameters.append(Parameter(name: name, value: value))
        }
        path = String(decoding: pathBytes, as: UTF8.self)
        query = String(decoding: origin[queryStart...].dropFirst(), as: UTF8.self)
        self.segments = segments
        self.parameters = parameters
    }

    /// The values of every parameter of this name, in their order.
    public func values(of name: String) -> [String] {
        parameters.filter { $0.name == name }.map(\.value)
    }

    private static func originForm(of target: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        guard target.first != 0x2F, let colon = target.firstIndex(of: 0x3A), target[colon...].starts(with: "://".utf8)
        else { return target }
        let authority = target[(colon + 3)...]
        guard let end = authority.firstIndex(where: { $0 == 0x2F || $0 == 0x3F }) else { return [0x2F] }
        return authority[end] == 0x2F ? authority[end...] : [0x2F] + authority[end...]
    }

    private static func decoded(_ bytes: ArraySlice<UInt8>, plusIsSpace: Bool) -> String? {
        guard let text = String(validating: bytes, as: UTF8.self) else { return nil }
        return (plusIsSpace ? text.replacing("+", with: " ") : text).removingPercentEncoding
    }
}
