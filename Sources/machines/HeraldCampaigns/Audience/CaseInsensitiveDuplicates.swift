internal import HeraldBytes

/// Finds recipients who differ in upper and lower case alone: for Herald and its backend they are different users, for people
/// mostly one.
///
/// Only users with capitals take memory.
package struct CaseInsensitiveDuplicates: Sendable {
    /// The recipients with a twin before them in the audience.
    package private(set) var count = 0
    /// The first of them.
    package private(set) var first: (line: Int, user: String)?

    private var folded = RecipientSet()

    /// Takes a recipient.
    ///
    /// - Parameters:
    ///   - ids: makes the campaign's ids.
    ///   - recipients: all recipients so far.
    mutating func note(
        _ user: [UInt8], _ id: RecipientID, line: Int, _ ids: RecipientIDs, among recipients: RecipientSet
    ) {
        let capitals: ClosedRange<UInt8> = 0x41...0x5A
        let isTwin: Bool
        if user.contains(where: capitals.contains) {
            let lower = user.map { capitals.contains($0) ? $0 | 0x20 : $0 }
            let key = ids.id(of: lower.span.bytes)
            let isAmong = recipients.marks(of: key).contains(.seen)
            isTwin = !folded.insert(key, .seen).isEmpty || isAmong
        } else {
            isTwin = folded.count > 0 && folded.marks(of: id).contains(.seen)
        }
        guard isTwin else { return }
        count += 1
        if first == nil { first = (line, String(decoding: user, as: UTF8.self)) }
    }

    /// No more recipients come.
    mutating func forget() { folded = RecipientSet() }
}
