import HeraldCore
import HeraldDriver
public import HeraldEvents
public import HeraldKafka
import HeraldTelemetry
import HeraldThreads
import HeraldTime

/// A process's knowledge of campaigns: follows the campaigns topic on a thread of its own, reports paused and cancelled
/// campaigns to the lanes, and pauses a campaign when a lane reports too many failures.
///
/// ``ControlMachine`` decides, ``ControlClients`` reaches the brokers. A missing topic is looked for periodically:
/// without campaigns it is not needed.
final class CampaignWatch: Sendable {
    /// The time that a start waits for the topic's content, and the reader for a step towards its end.
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

    /// Calls a listener with every known campaign, and from then on with every change.
    ///
    /// It is called under a lock, on any thread.
    func listen(_ listener: @escaping @Sendable (String, CampaignControl) -> Void) {
        state.withLock { state in
            for (name, control) in state.known.sorted(by: { $0.key < $1.key }) { listener(name, control) }
            state.listeners.append(listener)
        }
    }

    /// Has a campaign's pause recorded, because too many of its events failed.
    func pause(_ failures: CampaignFailures) {
        state.withLock { $0.failures.append(failures) }
        wakeup.signal()
    }

    /// Waits until the topic was read to its end, or is known to be missing; only for a limited time, because one-time
    /// codes wait too.
    ///
    /// - Returns: whether that is known in time.
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

    /// Takes the failures that lanes have reported since the last time.
    func takeFailures() -> [CampaignFailures] {
        state.withLock { state in
            defer { state.failures = [] }
            return state.failures
        }
    }

    /// Informs the lanes, and those that are still to start.
    func tell(_ name: String, _ control: CampaignControl) {
        state.withLock { state in
            state.known[name] = control
            for listener in state.listeners { listener(name, control) }
        }
    }

    /// Releases the lanes from their wait.
    func settle() { readiness.signal() }
}

/// The configuration of a `CampaignWatch`.
public struct CampaignConfiguration: Sendable {
    /// The campaigns topic.
    public var topic: String
    /// The worker's name in its records.
    public var worker: String
    /// librdkafka's properties for reading: `read_committed`, with end-of-partition events.
    public var readerProperties: ClientProperties
    /// librdkafka's properties for writing.
    public var writerProperties: ClientProperties
    /// The record of the audit topic that says of a pause, as topic, key and value; `nil` for none.
    public var audit: (@Sendable (String, CampaignControl) -> (topic: String, key: [UInt8], value: [UInt8]))?

    /// A configuration with these topics and clients.
    public init(
        topic: String, worker: String, readerProperties: ClientProperties, writerProperties: ClientProperties,
        audit: (@Sendable (String, CampaignControl) -> (topic: String, key: [UInt8], value: [UInt8]))? = nil
    ) {
        self.audit = audit
        self.topic = topic
        self.worker = worker
        self.readerProperties = readerProperties
        self.writerProperties = writerProperties
    }
}
