import HeraldEvents
import HeraldKafka
import HeraldThreads
import HeraldTime
import HeraldTools

/// Counts the dead letters of the last hour as they arrive, on a thread of its own.
final class DeadLetterWatch: Sendable {
    private static let turnMilliseconds: Int32 = 500
    private static let pauseAfterFailure = Duration.seconds(5)
    private static let questionMilliseconds = 4_000
    private static let hourMilliseconds: Int64 = 3_600_000

    private let plan: NowPlan
    /// `nil` before the topic was read once.
    private let counted = Guarded<RecentDeadLetters?>(nil)
    private let wakeup: Wakeup

    init(_ plan: NowPlan) throws(SystemError) {
        self.plan = plan
        wakeup = try Wakeup()
    }

    /// How many were written within the hour; `nil` when that is not known.
    func count(now: WallTime) -> Int? { counted.withLock { $0?.count(now: now) } }

    func start() throws(SystemError) {
        _ = try OwnThread(name: "console-letters") { [self] in run() }
    }

    /// Reads no more; what is under way ends by itself.
    func stop() { wakeup.signal() }

    private func run() {
        repeat {
            // A topic that is missing, forbidden or made anew is looked at again, from an hour ago.
            try? follow()
        } while !wakeup.wait(for: Self.pauseAfterFailure)
    }

    private func follow() throws {
        let reader = try TopicReader(properties: plan.readerProperties)
        defer { reader.close() }
        let topic = plan.topics.deadLetter
        let partitions = try reader.consumer.queries.partitions(
            of: topic, timeoutMilliseconds: Self.questionMilliseconds)
        let start = SystemClock.wall().milliseconds - Self.hourMilliseconds
        try reader.begin(Dictionary(partitions.map { ($0, TopicReader.Start.moment(start)) }) { $1 })
        var recent = RecentDeadLetters()
        func add(_ message: Message) {
            recent.add(writtenAt: WallTime(milliseconds: message.timestampMilliseconds), now: SystemClock.wall())
        }
        func isWanted() -> Bool { !wakeup.wait(for: .zero) }
        guard try reader.catchUp(onProgress: { _, _ in isWanted() }, add) else { return }
        while isWanted() {
            let now = recent
            counted.withLock { $0 = now }
            try reader.poll(waitMilliseconds: Self.turnMilliseconds, add)
        }
    }
}
