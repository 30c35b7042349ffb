package import HeraldBackend
internal import HeraldEvents
internal import HeraldHTTP
internal import HeraldTime

/// The backend's half of an examination: network, credentials, clock.
///
/// One thread. Whatever the backend is, nobody is notified: it is only sent GET.
package final class BackendExaminer: Examiner {
    private static let answerTimeout = Milliseconds.seconds(5)

    private let url: String
    private let configuration: BackendConfiguration
    private let probe: BackendProbe
    private let timeLeft = TimeLeft(Examination.limit)
    private let reachability: Reachability
    /// The server that is connected to: the proxy, if there is one.
    private let target: Endpoint
    /// What names the host that is connected to.
    private let setting: String
    private let addressSetting: String
    private var addresses: [SocketAddress] = []
    private var stranger: SingleRequest.Outcome?
    /// When that answer came.
    private var strangerAt = SystemClock.wall()

    /// - Parameter setting: what names the backend.
    package init(url: String, _ configuration: BackendConfiguration, setting addressSetting: String = "backend.url") {
        self.url = url
        self.addressSetting = addressSetting
        self.configuration = configuration
        probe = BackendProbe(configuration)
        reachability = Reachability(timeLeft: timeLeft)
        if let proxy = configuration.connections.proxy {
            target = Endpoint(proxy.url, standardPort: 1_080)
            setting = "backend.proxy"
        } else {
            target = Endpoint(url, standardPort: Self.isEncrypted(url) ? 443 : 80)
            setting = addressSetting
        }
    }

    private static func isEncrypted(_ url: String) -> Bool { url.lowercased().hasPrefix("https://") }

    package func examine(_ stage: Stage) -> StageReport {
        switch stage {
        case .backendName: name()
        case .backendPort: port()
        case .backendTLS: handshake()
        case .backendAnswer: answer()
        case .backendLogin: credentials()
        case .clock: clock()
        default: StageReport([])
        }
    }

    private func name() -> StageReport {
        switch reachability.lookUp([target]).first {
        case .addresses(let found)?:
            addresses = found
            return StageReport(.backendName, target.host, .passed, found.map(\.text).joined(separator: ", "))
        case .failed(let reason)?:
            return StageReport(
                .backendName, target.host, .failed, "the name is not found: \(reason)",
                fix: "check the host in \(setting), and the resolver")
        case nil: return StageReport([], isDeadEnd: true)
        }
    }

    private func port() -> StageReport {
        switch reachability.connect([addresses]).first {
        case .connected(let address, let time)?:
            return StageReport(.backendPort, "\(target)", .passed, "connected to \(address) in \(time.count) ms")
        case .failed(let reason)?:
            return StageReport(
                .backendPort, "\(target)", .failed, reason,
                fix: "check \(setting), the firewall, and whether it runs")
        case nil: return StageReport([], isDeadEnd: true)
        }
    }

    private func handshake() -> StageReport {
        // Behind a proxy only libcurl gets there; the answer shows whether it trusts what it finds.
        guard Self.isEncrypted(url), configuration.connections.proxy == nil else { return StageReport([]) }
        let files = configuration.connections.tls
        let trust = TLSHandshake.Trust(
            authorities: files.caFile, certificateFile: files.certificateFile, keyFile: files.keyFile)
        guard let outcome = reachability.handshake([(host: target.host, addresses: addresses)], trust: trust).first
        else { return StageReport([], isDeadEnd: true) }
        let judge = CertificateCheck(
            name: Stage.backendTLS.rawValue, authoritySetting: "backend.tls.caFile", now: SystemClock.wall())
        return StageReport([judge.check(outcome, of: target)])
    }

    private func answer() -> StageReport {
        let answer = probe.withoutCredentials(
            timeout: timeLeft.step(atMost: Self.answerTimeout))
        stranger = answer
        strangerAt = SystemClock.wall()
        switch answer {
        case .response(let response):
            let version = response.isHTTP2 ? "2" : "1.1"
            return StageReport(
                .backendAnswer, url, .passed, "HTTP/\(version) works: \(response.status) to a stranger's GET")
        case .failure(let kind, let detail):
            return StageReport(.backendAnswer, url, .failed, detail, fix: fix(of: kind))
        }
    }

    private func fix(of kind: FailureKind) -> String {
        switch kind {
        case .tls: "look at the certificates: backend.tls.caFile, certificateFile and keyFile"
        case .nameNotFound: "check the host in \(addressSetting), and the resolver"
        case .proxyRefused: "check user and password in backend.proxy and backend.proxyPasswordFile"
        case .brokenHTTP:
            "check that \(addressSetting) names a server of HTTP, of the version that backend.http asks for"
        case .connectionRefused, .connectionReset, .timeout, .connectFailed:
            "check \(addressSetting), the network, and whether the backend runs"
        }
    }

    private func credentials() -> StageReport {
        guard probe.hasCredentials else {
            return StageReport(.backendLogin, "", .passed, "none are configured (backend.auth.kind is none)")
        }
        let limit = timeLeft.step(atMost: Self.answerTimeout)
        switch probe.withCredentials(timeout: limit) {
        case .noToken(let trouble):
            return StageReport(
                .backendLogin, "", .failed, "\(trouble)", fix: "correct backend.auth, or the token endpoint")
        case .outcome(.failure(_, let detail)):
            return StageReport(.backendLogin, "", .failed, detail, fix: "look at the backend")
        case .outcome(.response(let response)):
            return StageReport([
                CredentialJudgement.check(
                    stranger: stranger, caller: response.status, statuses: configuration.statuses)
            ])
        }
    }

    private func clock() -> StageReport {
        guard case .response(let response)? = stranger, let date = response.date else {
            return StageReport(
                .clock, "", .skipped, "the backend's answer has no Date header to compare this machine's clock with")
        }
        return StageReport([ClockJudgement.check(date: date, now: strangerAt)])
    }
}

