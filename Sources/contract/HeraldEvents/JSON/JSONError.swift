/// The reason why bytes are not the expected JSON.
package struct JSONError: Error {
    enum Problem {
        case unexpectedEnd
        case unexpectedByte
        case byteOrderMark
        case invalidUTF8
        case controlCharacter
        case invalidEscape
        case loneSurrogate
        case tooDeep
        case trailingBytes
        case notAnObject
        case repeatedKey(StaticString)
        case repeatedName
    }

    let problem: Problem
    /// The byte's offset in the record's value.
    package let offset: Int
}

extension JSONError: CustomStringConvertible {
    /// The fault and its place, as a continuation of "the value".
    package var description: String {
        let what =
            switch problem {
            case .unexpectedEnd: "ends in the middle"
            case .unexpectedByte: "holds something that is no JSON"
            case .byteOrderMark: "begins with a byte order mark"
            case .invalidUTF8: "holds bytes that are not UTF-8"
            case .controlCharacter: "holds a control character in a string that is not escaped"
            case .invalidEscape: "holds an unknown escape in a string"
            case .loneSurrogate: "holds half of a surrogate pair"
            case .tooDeep: "is nested deeper than \(JSONReader.maximumDepth) levels"
            case .trailingBytes: "goes on after its end"
            case .notAnObject: "is not a JSON object"
            case .repeatedName: "holds a member twice"
            case .repeatedKey(let key): "holds the key \(key) twice"
            }
        return "\(what) (at byte \(offset))"
    }
}
