internal import Glibc

/// The last answer that came in one piece, without any kept part, and left its connection usable.
///
/// An answer's meaning depends on its bytes alone, so that the same bytes need no parser. A backend accepts in the same
/// words until its Date changes; one that numbers its answers is parsed each time, as without this memory.
struct ResponseMemo {
    private static let limit = 1_024

    private(set) var status: Int32 = 0
    private var bytes: [UInt8] = []

    /// Whether these are its bytes, all of them; false for none.
    func hasBytes(_ answer: UnsafeRawBufferPointer) -> Bool {
        guard let start = answer.baseAddress, !answer.isEmpty, answer.count == bytes.count else { return false }
        return bytes.withUnsafeBytes { known in known.baseAddress.map { memcmp($0, start, answer.count) } == 0 }
    }

    mutating func become(_ answer: UnsafeRawBufferPointer, status: Int32) {
        guard answer.count <= Self.limit else { return }
        bytes.removeAll(keepingCapacity: true)
        bytes.append(contentsOf: answer)
        self.status = status
    }
}
