import Foundation
import HeraldThreads
import TestSupport
import Testing

/// Secrets and messages are planted, Herald does everything that it can with them, and all its output is searched.
@Suite("Nothing leaks", .realKafka("Nothing leaks"))
struct LeakTests {
    private static let password = "CANARY-password-5f3e"
    private static let token = "CANARY-token-77ab"
    private static let adminToken = "CANARY-admin-c4d1"
    private static let kafkaSecret = "CANARY-kafka-90fe"
    private static let message = "CANARY-message-12 is your one-time code"
    private static let handle = "CANARY-handle-3b"
    private static let registration = "CANARY-registration-8d"

    /// Reports each line of a text that must not be there.
    private static func expectClean(_ text: String, _ place: String, messages: Bool = false) {
        for line in text.split(separator: "\n") where line.contains("CANARY") {
            if messages, !line.replacing("CANARY-message", with: "").contains("CANARY") { continue }
            Issue.record("\(place): \(line.prefix(400))")
        }
        let encoded = Data("herald:\(password)".utf8).base64EncodedString()
        #expect(!text.contains(encoded), "\(place): the credentials in Base64")
    }

    /// A backend that repeats each request in the body of its error, as some do in development.
    private static func backend() throws -> ScriptedServer {
        let calls = Guarded(0)
        return try ScriptedServer { peer in
            while true {
                let request = try peer.readRequest()
                let target = request.split(separator: " ", maxSplits: 2).dropFirst().first ?? ""
                let status =
                    if target.hasPrefix("/api/register") {
                        request.hasPrefix("POST") ? "200 OK" : request.contains("refused") ? "500 Oops" : "200 OK"
                    } else if target.contains("wrong") {
                        "400 Bad Request"
                    } else if target.contains("flaky") {
                        calls.withLock {
                            $0 += 1
                            return $0
                        } % 2 == 1 ? "503 Unavailable" : "200 OK"
                    } else if target.contains("down") {
                        "500 Oops"
                    } else if target.contains("who") {
                        "403 Forbidden"
                    } else {
                        "200 OK"
                    }
                let body =
                    target.hasPrefix("/api/register") && status.hasPrefix("200")
                    ? "\"\(registration)\"" : request
                try peer.write("HTTP/1.1 \(status)\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)")
            }
        }
    }

    private enum Kind: String, CaseIterable, Sendable {
        case password, passwordFile, tokenFile
    }

    @Test(
        "No secret, message, handle or registration is in a log, metric, page, result, header or command line",
        arguments: Kind.allCases)
    private func canaries(kind: Kind) async throws {
        let backend = try Self.backend()
        defer { backend.stop() }
        var plan = Fixture.Plan()
        plan.settings = [
            "backend.url": backend.origin, "log.level": "debug", "retry.delays": "[1s, 2s]",
            "admin.token": Self.adminToken, "outages.deadLetterBreaker.of": "0",
            "kafka.properties":
                "{sasl.password: \(Self.kafkaSecret), debug: \"broker,topic,msg,eos,cgrp,conf\"}",
        ]
        try await Fixture.run(plan) { fixture in
            let worker = try await fixture.startWorker(
                changing: try Self.credentials(kind, fixture.directory),
                removing: kind == .password ? [] : ["backend.auth.password"])
            let settings = fixture.directory.appending(path: "worker-0.yaml").path
            try await fixture.publish(Self.events)
            // Two of the flaky ones may be called alternately.
            try await fixture.waitForResults(Self.events.count)
            try await fixture.waitUntilAllIsCommitted()

            try await Self.expectClean(worker, fixture)
            try await Self.expectCleanCommands(settings, fixture.directory)
            worker.terminate()
            #expect(try await worker.waitForExit() == 0)
            Self.expectClean(worker.output, "the log at its end")
            #expect(worker.output.contains("\"level\":\"debug\""), "nothing was logged at debug")
        }
    }

