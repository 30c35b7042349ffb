import Foundation
import HeraldText
import TestSupport

/// A running `herald console`, and the requests of its page.
final class ConsoleClient: Sendable {
    static let operatorToken = "operator-token-0123456789"
    static let viewerToken = "viewer-token-0123456789"

    let process: HeraldProcess
    private let port: UInt16

    /// Starts a console, for the operator `ann` and the viewer `bob`.
    init(_ fixture: Fixture, changing changes: [String: String] = [:], _ options: String...) async throws {
        let tokens = fixture.directory.appending(path: "tokens")
        try "operator ann \(Self.operatorToken)\nviewer bob \(Self.viewerToken)\n".write(
            to: tokens, atomically: true, encoding: .utf8)
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: tokens.path)
        let changed = changes.merging(["console.tokenFile": tokens.path]) { $1 }
        let process = try fixture.startTool(
            ["console", "--listen", "127.0.0.1:0", "--link"] + options, changing: changed)
        self.process = process
        var found: UInt16?
        _ = try await eventually {
            found = process.output.firstMatch(of: #/http://127\.0\.0\.1:([0-9]+)/#).flatMap { UInt16($0.1) }
            return found != nil || !process.isRunning
        }
        guard let found else { throw WorldError("the console does not serve:\n\(process.output)") }
        port = found
    }

    deinit { process.kill() }

    /// Its answer: status and JSON.
    func ask(
        _ path: String, post body: String? = nil, token: String = operatorToken
    ) async throws -> (status: Int, text: String, object: [String: Any]) {
        let answer = try await Blocking.run { [port, process] in
            do {
                return try PlainHTTP.request(
                    port: port, body == nil ? "GET" : "POST", path,
                    headers: ["Authorization": "Bearer \(token)", "Content-Type": "application/json"], body: body)
            } catch {
                let state = process.isRunning ? "runs" : "has ended"
                throw WorldError("\(path): \(error); the console \(state):\n\(process.output)")
            }
        }
        let object = try? JSONSerialization.jsonObject(with: Data(answer.body)) as? [String: Any]
        return (answer.status, answer.text, object ?? [:])
    }

    /// Its answer to a viewer, decoded.
    func look<Answer: Decodable>(_ path: String) async throws -> Answer {
        let answer = try await ask(path, token: Self.viewerToken)
        guard answer.status == 200 else { throw WorldError("\(path): \(answer.status) \(answer.text)") }
        return try JSONDecoder().decode(Answer.self, from: Data(answer.text.utf8))
    }

    /// Its answer, once the condition holds.
    func ask(
        _ path: String, until isSo: @escaping ([String: Any]) -> Bool
    ) async throws -> [String: Any] {
        var last: (status: Int, text: String, object: [String: Any]) = (0, "", [:])
        let isReached = try await eventually {
            last = try await self.ask(path)
            return last.status == 200 && isSo(last.object)
        }
        guard isReached else { throw WorldError("\(path) answers \(last.status) \(last.text)\n\(process.tail)") }
        return last.object
    }

    /// The groups, once the follower has read `count` letters.
    func groups(_ query: String = "", of count: Int) async throws -> [[String: Any]] {
        let answer = try await ask("/api/failures/groups\(query)") { answer in
            let status = answer["status"] as? [String: Any]
            return status?["state"] as? String == "current" && answer["matched"] as? Int == count
        }
        return answer["groups"] as? [[String: Any]] ?? []
    }

    /// A finished plan: its id and its content.
    func plan(_ request: String) async throws -> (id: String, plan: [String: Any]) {
        let made = try await ask("/api/failures/plans", post: request)
        guard made.status == 200, let id = made.object["id"] as? String else {
            throw WorldError("no plan: \(made.status) \(made.text)")
        }
        return (id, try await ask("/api/failures/plans/\(id)") { $0["state"] as? String != "planning" })
    }

    /// Starts a plan; returns the job's id.
    func start(_ id: String, count: Int, reason: String = "a test") async throws -> String {
        let started = try await ask(
            "/api/failures/plans/\(id)/start", post: #"{"count":\#(count),"reason":"\#(reason)"}"#)
        guard started.status == 200, let job = started.object["job"] as? String else {
            throw WorldError("not started: \(started.status) \(started.text)")
        }
        return job
    }

    /// A finished job.
    func ended(_ job: String) async throws -> [String: Any] {
        try await ask("/api/jobs/\(job)") { $0["endedAt"] != nil }
    }
}
