package import HeraldText

/// A file with HTTP headers, one `Name: value` per line; empty lines are ignored.
package enum HeaderFile {
    private static let limit = 65_536

    /// The current headers.
    ///
    /// Errors are phrased to follow the file's name, and show no value.
    package static func read(_ path: String) throws(InputError) -> [(name: String, value: Secret)] {
        let bytes = try BoundedFile.read(path, limit: limit)
        guard let text = String(validating: bytes, as: UTF8.self) else { throw InputError("is not UTF-8 text") }
        var headers: [(name: String, value: Secret)] = []
        for (index, line) in text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline).enumerated()
        where !line.allSatisfy(\.isWhitespace) {
            guard let header = header(line) else {
                throw InputError("is no header; write lines of Name: value, in printable ASCII", line: index + 1)
            }
            headers.append(header)
        }
        return headers
    }

    private static func header(_ line: Substring) -> (name: String, value: Secret)? {
        guard let colon = line.firstIndex(of: ":") else { return nil }
        let name = line[..<colon]
        let value = line[line.index(after: colon)...].trimming(while: { $0 == " " || $0 == "\t" })
        guard !name.isEmpty, name.utf8.allSatisfy(isTokenCharacter), !value.isEmpty,
            value.utf8.allSatisfy({ (0x20...0x7E).contains($0) || $0 == 0x09 })
        else { return nil }
        return (String(name), Secret(String(value)))
    }

    /// RFC 9110 §5.6.2.
    private static func isTokenCharacter(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
        default: "!#$%&'*+-.^_`|~".utf8.contains(byte)
        }
    }
}

extension Substring {
    fileprivate func trimming(while isLeftOut: (Character) -> Bool) -> Substring {
        var rest = drop(while: isLeftOut)
        while let last = rest.last, isLeftOut(last) { rest.removeLast() }
        return rest
    }
}
