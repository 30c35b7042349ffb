import FoundationEssentials

/// The tutorial's authentication: HTTP Basic, and the password equals the user name.
enum BasicCredentials {
    /// The caller that the header `Authorization` proves, `nil` when it is missing or wrong.
    static func caller(authorization: String?) -> String? {
        guard let authorization else { return nil }
        let parts = authorization.split(separator: " ", maxSplits: 1)
        guard parts.count == 2, parts[0].lowercased() == "basic", let bytes = Data(base64Encoded: String(parts[1])),
            let text = String(validating: bytes, as: UTF8.self)
        else { return nil }
        let pair = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        // Compared as bytes: Swift takes different spellings of one character for equal.
        guard pair.count == 2, !pair[0].isEmpty, pair[0].utf8.elementsEqual(pair[1].utf8) else { return nil }
        return String(pair[0])
    }
}
