internal import HeraldHTTP
public import HeraldTelemetry
public import HeraldThreads
public import HeraldTime

/// The certificate that a worker shows to its brokers, which librdkafka reads when a client is made and never again.
///
/// Its end is a metric, and the log warns of it in time (``CertificateNotices``).
public final class ClientCertificate: Sendable {
    /// When it ends.
    public struct Facts: Sendable, Equatable {
        /// The one that the clients were made with.
        public var inUseUntil: WallTime
        /// The one in the file now; `nil` when none can be read.
        public var inFileUntil: WallTime?

        /// Two moments.
        public init(inUseUntil: WallTime, inFileUntil: WallTime?) {
            self.inUseUntil = inUseUntil
            self.inFileUntil = inFileUntil
        }
    }

    private static let interval = Duration.seconds(60)

    private let state: Guarded<Facts>
    private let looking: RepeatedWork

    /// Looks at the file once a minute; `nil` when there is no certificate in it, and no client can be made.
    ///
    /// - Parameter file: The certificate's file, before any client is made.
    /// - Throws: when descriptors or threads have run out.
    public init?(file: String, logger: Logger) throws(SystemError) {
        let files = TLSFiles(certificateFile: file)
        guard let inUse = files.certificateEnd() else { return nil }
        let state = Guarded(Facts(inUseUntil: inUse, inFileUntil: inUse))
        self.state = state
        let notices = Guarded(CertificateNotices())
        looking = try RepeatedWork(name: "certificate", every: Self.interval) {
            let facts = Facts(inUseUntil: inUse, inFileUntil: files.certificateEnd())
            state.withLock { $0 = facts }
            guard let notice = notices.withLock({ $0.next(facts, now: SystemClock.wall()) }) else { return }
            logger.log(notice.level, notice.sentence, ["file": .string(file)])
        }
    }

    /// When it ends, as of the latest look.
    public var facts: Facts { state.withLock { $0 } }

    /// Ends looking.
    public func stop() { looking.stop() }
}

/// What is to be logged of a client certificate, and when.
///
/// | line | when |
/// |---|---|
/// | the file has another | once for each, as long as the one in use is good for a while |
/// | it ends soon | a week before, and each day from then on |
/// | it has ended | at once, and each hour from then on |
struct CertificateNotices {
    struct Notice: Equatable {
        var level: LogLevel
        var sentence: String
    }

    static let warningTime: Milliseconds = .days(7)

    private var told: WallTime?
    private var nextWarning: WallTime?

    /// What is to be logged now, if anything; it counts as logged.
    mutating func next(_ facts: ClientCertificate.Facts, now: WallTime) -> Notice? {
        let left = facts.inUseUntil.time(since: now)
        let renewed = facts.inFileUntil.flatMap { $0 > facts.inUseUntil ? $0 : nil }
        let until = RFC3339.text(facts.inUseUntil)
        let remedy =
            renewed.map { "its file has one that is good until \(RFC3339.text($0)): restart the worker" }
            ?? "renew it, and restart the worker"
        if left > Self.warningTime {
            nextWarning = nil
            guard let renewed, renewed != told else { return nil }
            told = renewed
            return Notice(
                level: .info,
                sentence: "the client certificate for the brokers is good until \(until), and \(remedy) "
                    + "before that. Clients that are made keep theirs.")
        }
        // News of a certificate that can be used at last does not wait for its day.
        let isNews = renewed != told
        guard isNews || nextWarning.map({ now >= $0 }) ?? true else { return nil }
        told = renewed
        nextWarning = now.advanced(by: left > .zero ? min(.days(1), left) : .hours(1))
        let end = left > .zero ? "ends at \(until), and brokers will refuse" : "ended at \(until), and brokers refuse"
        return Notice(
            level: left > .zero ? .warning : .error,
            sentence: "the client certificate for the brokers \(end) new connections; \(remedy)")
    }
}
