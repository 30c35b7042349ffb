internal import Foundation
private import HeraldBytes
internal import HeraldEvents

/// Takes out of what a backend says what it was told: some repeat a whole request in an error's body.
public struct Redaction: Sendable {
    /// Shorter secrets are left alone, or words would be blotted out.
    private static let shortest = 4
    /// Shorter ones are taken out only where they stand for themselves, as a word.
    private static let shortestWithinWords = 8
    /// The number of a text's characters that shows its repetition, and the place.
    private static let anchor = 16
    private static let shortestText = 4

    /// Answers to calls with former credentials come late: those of this many changes are redacted, too.
    private static let generations = 8

    /// The newest last.
    private var secrets: [[String]] = []

    /// Looks for what a header `Authorization` says, and for the password in it.
    init(authorization: String?) {
        learn(authorization)
    }

    mutating func learn(_ authorization: String?) {
        let found = Self.secrets(in: authorization)
        guard !found.isEmpty, found != secrets.last else { return }
        secrets.append(found)
        if secrets.count > Self.generations { secrets.removeFirst() }
    }

    private static func secrets(in authorization: String?) -> [String] {
        guard let authorization, let space = authorization.firstIndex(of: " ") else { return [] }
        let value = String(authorization[authorization.index(after: space)...])
        let pair = Data(base64Encoded: value).flatMap { String(data: $0, encoding: .utf8) }
        let password = pair.flatMap { pair in pair.firstIndex(of: ":").map { String(pair[pair.index(after: $0)...]) } }
        let fields = authorization.hasPrefix("SharedAccessSignature ") ? value.split(separator: "&") : []
        // Of a hub's token the signature is the secret.
        let signature = fields.first { $0.hasPrefix("sig=") }.map { String($0.dropFirst(4)) }
        return [value, password, signature, signature?.removingPercentEncoding].compactMap { $0 }
            .filter { $0.utf8.count >= shortest }
    }

    /// The text with stars in place of secrets; of a text that was cut already a part of one may be left.
    func hidingSecrets(in text: String) -> String {
        secrets.joined().reduce(text) { Self.hiding(secret: $1, in: $0) }
    }

    /// The text with stars in place of a secret; in place of a short one where it stands for itself.
    static func hiding(secret: String, in text: String) -> String {
        guard !secret.isEmpty else { return text }
        guard secret.utf8.count < shortestWithinWords else { return text.replacing(secret, with: "***") }
        var result = ""
        var rest = text[...]
        while let found = rest.firstRange(of: secret) {
            let before = text[..<found.lowerBound].last
            let after = text[found.upperBound...].first
            let isWord = ![before, after].contains { $0.map { $0.isLetter || $0.isNumber } ?? false }
            result += rest[..<found.lowerBound] + (isWord ? "***" : secret)
            rest = rest[found.upperBound...]
        }
        return result + rest
    }

    /// The line with a mark in place of a text of the notification, or of as much of it as is there.
    ///
    /// - Parameter name: the text's, for the mark: `(the message)`.
    public static func hiding(_ text: RawSpan, named name: String = "message", in line: String) -> String {
        var escaped: [UInt8] = []
        JSONText.appendString(text, to: &escaped)
        // A backend that repeats the request's body repeats the text as JSON writes it.
        let asJSON = OneLine.text(String(decoding: escaped.dropFirst().dropLast(), as: UTF8.self))
        return [asJSON, OneLine.text(text)].compactMap(\.self)
            .reduce(line) { hiding($1, as: "(the \(name))", in: $0) }
    }

    /// The line with a mark in place of a text, which is one line itself.
    static func hiding(_ text: String, as mark: String, in line: String) -> String {
        guard text.count >= shortestText else { return line }
        let start = text.prefix(anchor)
        var result = ""
        var rest = line[...]
        while let found = rest.firstRange(of: start) {
            result += rest[..<found.lowerBound] + mark
            rest = rest[found.lowerBound...].dropFirst(rest[found.lowerBound...].commonPrefixCount(with: text))
        }
        return result + rest
    }
}

extension CallResult {
    /// The same with a mark in place of a text that the backend repeats.
    func hiding(_ text: String, as mark: String) -> Self {
        var result = self
        result.detail = detail.map { Redaction.hiding(OneLine.text(text) ?? "", as: mark, in: $0) }
        return result
    }
}

extension Substring {
    fileprivate func commonPrefixCount(with other: String) -> Int {
        zip(self, other).prefix { $0 == $1 }.count
    }
}
