import Foundation
import HeraldHTTP
import HeraldHub
import HeraldSandbox
import TestSupport

/// A notification hub in place of the fixture's backend.
extension Fixture {
    /// The settings that a worker of kind `http` needs and one of kind `azure-hub` refuses.
    static let httpSettings = ["backend.url", "backend.auth.username", "backend.auth.password"]

    /// Starts a worker that sends over the hub.
    ///
    /// - Parameter connectionString: The content of its file; the hub's own by default.
    func startHubWorker(
        _ hub: HubEmulator, connectionString: String? = nil, changing changes: [String: String] = [:]
    ) async throws -> HeraldProcess {
        try await startWorker(
            changing: hubSettings(hub, connectionString).merging(changes) { $1 }, removing: Self.httpSettings)
    }

    /// Starts `herald feedback` on the hub without waiting.
    func startFeedback(
        _ hub: HubEmulator, connectionString: String? = nil, changing changes: [String: String] = [:]
    ) throws -> HeraldProcess {
        let own = ["backend.hub.telemetry": "true", "feedback.containerInterval": "0"]
        return try spawnWorker(
            "feedback",
            changing: try hubSettings(hub, connectionString).merging(own) { $1 }.merging(changes) { $1 },
            removing: Self.httpSettings)
    }

    private func hubSettings(_ hub: HubEmulator, _ connectionString: String?) throws -> [String: String] {
        let file = try writeConnectionString(connectionString ?? hub.connectionString)
        return [
            "backend.kind": "azure-hub", "backend.hub.connectionStringFile": file, "backend.hub.name": hub.hub,
            "backend.tls.caFile": hub.caFile,
        ]
    }

    /// The topics of `herald feedback` besides the usual ones.
    static var feedbackPlan: Plan {
        var plan = Plan()
        plan.more = ["notifications.feedback"] + replayTopics
        plan.topicConfigurations = ["notifications.dead-letter.state": ["cleanup.policy": "compact"]]
        return plan
    }

    /// The feedback on notifications, by the hub's id.
    var feedback: [String: [[String: Any]]] {
        let notifications = records("notifications.feedback").compactMap(\.json).filter {
            $0["type"] as? String == "notification"
        }
        return Dictionary(grouping: notifications) { $0["backendId"] as? String ?? "" }
    }

    /// The handles of the devices reported as gone.
    var goneHandles: [String] {
        records("notifications.feedback").compactMap(\.json).filter { $0["type"] as? String == "device" }.compactMap {
            $0["handle"] as? String
        }
    }

    /// Replaces the file with the connection string.
    @discardableResult
    func writeConnectionString(_ text: String) throws -> String {
        let file = directory.appending(path: "connection-string")
        try "\(text)\n".write(to: file, atomically: true, encoding: .utf8)
        return file.path
    }
}

extension HubEmulator {
    /// Registers iPhones, each with the tag that workers send to.
    func register(_ devices: [(handle: String, user: String)]) throws {
        for (handle, user) in devices {
            let entry = """
                <entry xmlns="http://www.w3.org/2005/Atom"><content type="application/xml">\
                <AppleRegistrationDescription xmlns:i="http://www.w3.org/2001/XMLSchema-instance" \
                xmlns="http://schemas.microsoft.com/netservices/2010/10/servicebus/connect">\
                <Tags>username:\(user)</Tags><DeviceToken>\(handle)</DeviceToken></AppleRegistrationDescription>\
                </content></entry>
                """
            _ = try perform(
                "PUT", "registrations/\(handle)", entry, type: "application/atom+xml;type=entry;charset=utf-8")
        }
    }

    /// Makes a request that must succeed.
    func perform(
        _ method: String, _ path: String, _ body: String, _ headers: [String: String] = [:],
        type: String = "application/json;charset=utf-8"
    ) throws -> SingleRequest.Response {
        let client = HubClient(
            try HubConnectionString(connectionString), hub: hub, timeout: Patience.timeout,
            tls: TLSFiles(caFile: caFile))
        let outcome = client.perform(
            .other(method, Array(body.utf8), mediaType: type), path,
            headers: headers.map { SingleRequest.Header(name: $0.key, value: $0.value) }, wantedHeaders: ["Location"])
        guard case .response(let response) = outcome, (200..<300).contains(response.status) else {
            throw WorldError("\(method) \(path): \(outcome)")
        }
        return response
    }
}

extension HubSend {
    /// The value of a header for the push service.
    func header(_ name: String) -> String? { headers.first { $0.name.lowercased() == name.lowercased() }?.value }
}
