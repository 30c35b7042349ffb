import HeraldCore
import HeraldDriver
import HeraldEvents
public import HeraldKafka
import HeraldTelemetry
import HeraldThreads
import HeraldTime

/// What the lanes of a process know of campaigns: follows the campaigns topic on a thread of its own, tells the lanes which
/// are paused or cancelled, and has those paused of which a lane says that too many events failed.
///
/// ``ControlMachine`` decides, ``ControlClients`` reaches the brokers. A missing topic is looked for now and then: without
/// campaigns none is needed.
final class CampaignWatch: Sendable {
    /// How long a start waits for what stands in the topic, and the reading for a step towards its end.
    static let patience = Duration.seconds(10)

    private struct State {
        var known: [String: CampaignControl] = [:]
        var listeners: [@Sendable (String, CampaignControl) -> Void] = []
        var failures: [CampaignFailures] = []
        var isStopping = false
    }

    private let configuration: CampaignConfiguration
    private let admin: Admin
    private let logger: Logger
    private let state = Guarded(State())
    /// Records, failing campaigns and the worker's end wake the thread.
    private let wakeup: Wakeup
    /// Signalled once, when the topic was read or the worker ends, and never drained: it ends every later wait at once.
    private let readiness: Wakeup

    init(configuration: CampaignConfiguration, admin: Admin, logger: Logger) throws(SystemError) {
        self.configuration = configuration
        self.admin = admin
        self.logger = logger
        wakeup = try Wakeup()
        readiness = try Wakeup()
    }

    // MARK: For lanes, from any thread

    /// Tells a listener of every campaign that is known, and from then on of every change.
    ///
    /// It is called under a lock, on any thread.
    func listen(_ listener: @escaping @Sendable (String, CampaignControl) -> Void) {
        state.withLock { state in
            for (name, control) in state.known.sorted(by: { $0.key < $1.key }) { listener(name, control) }
            state.listeners.append(listener)
        }
    }

    /// Too many of a campaign's events failed: has it written that it is paused.
    func pause(_ failures: CampaignFailures) {
        state.withLock { $0.failures.append(failures) }
        wakeup.signal()
    }

    /// Waits until the topic was read to its end, or is known to be missing; not for ever, because one-time codes wait too.
    ///
    /// - Returns: whether it is so; `false` when nothing was known in time.
    @discardableResult
    func waitUntilRead() -> Bool {
        if readiness.wait(for: Self.patience) { return true }
        logger.warning(
            "\(configuration.topic) could not be read yet: campaigns that are paused or cancelled are delivered "
                + "until it can be")
        return false
    }

    // MARK: The thread

    /// The thread's work, until ``stop()``.
    func run() {
        let clients = ControlClients(configuration, admin: admin, lanes: self, wakeup: wakeup, logger: logger)
        defer { clients.close() }
        JobDriver(ControlMachine(worker: configuration.worker), io: clients).run()
    }

    /// Ends ``run()``; from any thread.
    func stop() {
        state.withLock { $0.isStopping = true }
        wakeup.signal()
        readiness.signal()
    }

    var isStopping: Bool { state.withLock { $0.isStopping } }

    /// What lanes have said since the last time.
    func takeFailures() -> [CampaignFailures] {
        state.withLock { state in
            defer { state.failures = [] }
            return state.failures
        }
    }

    /// Tells the lanes, and those that are still to start.
    func tell(_ name: String, _ control: CampaignControl) {
        state.withLock { state in
            state.known[name] = control
            for listener in state.listeners { listener(name, control) }
        }
    }

    /// Lanes need not wait any more.
    func settle() { readiness.signal() }
}

/// What the following of campaigns needs to know.
public struct CampaignConfiguration: Sendable {
    /// The campaigns topic.
    public var topic: String
    /// The worker, as it signs what it writes.
    public var worker: String
    /// librdkafka's properties for reading: `read_committed`, with end-of-partition events.
    public var readerProperties: ClientProperties
    /// librdkafka's properties for writing.
    public var writerProperties: ClientProperties

    /// What the following of campaigns needs to know.
    public init(
        topic: String, worker: String, readerProperties: ClientProperties, writerProperties: ClientProperties
    ) {
        self.topic = topic
        self.worker = worker
        self.readerProperties = readerProperties
        self.writerProperties = writerProperties
    }
}
