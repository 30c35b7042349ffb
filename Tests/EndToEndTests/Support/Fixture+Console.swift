import Foundation
import TestSupport

/// `herald console` of a fixture, used like a script does: with a token.
final class ConsoleProbe: Sendable {
    /// A person of the token file.
    enum Person: String {
        case `operator`, viewer

        var token: String { "token-of-the-\(rawValue)-of-this-test" }
    }

    /// An answer, with its body as JSON if possible.
    struct Answer {
        var status: Int
        var headers: [String: String]
        var text: String
        var json: [String: Any] {
            (try? JSONSerialization.jsonObject(with: Data(text.utf8))) as? [String: Any] ?? [:]
        }
    }

    let process: HeraldProcess
    private let port: UInt16

    init(_ fixture: Fixture, _ words: [String] = ["--allow-changes"], changing changes: [String: String] = [:])
        async throws
    {
        let tokens = fixture.directory.appending(path: "tokens")
        let lines = [Person.operator, .viewer].map { "\($0.rawValue) \($0.rawValue)-ann \($0.token)\n" }
        try lines.joined().write(to: tokens, atomically: true, encoding: .utf8)
        let process = try fixture.startTool(
            ["console", "--listen", "127.0.0.1:0", "--link", "--console-token-file", tokens.path] + words,
            changing: changes)
        self.process = process
        func links() -> [Substring] {
            process.output.split { " \n".contains($0) }.filter { $0.hasPrefix("http://127.0.0.1:") }
        }
        guard try await eventually({ !links().isEmpty || !process.isRunning }), let link = links().first,
            let port = URL(string: String(link))?.port
        else { throw WorldError("herald console does not serve:\n\(process.output)") }
        self.port = UInt16(port)
    }

    func get(_ target: String, as person: Person = .operator) async throws -> Answer {
        try await request("GET", target, as: person, body: nil)
    }

    func post(_ target: String, _ object: [String: Any] = [:], as person: Person = .operator) async throws -> Answer {
        let body = try JSONSerialization.data(withJSONObject: object)
        return try await request("POST", target, as: person, body: String(decoding: body, as: UTF8.self))
    }

    /// Posts text unchanged.
    func post(_ target: String, text: String) async throws -> Answer {
        try await request("POST", target, as: .operator, body: text)
    }

    /// Repeats the request until the condition holds; returns the last answer in any case.
    func get(_ target: String, until condition: (Answer) -> Bool) async throws -> Answer {
        var answer = try await get(target)
        _ = try await eventually {
            if condition(answer) { return true }
            answer = try await get(target)
            return condition(answer)
        }
        return answer
    }

    private func request(_ method: String, _ target: String, as person: Person, body: String?) async throws -> Answer {
        let port = port
        let answer = try await Blocking.run {
            try PlainHTTP.request(
                port: port, method, target, headers: ["Authorization": "Bearer \(person.token)"], body: body)
        }
        return Answer(status: answer.status, headers: answer.headers, text: answer.text)
    }
}
