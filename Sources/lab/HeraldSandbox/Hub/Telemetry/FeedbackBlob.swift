import HeraldHTTP
import HeraldTime

/// A blob of the feedback container, with Azure Blob Storage's answers to requests for it.
///
/// Azure's clients request the first bytes of a blob, then the rest with the blob's ETag as a condition.
struct FeedbackBlob: Sendable {
    static let mediaType = "application/xml"

    let number: Int
    let name: String
    let text: String
    /// Milliseconds of Unix time.
    let at: Int64

    /// The form in lists; the header adds quotation marks.
    var etag: String { "0x\(String(number, radix: 16, uppercase: true))" }
    /// The time of its creation; it never changes.
    var date: String { HTTPDate.text(WallTime(milliseconds: at)) }

    /// The whole blob, the requested bytes, or a refusal.
    ///
    /// The server omits the body in its answer to HEAD.
    func response(method: String, _ headers: HTTPHeaderFields) -> HTTPResponse {
        var answer = refusal(headers) ?? content(method, headers)
        if answer.status < 400 {
            answer.headers.append(name: "ETag", value: "\"\(etag)\"")
            answer.headers.append(name: "Last-Modified", value: date)
            for (name, value) in [
                ("Accept-Ranges", "bytes"), ("x-ms-blob-type", "BlockBlob"), ("x-ms-creation-time", date),
                ("x-ms-lease-state", "available"), ("x-ms-lease-status", "unlocked"),
                ("x-ms-server-encrypted", "true"),
            ] { answer.headers.append(name: name, value: value) }
        }
        return answer
    }

    /// A refusal in the form of Azure Blob Storage.
    static func failure(_ status: Int, _ code: String) -> HTTPResponse {
        let text =
            "<?xml version=\"1.0\" encoding=\"utf-8\"?><Error><Code>\(code)</Code><Message>\(code)</Message></Error>"
        return HTTPResponse(
            status: status, headers: ["Content-Type": mediaType, "x-ms-error-code": code], body: Array(text.utf8))
    }

    // MARK: Conditions

    /// The answer when the blob is a different one, or the client has this version.
    private func refusal(_ headers: HTTPHeaderFields) -> HTTPResponse? {
        func moment(_ name: String) -> Int64? { headers[name].flatMap { HTTPDate.parse($0)?.milliseconds } }
        let second = at / 1_000 * 1_000
        let isUnchanged =
            headers["If-Match"].map { names($0) } ?? true && moment("If-Unmodified-Since").map { second <= $0 } ?? true
        guard isUnchanged else { return Self.failure(412, "ConditionNotMet") }
        let isKnown =
            headers["If-None-Match"].map { names($0) } ?? moment("If-Modified-Since").map { second <= $0 } ?? false
        return isKnown ? HTTPResponse(status: 304) : nil
    }

    /// Whether a list of ETags contains this blob's, or stands for all.
    private func names(_ list: String) -> Bool {
        list.split(separator: ",").contains { item in
            let tag = item.filter { $0 != " " && $0 != "\"" }
            return tag == "*" || tag == etag
        }
    }

    // MARK: Content

    private func content(_ method: String, _ headers: HTTPHeaderFields) -> HTTPResponse {
        let bytes = Array(text.utf8)
        // A range does not affect the properties that HEAD asks for.
        guard method == "GET", let text = headers["x-ms-range"] ?? headers["Range"],
            let (first, last) = Self.range(text)
        else { return HTTPResponse(status: 200, headers: ["Content-Type": Self.mediaType], body: bytes) }
        guard first < bytes.count else {
            var refusal = Self.failure(416, "InvalidRange")
            refusal.headers.append(name: "Content-Range", value: "bytes */\(bytes.count)")
            return refusal
        }
        let end = min(last ?? bytes.count, bytes.count - 1)
        return HTTPResponse(
            status: 206,
            headers: ["Content-Type": Self.mediaType, "Content-Range": "bytes \(first)-\(end)/\(bytes.count)"],
            body: Array(bytes[first...end]))
    }

    /// The positions of `bytes=FIRST-LAST` or `bytes=FIRST-`; Azure ignores other forms and sends the whole blob.
    private static func range(_ text: String) -> (first: Int, last: Int?)? {
        let parts = text.split(separator: "=", maxSplits: 1)
        guard parts.count == 2, parts[0] == "bytes" else { return nil }
        let places = parts[1].split(separator: "-", omittingEmptySubsequences: false)
        guard places.count == 2, let first = Int(places[0]), first >= 0 else { return nil }
        if places[1].isEmpty { return (first, nil) }
        guard let last = Int(places[1]), last >= first else { return nil }
        return (first, last)
    }
}
