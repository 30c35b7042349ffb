import HeraldCore
import HeraldEvents
internal import HeraldHTTP
public import HeraldTelemetry
import HeraldText
public import HeraldThreads
import HeraldTime
public import HeraldWorker

/// The admin port: health, readiness and metrics of one worker.
///
/// | path | answers |
/// |---|---|
/// | `/livez` | 200 as long as every lane's loop turns, whatever backend and brokers do |
/// | `/readyz` | 200 when events are delivered, else 503 with the reasons |
/// | `/status` | the findings with all their fields, and what the console shows of a worker |
/// | `/waiting` | why the events of `event`, `user` or `record` wait that this worker has in memory; behind the gate |
/// | `/metrics` | Prometheus' text format or OpenMetrics, as `Accept` likes it |
///
/// Everything else goes through the ``AdminGate``. The server has threads of its own and takes what lanes have left for
/// it, so no client can hold up a lane. For `/waiting` it asks the lanes, one question at a time.
public final class AdminServer: Sendable {
    /// Gives the token that callers have to show; read each time, because its file may change.
    public typealias Token = @Sendable () throws -> String

    /// What the worker's process knows and the worker does not.
    public struct Facts: Sendable {
        /// Herald's version.
        public let version: String
        /// librdkafka's version.
        public let kafkaVersion: String
        /// How many log lines were dropped so far.
        public let droppedLogLines: @Sendable () -> Int
        /// What has become of spans so far.
        public let spans: @Sendable () -> SpanQueue.Counts
        /// The certificate that it shows to the brokers; `nil` when it shows none.
        public let certificate: ClientCertificate?

        /// What the metrics say of the process.
        public init(
            version: String, kafkaVersion: String, certificate: ClientCertificate? = nil,
            droppedLogLines: @escaping @Sendable () -> Int,
            spans: @escaping @Sendable () -> SpanQueue.Counts = { SpanQueue.Counts() }
        ) {
            self.version = version
            self.kafkaVersion = kafkaVersion
            self.certificate = certificate
            self.droppedLogLines = droppedLogLines
            self.spans = spans
        }
    }

    /// So many connections at a time; slow and silent clients are closed after a while, and descriptors are for the backend.
    static let connectionLimit = 256
    /// So many of them may come from one IPv4 address, or one /64 of IPv6.
    static let connectionLimitOfNetwork = 160
    /// So many are only for addresses with few connections: clients of two or more addresses keep out no probe or scrape.
    static let reservedConnections = 64
    static let idleSeconds = 15
    /// A request has to be complete within so long, however often a byte of it comes.
    static let requestSeconds = 10

    /// The port that it listens on.
    public var port: UInt16 { server.port }
    /// Where that is, as `host:port`.
    public var address: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }

    private let host: String
    private let server: HTTPServer
    /// Waits for what lanes answer.
    private let questions: WorkerThreads

    /// Listens and serves.
    ///
    /// - Parameters:
    ///   - port: 0 takes a free one.
    ///   - token: `nil` when none is set.
    public init(
        host: String, port: UInt16, token: Token?, worker: Worker, facts: Facts
    ) throws(SystemError) {
        var configuration = HTTPServer.Configuration()
        configuration.host = host
        configuration.port = port
        configuration.connectionLimit = Self.connectionLimit
        configuration.connectionLimitOfNetwork = Self.connectionLimitOfNetwork
        configuration.reservedConnections = Self.reservedConnections
        configuration.requestTimeoutSeconds = Self.requestSeconds
        configuration.idleTimeoutSeconds = Self.idleSeconds
        configuration.bodyLimitBytes = 4_096
        let gate = AdminGate(listensOn: host, token: token)
        self.host = host
        let questions = try WorkerThreads(name: "admin-questions", count: 1)
        self.questions = questions
        server = try HTTPServer(configuration) { request in
            guard request.target.path == "/waiting", ["GET", "HEAD"].contains(request.method),
                gate.refusal(of: request) == nil
            else {
                return .respond(Self.guarded(Self.answer(request, gate, worker, facts)))
            }
            return .respondWhenReady { responder in
                let isTaken = questions.run { responder.respond(Self.guarded(Self.waiting(request, worker))) }
                guard !isTaken else { return }
                responder.respond(Self.guarded(.text("too many questions wait; ask again\n", status: 503)))
            }
        }
    }

    /// Closes the port.
    public func stop() {
        server.stop()
        questions.stop()
    }

    private static func guarded(_ response: HTTPResponse) -> HTTPResponse {
        var response = response
        response.headers.append(name: "Cache-Control", value: "no-store")
        response.headers.append(name: "X-Content-Type-Options", value: "nosniff")
        return response
    }

    private static func answer(
        _ request: HTTPRequest, _ gate: AdminGate, _ worker: Worker, _ facts: Facts
    ) -> HTTPResponse {
        let page: () -> HTTPResponse
        switch request.target.path {
        case "/livez": page = { live(worker.report) }
        case "/readyz": page = { StatusPage(worker.report, now: SystemClock.monotonic()).readyz }
        case "/metrics", "/status":
            if let refusal = gate.numbersRefusal(of: request) { return refusal }
            let process = ProcessFacts(
                facts: facts, certificate: facts.certificate?.facts, usage: ProcessUsage.current())
            let now = SystemClock.moment()
            page = {
                request.target.path == "/metrics"
                    ? metrics(request, worker.report, process, now: now)
                    : StatusPage(worker.report, now: now.monotonic).status(process, now: now)
            }
        // Whoever may ask, and asks so that there is an answer, is answered elsewhere.
        case "/waiting": page = { gate.refusal(of: request) ?? .text("ask again\n", status: 503) }
        default: return gate.refusal(of: request) ?? .text("there is no such page\n", status: 404)
        }
        guard request.method == "GET" || request.method == "HEAD" else {
            var response = HTTPResponse.text("only GET and HEAD\n", status: 405)
            response.headers.append(name: "Allow", value: "GET, HEAD")
            return response
        }
        return page()
    }

    private static func live(_ report: WorkerReport) -> HTTPResponse {
        Readiness(report, now: SystemClock.monotonic()).stuckTime.map {
            .text("A lane has not moved for \($0.wholeSeconds) s.\n", status: 503)
        } ?? .text("alive\n")
    }

    /// Why the events wait that the query names; blocks while lanes answer.
    private static func waiting(_ request: HTTPRequest, _ worker: Worker) -> HTTPResponse {
        let query = request.target
        func value(_ name: String) -> String? { query.values(of: name).last.flatMap { $0.isEmpty ? nil : $0 } }
        let record = value("record")
        let origin = record.flatMap(Origin.init)
        guard record == nil || origin != nil else {
            return .text("record is TOPIC/PARTITION/OFFSET\n", status: 400)
        }
        guard let asked = WaitingQuery(user: value("user"), id: value("event"), origin: origin) else {
            return .text("say which: ?event=ID, ?user=USER or ?record=TOPIC/PARTITION/OFFSET\n", status: 400)
        }
        do throws(SystemError) {
            return .json(Array((try worker.waiting(asked).json.pretty + "\n").utf8))
        } catch {
            return .text("the lanes can't be asked: \(error)\n", status: 503)
        }
    }

    private static func metrics(
        _ request: HTTPRequest, _ report: WorkerReport, _ process: ProcessFacts, now: Moment
    ) -> HTTPResponse {
        let format = MetricsFormat(accepting: request.headers["Accept"])
        return HTTPResponse(
            status: 200, headers: ["Content-Type": format.contentType, "Vary": "Accept"],
            body: WorkerMetrics.text(report, process, format, now: now))
    }
}