/// What a backend's answers to GET say about credentials.
enum CredentialJudgement {
    /// - Parameters:
    ///   - stranger: the answer without credentials.
    ///   - caller: the status with them.
    ///   - statuses: what statuses mean.
    static func check(stranger: SingleRequest.Outcome?, caller: Int, statuses: StatusTable) -> Check {
        let name = Stage.backendLogin.rawValue
        guard case .response(let response)? = stranger else {
            return Check(name, "", .warning, "\(caller) with credentials, and nothing to compare it with")
        }
        let before = response.status
        if statuses[caller] == .credentials {
            return Check(
                name, "", .failed, "refused: \(caller) with credentials, \(before) without",
                fix: "check backend.auth; if the backend forbids GET to everybody this says nothing, "
                    + "so try herald send to yourself")
        }
        if statuses[before] == .credentials {
            return Check(name, "", .passed, "accepted: \(before) to a stranger, \(caller) to Herald")
        }
        return Check(
            name, "", .warning,
            "not proved: the backend answers GET alike with and without credentials (\(caller) and \(before))",
            fix: "try herald send to yourself, which notifies")
    }
}

/// How far this machine's clock is from another.
enum ClockJudgement {
    static let warnSeconds: Int64 = 5
    static let failSeconds: Int64 = 60

    /// - Parameter date: an answer's `Date` header, which is exact to a second.
    static func check(date: String, now: WallTime) -> Check {
        guard let theirs = HTTPDate.parse(date) else {
            return Check("clock", "", .skipped, "the backend's Date header is not one of HTTP's dates")
        }
        let offset = (now.milliseconds - theirs.milliseconds) / 1_000
        let size = abs(offset)
        let verdict: Verdict = size > failSeconds ? .failed : size > warnSeconds ? .warning : .passed
        let detail =
            size <= 1
            ? "this machine's and the backend's agree (its Date header, ±1 s)"
            : "this machine's is \(size) s \(offset > 0 ? "ahead of" : "behind") the backend's (its Date header, ±1 s)"
        return Check(
            "clock", "", verdict, detail,
            fix: verdict == .passed ? nil : "set both clocks by NTP: due times and expiry rest on them")
    }
}
