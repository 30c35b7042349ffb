internal import Glibc

/// Turns one encoding into UTF-8, with the C library's `iconv`.
///
/// It closes its handle. One thread.
final class EncodingConverter {
    private static let pieceBytes = 65_536
    private static let nameBytes = 40

    private let handle: iconv_t

    /// A converter from the encoding of this name; `nil` when the library knows none.
    init?(_ name: String) {
        // What stands behind a slash would have it leave out what it cannot convert.
        guard !name.isEmpty, name.utf8.count <= Self.nameBytes, !name.utf8.contains(UInt8(ascii: "/")),
            let handle = iconv_open("UTF-8", name), handle != iconv_t(bitPattern: -1)
        else { return nil }
        self.handle = handle
    }

    deinit { iconv_close(handle) }

    /// Appends the text of these bytes; what begins a character at their end has to come again with the next ones.
    ///
    /// - Returns: how many bytes these are; `nil` where some are no character of the encoding.
    func convert(_ bytes: [UInt8], into text: inout [UInt8]) -> Int? {
        var input = bytes
        var piece = [CChar](repeating: 0, count: Self.pieceBytes)
        return input.withUnsafeMutableBytes { input in
            var next = input.baseAddress?.assumingMemoryBound(to: CChar.self)
            var left = input.count
            while true {
                var error: Int32 = 0
                let written = piece.withUnsafeMutableBufferPointer { output in
                    var end = output.baseAddress
                    var room = output.count
                    if iconv(handle, &next, &left, &end, &room) == -1 { error = errno }
                    return output.count - room
                }
                text.append(contentsOf: piece[..<written].map { UInt8(bitPattern: $0) })
                switch error {
                case 0: return 0
                case E2BIG: continue
                case EINVAL: return left
                default: return nil
                }
            }
        }
    }

    /// The text of these bytes, as a whole; `nil` when they are none.
    static func text(_ bytes: [UInt8], in name: String) -> String? {
        guard let converter = EncodingConverter(name) else { return nil }
        var text: [UInt8] = []
        guard converter.convert(bytes, into: &text) == 0 else { return nil }
        return String(validating: text, as: UTF8.self)
    }
}
