package import HeraldText

/// A file with HTTP headers, one `Name: value` per line; empty lines are ignored.
package enum HeaderFile {
    private static let limit = 65_536

    /// Errors are phrased to follow the file's name, and show no value.
    package static func read(_ path: String) throws(InputError) -> [(name: String, value: Secret)] {
        let bytes = try BoundedFile.read(path, limit: limit)
        guard let text = String(validating: bytes, as: UTF8.self) else { throw InputError("is not UTF-8 text") }
        var headers: [(name: String, value: Secret)] = []
        for (index, line) in text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline).enumerated()
        where !line.allSatisfy(\.isWhitespace) {
            // RFC 9110 §5.6.2.
            guard let header = line.wholeMatch(of: /([!#$%&'*+\-.^_`|~0-9A-Za-z]+):[ \t]*([ -~\t]*[!-~])[ \t]*/) else {
                throw InputError("is no header; write lines of Name: value, in printable ASCII", line: index + 1)
            }
            headers.append((String(header.1), Secret(String(header.2))))
        }
        return headers
    }
}
