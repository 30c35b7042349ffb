import Synchronization

/// Values by small numbers, one number for equal ones: one thread adds, and any thread reads without a lock.
///
/// Nothing is removed while it lives, so a number stays good: chunks of doubling size, none of which ever moves. A number
/// reaches a reader by a store that releases (a word of a ``WordTable``), after its value was written.
final class Interned<Value: Hashable & Sendable>: Sendable {
    /// The chunk of this index has twice as many places as the one before it, the first one has one.
    private nonisolated(unsafe) let chunks: UnsafeMutablePointer<UnsafeMutablePointer<Value>>
    /// The adding thread's alone.
    private nonisolated(unsafe) var numbers: [Value: UInt32] = [:]

    private static var mostChunks: Int { 32 }

    init() {
        chunks = .allocate(capacity: Self.mostChunks)
    }

    deinit {
        for number in 1..<numbers.count + 1 {
            let (chunk, place) = Self.place(of: UInt32(number))
            (chunks[chunk] + place).deinitialize(count: 1)
            // The last one of a chunk, or of all.
            if place == (1 << chunk) - 1 || number == numbers.count { chunks[chunk].deallocate() }
        }
        chunks.deallocate()
    }

    /// The number of a value, from 1 on.
    func number(of value: Value) -> UInt32 {
        if let number = numbers[value] { return number }
        let number = UInt32(numbers.count + 1)
        let (chunk, place) = Self.place(of: number)
        if place == 0 { (chunks + chunk).initialize(to: .allocate(capacity: 1 << chunk)) }
        (chunks[chunk] + place).initialize(to: value)
        numbers[value] = number
        return number
    }

    /// The value of a number that a word named.
    subscript(number: UInt32) -> Value {
        let (chunk, place) = Self.place(of: number)
        return chunks[chunk][place]
    }

    private static func place(of number: UInt32) -> (chunk: Int, place: Int) {
        let chunk = 31 - number.leadingZeroBitCount
        return (chunk, Int(number) - 1 << chunk)
    }
}
