import HeraldTime

/// The waiting time of the oldest event that this engine has written into delay topics, for each request topic.
///
/// An event in a delay topic lies behind others until its delay is over, and the partition's consumer knows only the
/// first of them. So the writer of an event remembers its age until it comes again: by then a consumer has it in
/// memory. The age is remembered in one of ``buckets`` parts of the delay, of which only the oldest counts; so the
/// memory does not grow with the events.
///
/// A process does not know its predecessor's records. Nor does it notice an event that returns late.
struct DelayedEvents: Sendable {
    static let buckets = 64
    /// The time for which an event counts beyond its delay: a partition that was paused is consumed a little late.
    static let grace: Milliseconds = .seconds(2)

    /// The widths of the buckets, by delay.
    private let widths: [Milliseconds]
    private let delays: [Milliseconds]
    private let topics: Int
    /// The bucket's number, counted from the epoch, by delay and place.
    private var numbers: [Int64]
    /// The time since which its oldest event waits, by delay, place and request topic.
    private var oldest: [WallTime]
    private static let none = WallTime(milliseconds: .max)

    /// An empty memory for topics with these delays.
    init(delays: [Milliseconds], requestTopics: Int) {
        self.delays = delays
        // One bucket is the current one, and one contains the delay's end.
        widths = delays.map { max(.zero, $0 / Int64(Self.buckets - 2)) + .milliseconds(1) }
        topics = requestTopics + 1
        numbers = Array(repeating: -1, count: delays.count * Self.buckets)
        oldest = Array(repeating: Self.none, count: delays.count * Self.buckets * topics)
    }

    /// Notes that an event is written into a delay topic.
    ///
    /// - Parameters:
    ///   - delay: The index of the delay topic that an event is written into.
    ///   - due: The moment at which it continues; it returns when its delay is over at the latest.
    ///   - topic: The place of its request topic.
    ///   - since: The time since which it waits.
    mutating func note(delay: Int, due: WallTime, topic: Int, since: WallTime, now: WallTime) {
        let returns = min(due, now.advanced(by: delays[delay]))
        guard since < returns, returns.milliseconds >= 0 else { return }
        let number = returns.milliseconds / widths[delay].count
        let bucket = delay * Self.buckets + Int(number % Int64(Self.buckets))
        if numbers[bucket] != number {
            numbers[bucket] = number
            for place in bucket * topics..<(bucket + 1) * topics { oldest[place] = Self.none }
        }
        oldest[bucket * topics + topic] = min(oldest[bucket * topics + topic], since)
    }

    /// The time since which a request topic's oldest event within its delay waits; `nil` without any.
    func oldest(topic: Int, now: WallTime) -> WallTime? {
        var found = Self.none
        for bucket in numbers.indices {
            let width = widths[bucket / Self.buckets]
            let end = WallTime(milliseconds: (numbers[bucket] + 1) * width.count)
            guard end.advanced(by: Self.grace) > now else { continue }
            found = min(found, oldest[bucket * topics + topic])
        }
        return found < now ? found : nil
    }
}
