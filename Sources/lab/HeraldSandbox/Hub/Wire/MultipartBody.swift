import HeraldHTTP
import HeraldText

/// The parts of a multipart/mixed body, by the names in their `Content-Disposition`.
struct MultipartBody {
    struct Part {
        var headers = HTTPHeaderFields()
        var body: [UInt8]
    }

    private(set) var parts: [String: Part] = [:]

    /// Reads a body; azure-sdk-for-js writes `boundary = "…"`, with spaces and quotes.
    init(_ body: [UInt8], contentType: String) throws(InvalidArgument) {
        guard contentType.lowercased().hasPrefix("multipart/"),
            let boundary = Self.parameter("boundary", of: contentType), !boundary.isEmpty
        else { throw InvalidArgument("the Content-Type is no multipart/mixed with a boundary") }
        // The first line break belongs to the boundary too.
        let text = Array("\r\n".utf8) + body
        let separator = Array("\r\n--\(boundary)".utf8)
        let places = text.ranges(of: separator)
        for (place, next) in zip(places, places.dropFirst()) {
            try add(text[place.upperBound..<next.lowerBound])
        }
        guard let last = places.last, text[last.upperBound...].starts(with: "--".utf8) else {
            throw InvalidArgument("the multipart body has no end")
        }
    }

    private mutating func add(_ bytes: ArraySlice<UInt8>) throws(InvalidArgument) {
        guard let end = bytes.firstRange(of: Array("\r\n\r\n".utf8)) else {
            throw InvalidArgument("a part of the multipart body has no empty line behind its head")
        }
        var part = Part(body: Array(bytes[end.upperBound...]))
        for line in String(decoding: bytes[..<end.lowerBound], as: UTF8.self).split(separator: "\r\n") {
            guard let colon = line.firstIndex(of: ":") else { continue }
            let value = line[line.index(after: colon)...].drop { $0 == " " }
            part.headers.append(name: String(line[..<colon]), value: String(value))
        }
        guard let disposition = part.headers["Content-Disposition"],
            let name = Self.parameter("name", of: disposition)
        else { throw InvalidArgument("a part of the multipart body has no name") }
        parts[name] = part
    }

    /// A parameter after a value: `name=value`, with or without quotes and spaces.
    private static func parameter(_ name: String, of value: String) -> String? {
        for piece in value.split(separator: ";").dropFirst() {
            let pair = piece.split(separator: "=", maxSplits: 1).map(\.trimmed)
            guard pair.count == 2, pair[0].lowercased() == name else { continue }
            return pair[1].filter { $0 != "\"" }
        }
        return nil
    }
}
