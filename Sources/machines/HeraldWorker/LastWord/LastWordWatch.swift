public import HeraldCore
import HeraldDriver
public import HeraldEvents
public import HeraldKafka
import HeraldTelemetry
import HeraldThreads
public import HeraldTime

/// A process's knowledge of what users said last, and of recalls: follows both topics on a thread of its own, which alone
/// writes the table that all lanes read.
///
/// ``WordsMachine`` decides, ``WordsClients`` reaches the brokers, ``WordKeeper`` applies the records.
final class LastWordWatch: Sendable {
    private struct State {
        var isStopping = false
        var broken = 0
        var missing: [String] = []
    }

    let configuration: LastWordConfiguration
    private let admin: Admin
    private let logger: Logger
    private let began = SystemClock.monotonic()
    private let state = Guarded(State())
    /// Records and the worker's end wake the thread.
    private let wakeup: Wakeup
    /// Signalled once, when the topics are read or the worker ends, and never drained: it ends every later wait at once.
    private let readiness: Wakeup

    init(configuration: LastWordConfiguration, admin: Admin, logger: Logger) throws(SystemError) {
        self.configuration = configuration
        self.admin = admin
        self.logger = logger
        wakeup = try Wakeup()
        readiness = try Wakeup()
    }

    /// Waits until the topics are read to their ends, or are known to be missing; only for a limited time from the start
    /// on, because one-time codes wait too.
    func waitUntilRead() {
        let left = Milliseconds(CampaignWatch.patience) - SystemClock.monotonic().time(since: began)
        if readiness.wait(for: max(.zero, left).duration) { return }
        logger.warning(
            "\(configuration.preferencesTopic) and \(configuration.recallsTopic) are not read to their ends yet: "
                + "promotional events wait until they are, and others are delivered by what is known")
    }

    /// What it knows, and of when; from any thread.
    var report: LastWordReport {
        let (broken, missing) = state.withLock { ($0.broken, $0.missing) }
        let table = configuration.table
        return LastWordReport(
            users: table.users, recalls: table.recalls, bytes: table.bytes, broken: broken, missing: missing,
            currentAsOf: table.currentAsOf, began: began, maxLag: configuration.maxLag)
    }

    // MARK: The thread

    /// The thread's work, until ``stop()``.
    func run() {
        let clients = WordsClients(configuration, admin: admin, watch: self, wakeup: wakeup, logger: logger)
        defer { clients.close() }
        JobDriver(WordsMachine(), io: clients).run()
    }

    /// Ends ``run()``; from any thread.
    func stop() {
        state.withLock { $0.isStopping = true }
        wakeup.signal()
        readiness.signal()
    }

    var isStopping: Bool { state.withLock { $0.isStopping } }

    func noteBroken() { state.withLock { $0.broken += 1 } }

    func note(missing topics: [String]) { state.withLock { $0.missing = topics } }

    /// Releases the start from its wait.
    func settle() { readiness.signal() }
}

/// The configuration of a `LastWordWatch`.
public struct LastWordConfiguration: Sendable {
    /// The table, which the lanes' engines have too.
    public var table: LastWord
    /// The age of what is known beyond which promotional events wait.
    public var maxLag: Milliseconds
    /// The push services that words may name.
    public var pushServices: PushServices
    /// The topic of users' words.
    public var preferencesTopic: String
    /// The topic of recalls.
    public var recallsTopic: String
    /// librdkafka's properties for reading: `read_committed`, with end-of-partition events.
    public var readerProperties: ClientProperties
    /// Caps; `nil` without any.
    public var caps: CapConfiguration?

    /// A configuration with this table, these topics and clients.
    public init(
        table: LastWord, maxLag: Milliseconds, pushServices: PushServices, preferencesTopic: String,
        recallsTopic: String, readerProperties: ClientProperties
    ) {
        self.table = table
        self.maxLag = maxLag
        self.pushServices = pushServices
        self.preferencesTopic = preferencesTopic
        self.recallsTopic = recallsTopic
        self.readerProperties = readerProperties
    }
}
