/// Numbers from records that any program may have written: none can be so large that it overflows where it is used.
package enum SoundNumber {
    private static let largestCount = 1_000_000_000_000
    private static let endOfTime: Int64 = 253_402_300_799_999

    package static func isCount(_ number: Int) -> Bool { (0...largestCount).contains(number) }

    /// From 1970 to the year 9999, in epoch milliseconds.
    package static func isMoment(_ milliseconds: Int64) -> Bool { (0...endOfTime).contains(milliseconds) }

    /// A partition's number, as text in JSON.
    package static func partition(_ name: String) -> Int32? {
        Int32(name).flatMap { $0 >= 0 && "\($0)" == name ? $0 : nil }
    }

    package static func areOffsets(_ offsets: [String: Int64]) -> Bool {
        offsets.allSatisfy { name, offset in offset >= 0 && partition(name) != nil }
    }

    package static func byNumber(_ offsets: [String: Int64]) -> [Int32: Int64] {
        Dictionary(offsets.compactMap { name, offset in Int32(name).map { ($0, offset) } }, uniquingKeysWith: min)
    }
}