    private static let events: [Publication] =
        (0..<5).map { Publication(id: "ok\($0)", user: "fine-\($0)", pns: ["apns", "gcm"], message: message) }
        + [
            Publication(id: "wrong", user: "wrong", message: message),
            Publication(id: "flaky", user: "flaky", message: message),
            Publication(id: "down", user: "down", message: message),
            Publication(id: "late", user: "late", message: message, more: ["expiresAt": "2020-01-01T00:00:00Z"]),
            Publication(user: "u", text: "{\"message\":\"\(message)\",\"user\":"),
            Publication(
                user: "u", text: "{\"id\":\"bad\",\"user\":\"no tag\",\"pns\":\"apns\",\"message\":\"\(message)\"}"),
            Publication(id: "pns", user: "u", pns: ["telegram"], message: message),
            Publication(id: "long", user: "u", message: String(repeating: message, count: 200)),
        ]

    private static func credentials(_ kind: Kind, _ directory: URL) throws -> [String: String] {
        let file = directory.appending(path: "secret")
        switch kind {
        case .password: return ["backend.auth.password": password]
        case .passwordFile:
            try "\(password)\n".write(to: file, atomically: true, encoding: .utf8)
            return ["backend.auth.passwordFile": file.path]
        case .tokenFile:
            try "\(token)\n".write(to: file, atomically: true, encoding: .utf8)
            return ["backend.auth.kind": "bearer", "backend.auth.tokenFile": file.path]
        }
    }

    private static func expectClean(_ worker: HeraldProcess, _ fixture: Fixture) async throws {
        expectClean(worker.output, "the log")
        for path in ["/metrics", "/readyz", "/livez", "/nothing"] {
            let answer = try await worker.page(path)
            expectClean("\(answer.headers)\n\(answer.text)", path)
        }
        expectClean(
            try await worker.page("/metrics", headers: ["Accept": "application/openmetrics-text"]).text, "OpenMetrics")
        for record in fixture.records("notifications.results") {
            expectClean(String(decoding: record.value ?? [], as: UTF8.self), "a result")
            expectClean("\(record.heraldHeaders)", "a result's headers")
        }
        #expect(!fixture.retries.isEmpty && fixture.deadLetters.count >= 6)
        for record in fixture.retries + fixture.deadLetters {
            let headers = record.headers.map { "\($0.name): \(String(decoding: $0.value ?? [], as: UTF8.self))" }
            expectClean(headers.joined(separator: "\n"), "\(record.place)'s headers")
            expectClean(record.keyText ?? "", "\(record.place)'s key")
            expectClean(String(decoding: record.value ?? [], as: UTF8.self), "\(record.place)", messages: true)
        }
        let process = "/proc/\(worker.id)"
        let line = try Data(contentsOf: URL(filePath: "\(process)/cmdline"))
        expectClean(String(decoding: line, as: UTF8.self), "the command line")
        let environment = try FileManager.default.attributesOfItem(atPath: "\(process)/environ")
        #expect((environment[.posixPermissions] as? Int) == 0o400, "others may read the environment")
    }

    private static func expectCleanCommands(_ settings: String, _ directory: URL) async throws {
        let store = directory.appending(path: "registrations").path
        let commands: [(arguments: [String], status: Int32)] = [
            (["config", "show"], 0), (["config", "show", "-o", "json"], 0), (["config", "show", "-o", "jsonl"], 0),
            (["config", "check"], 0),
            (["send", "--user", "fine", "--pns", "apns,gcm", "--message", message], 0),
            (["send", "--user", "wrong", "--pns", "apns", "--message", message], 1),
            (["send", "--user", "down", "--pns", "apns,gcm", "--message", message, "-o", "json"], 1),
            (["register", "--platform", "apns", "--handle", handle + "-refused", "--store", store], 1),
            (["register", "--platform", "apns", "--handle", handle, "--store", store, "--quiet"], 0),
            (["register", "--remove", "--platform", "apns", "--handle", handle, "--store", store, "--quiet"], 0),
        ]
        for (number, command) in commands.enumerated() {
            let log = directory.appending(path: "command-\(number).log")
            let process = try HeraldProcess(command.arguments + ["--config", settings], log: log)
            let status = try await process.waitForExit()
            #expect(status == command.status, "\(command.arguments[0...1]): \(process.output)")
            // The registration's id is the output of `register`.
            let output = status == 0 ? process.output.replacing(registration, with: "") : process.output
            expectClean(output, "\(command.arguments[0...1])")
        }
    }
}
