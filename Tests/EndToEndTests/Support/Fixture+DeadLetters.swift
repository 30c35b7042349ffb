import Foundation
import TestSupport

/// Dead letters, and `herald dlq` on them.
extension Fixture {
    /// The topics that `herald dlq` needs besides the workers'.
    static let replayTopics = ["notifications.dead-letter.state", "notifications.audit"]

    /// Writes dead letters like a worker, of events `e0`, `e1` … of separate users, all from
    /// `notifications/0/<number>`.
    func publishDeadLetters(
        _ range: Range<Int>, pns: String = "apns", reason: String = "attempts-exhausted", status: Int = 503,
        changing change: (inout Publication, Int) -> Void = { _, _ in }
    ) async throws {
        let now = Int64(Date.now.timeIntervalSince1970 * 1_000)
        try await publish(
            range.map { number in
                var letter = Publication(
                    id: "e\(number)", user: "user-\(number)", pns: pns.split(separator: ",").map(String.init))
                letter.topic = "notifications.dead-letter"
                letter.headers = [
                    .init("x-own", "kept"), .init("herald-id", "e\(number)"), .init("herald-pns", pns),
                    .init("herald-attempts", "8"),
                    .init("herald-origin", "\(topic("notifications"))/0/\(number)"),
                    .init("herald-origin-timestamp", "\(now - 60_000)"),
                    .init("herald-first-attempt-at", "\(now - 50_000)"),
                    .init("herald-dead-lettered-at", "\(now)"), .init("herald-reason", reason),
                    .init("herald-status", "\(status)"), .init("herald-detail", "the backend said \(status)"),
                    .init(
                        "herald-history",
                        #"[{"at":"2026-11-21T08:40:26.123Z","pns":"apns","status":\#(status),"ms":12}]"#),
                ]
                change(&letter, number)
                return letter
            })
    }

    /// The settings file for `herald dlq`.
    func settingsFile(changing changes: [String: String] = [:]) throws -> URL {
        let file = directory.appending(path: "dlq-\(UUID().uuidString.prefix(8)).yaml")
        try settings.changing(changes).text.write(to: file, atomically: true, encoding: .utf8)
        return file
    }

    /// Starts `herald dlq` with these words, without a terminal.
    func startDLQ(
        _ words: [String], changing changes: [String: String] = [:], environment: [String: String] = [:]
    ) throws -> HeraldProcess {
        try startTool(["dlq"] + words, changing: changes, environment: environment)
    }

    /// Runs a command to its end; returns its status and its output.
    func tool(
        _ words: String..., changing changes: [String: String] = [:]
    ) async throws -> (status: Int32, output: String) {
        let process = try startTool(words, changing: changes)
        let status = try await process.waitForExit(within: 120)
        return (status, process.output)
    }

    /// Runs `herald dlq` to its end; returns its status and its output.
    func dlq(
        _ words: String..., changing changes: [String: String] = [:]
    ) async throws -> (status: Int32, output: String) {
        let process = try startDLQ(words, changing: changes)
        let status = try await process.waitForExit(within: 120)
        return (status, process.output)
    }

    /// The number of replays of each dead letter of ``publishDeadLetters(_:pns:reason:status:changing:)``, by number.
    func replayCounts() async throws -> [Int: Int] {
        try await catchUp()
        // A reader that loses its broker may begin again and read records twice.
        var seen: Set<String> = []
        return requests.filter { seen.insert($0.place).inserted }.reduce(into: [:]) { counts, record in
            let number = record.heraldHeaders["herald-origin"]?.split(separator: "/").last.flatMap { Int($0) }
            if let number { counts[number, default: 0] += 1 }
        }
    }
}
