internal import Glibc

/// Finds a few bytes in many, for a cheap look before a record is decoded.
package struct BytePattern: Sendable {
    private let bytes: [UInt8]

    package init(_ text: String) {
        bytes = Array(text.utf8)
        precondition(!bytes.isEmpty, "nothing is everywhere")
    }

    /// Whether the bytes are somewhere in there.
    package func occurs(in value: RawSpan) -> Bool {
        value.withUnsafeBytes { value in
            bytes.withUnsafeBytes { pattern in
                guard var place = value.baseAddress, let start = pattern.baseAddress else { return false }
                let end = place + value.count
                // The C library goes through a megabyte faster than any loop here, and as fast in a debug build.
                while end - place >= pattern.count,
                    let found = memchr(place, Int32(pattern[0]), end - place - pattern.count + 1)
                {
                    if memcmp(found, start, pattern.count) == 0 { return true }
                    place = UnsafeRawPointer(found) + 1
                }
                return false
            }
        }
    }
}
