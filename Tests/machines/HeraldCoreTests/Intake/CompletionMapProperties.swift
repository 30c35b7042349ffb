// The fuzzer compiles the map's sources together with this file.
#if !FUZZING
    @testable import HeraldCore
#endif

extension PartitionIdentity {
    /// The first partition of the first request topic, in a cluster without a known identity.
    static let first = PartitionIdentity(cluster: "", topic: "notifications", partition: 0)
}

/// The properties of every text that a commit may have carried, whoever wrote it.
enum CompletionMapProperties {
    /// Offsets that the text was committed with, by the input's first byte; some of them no map can follow.
    private static let offsets: [Int64] = [0, 1, 63, 64, 100, 1 << 40, .max - (2 << 24) - 1, .max - 64, .max, -1, .min]

    /// Reads the input as a text, and as the payload of a text with the right check sum.
    ///
    /// Returns the broken property, in words.
    static func brokenProperty(_ input: [UInt8]) -> String? {
        guard let first = input.first else { return nil }
        let offset = offsets[Int(first >> 1) % offsets.count]
        let rest = Array(input.dropFirst())
        let letter = first & 1 == 0 ? UInt8(ascii: "b") : UInt8(ascii: "r")
        return brokenProperty(of: String(decoding: rest, as: UTF8.self), committed: offset)
            ?? brokenProperty(
                of: CompletionMap.text(letter: letter, payload: rest, committing: offset, of: .first),
                committed: offset)
    }

    private static func brokenProperty(of text: String, committed offset: Int64) -> String? {
        guard let map = CompletionMap(text: text, committed: offset, of: .first) else { return nil }
        if !text.isEmpty, offset < .max - 1, CompletionMap(text: text, committed: offset + 1, of: .first) != nil {
            return "it belongs to another offset too"
        }
        guard let first = map.done.first, let last = map.done.last else { return nil }
        if first.lowerBound < offset { return "it names what lies before the offset" }
        if last.upperBound - offset > CompletionMap.farthest { return "it reaches too far" }
        for range in map.done where range.isEmpty { return "a range of it is empty, \(range)" }
        for (range, next) in zip(map.done, map.done.dropFirst()) where range.upperBound >= next.lowerBound {
            return "its ranges do not rise, or leave no gap"
        }
        let again = CompletionMap(text: map.text(committing: offset, of: .first), committed: offset, of: .first)
        // A text in a longer form than needed may not fit in its shortest one: then its far end is left out.
        guard let again, Array(map.done.prefix(again.done.count)) == again.done else {
            return "it is not the same when it is written again"
        }
        return brokenTracker(startingAt: offset, map)
    }

    /// Checks that exactly the offsets of the map are skipped.
    private static func brokenTracker(startingAt offset: Int64, _ map: CompletionMap) -> String? {
        var tracker = OffsetTracker(startingAt: offset, done: map)
        if tracker.watermark != offset { return "it moves the watermark without a record" }
        var open = offset
        for range in map.done {
            if open < range.lowerBound, tracker.isDone(open) || tracker.isDone(range.lowerBound - 1) {
                return "it skips what it does not name"
            }
            if !tracker.isDone(range.lowerBound) || !tracker.isDone(range.upperBound - 1) {
                return "it does not skip what it names"
            }
            open = range.upperBound
        }
        if tracker.isDone(open) { return "it skips what lies behind it" }
        let end = min(open, offset + 2_000)
        var range = map.done.makeIterator()
        var present = range.next()
        for taken in offset..<end {
            while let done = present, done.upperBound <= taken { present = range.next() }
            let isNamed = present?.contains(taken) == true
            let outcome = tracker.accept(taken)
            if outcome != (isNamed ? .doneBefore : .new) { return "an offset is taken for what it is not" }
            if !isNamed { tracker.complete(taken) }
        }
        return tracker.watermark == end ? nil : "the watermark stays behind what is done"
    }
}
