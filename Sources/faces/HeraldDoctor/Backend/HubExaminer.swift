package import HeraldBackend
package import HeraldHub

/// The backend's half of an examination where the backend is a notification hub.
///
/// One thread. Nobody is notified: the one send is a test to a tag that no device has.
package final class HubExaminer: Examiner {
    private let client: HubClient
    private let network: BackendExaminer
    private let asksForTelemetry: Bool

    /// - Parameters:
    ///   - network: where the hub is, and how connections to it are made.
    ///   - asksForTelemetry: whether the hub's message telemetry is wanted.
    package init(_ client: HubClient, network: BackendConfiguration, asksForTelemetry: Bool) {
        self.client = client
        self.network = BackendExaminer(
            url: client.connectionString.origin, network, setting: "backend.hub.connectionStringFile")
        self.asksForTelemetry = asksForTelemetry
    }

    package func examine(_ stage: Stage) -> StageReport {
        switch stage {
        case .backendName:
            let name = network.examine(stage)
            let string = Check("connection string", "", .passed, "\(client.connectionString)")
            return StageReport([string] + name.checks, isDeadEnd: name.isDeadEnd)
        case .backendLogin: return login()
        default: return network.examine(stage)
        }
    }

    private func login() -> StageReport {
        // Neither a platform's credentials nor a device are needed for a template.
        let result = client.send(
            Array(#"{"message":"herald doctor"}"#.utf8), as: "template", mediaType: "application/json;charset=utf-8",
            to: "herald-doctor-\(UInt64.random(in: 0...(.max)))", isTest: true)
        var checks = HubJudgement.send(result, hub: client.hub)
        if asksForTelemetry, case .success = result {
            checks.append(HubJudgement.telemetry(client.message("herald-doctor-no-such-message")))
        }
        return StageReport(checks)
    }
}

/// The backend's half where the hub's connection string cannot be used, so that nothing else can be looked at.
package struct BrokenHubExaminer: Examiner {
    private let mistake: String

    package init(mistake: String) {
        self.mistake = mistake
    }

    package func examine(_ stage: Stage) -> StageReport {
        guard stage == .backendName else { return StageReport([]) }
        let fix = "copy a rule's connection string from the hub's Access Policies into the file"
        return StageReport([Check("connection string", "", .failed, mistake, fix: fix)])
    }
}

/// What a hub's answers say about key, hub and rights.
enum HubJudgement {
    /// - Parameter result: of a test send to a tag that no device has.
    static func send(_ result: HubResult<[UInt8]>, hub: String) -> [Check] {
        let key = Stage.backendLogin.rawValue
        switch result {
        case .success:
            return [
                Check(key, "", .passed, "the hub accepts the key"), Check("hub", hub, .passed, "it is there"),
                Check("hub send", "", .passed, "a test send to a tag that nobody has is accepted"),
            ]
        case .failure(.notFound):
            return [
                Check(
                    "hub", hub, .failed, "there is no such hub in the namespace: 404",
                    fix: "check backend.hub.name: the hub's name, and not the namespace's")
            ]
        case .failure(.unanswered(_, let detail)):
            return [Check(key, "", .failed, detail, fix: "look at the network")]
        case .failure(.unreadable(let reason)):
            return [Check(key, "", .warning, reason, fix: "check that the endpoint is a notification hub's")]
        case .failure(let failure): return refused(failure.status ?? 0, failure)
        }
    }

    private static func refused(_ status: Int, _ failure: HubFailure) -> [Check] {
        let key = Stage.backendLogin.rawValue
        let said = "\(status)" + (failure.detail.map { ": \($0)" } ?? "")
        if case .refused(_, let seconds, _) = failure, status == 429 || (status == 403 && seconds > 0) {
            return [
                Check(key, "", .passed, "the hub accepts the key"),
                Check(
                    "hub send", "", .warning, "not proved: too many requests, \(said)",
                    fix: "try again in \(max(60, seconds)) s: a hub takes ten test sends a minute"),
            ]
        }
        switch status {
        case 401:
            let isExpired = failure.detail?.contains("ExpiredToken") == true
            return [
                Check(
                    key, "", .failed, "refused: \(said)",
                    fix: isExpired
                        ? "set this machine's clock by NTP: the token that it signs has ended by the hub's"
                        : "copy the connection string again: the rule or its key is another, or was renewed")
            ]
        case 403:
            return [
                Check(key, "", .passed, "the hub accepts the key"),
                Check(
                    "hub send", "", .failed, "refused: \(said)",
                    fix: "use a rule with Send (DefaultFullSharedAccessSignature has it); if it has, the quota of the "
                        + "hub's tier is used up"),
            ]
        case 500...:
            return [Check(key, "", .failed, "the hub fails: \(said)", fix: "look at Azure's status, try again")]
        default:
            return [
                Check(key, "", .passed, "the hub accepts the key"),
                Check(
                    "hub send", "", .warning, "not proved: the hub refuses the test send itself, \(said)",
                    fix: "try herald send to yourself, which notifies"),
            ]
        }
    }

    /// - Parameter failure: the answer to a question for a message that there is not; `nil` is a success.
    static func telemetry(_ failure: HubFailure?) -> Check {
        let name = "hub telemetry"
        switch failure {
        case nil, .notFound: return Check(name, "", .passed, "the hub tells what became of a message")
        case .unanswered(_, let detail): return Check(name, "", .failed, detail, fix: "look at the network")
        case .refused(403, 0, let detail):
            return Check(
                name, "", .failed, "refused: 403" + (detail.map { ": \($0)" } ?? ""),
                fix: "move the hub to the Standard tier, which alone has telemetry, or set backend.hub.telemetry: false"
            )
        case .some(let failure):
            let said = failure.status.map { "\($0)" } ?? failure.detail ?? "no answer that can be read"
            return Check(name, "", .warning, "not proved: \(said)", fix: "try again later")
        }
    }
}
