import Foundation
import HeraldKafka
import TestSupport

/// Records of campaigns, and `herald campaign` on them.
extension Fixture {
    /// A record of the campaigns topic.
    func campaignRecord(_ key: String, _ object: [String: Any]) throws -> Publication {
        let data = try JSONSerialization.data(withJSONObject: object, options: [.sortedKeys])
        var record = Publication(user: key, text: String(decoding: data, as: UTF8.self))
        record.topic = "notifications.campaigns"
        return record
    }

    /// The record of a campaign's first start, with results from the topic's beginning on.
    func beginning(
        of campaign: String, pns: [String] = ["apns", "gcm"], by author: String = "ann@web1",
        more: [String: Int64] = [:]
    ) throws -> [Publication] {
        var definition: [String: Any] = [
            "name": campaign, "message": "Secret {{first_name}}", "pns": pns,
            "topic": topic("notifications.bulk"), "startedAt": Int64(Date.now.timeIntervalSince1970 * 1_000),
            "startedBy": author, "requestOffsets": ["0": 0, "1": 0], "resultOffsets": ["0": 0, "1": 0],
        ]
        definition.merge(more) { $1 }
        return [
            try campaignRecord("\(campaign)/definition", definition),
            try campaignRecord(
                campaign,
                ["state": "running", "at": Date.now.formatted(.iso8601), "by": author, "pauseIfFailures": 0.9]),
        ]
    }

    /// The record of its publisher with each batch.
    ///
    /// - Parameter outcomes: The outcomes that it has seen so far; none by default.
    func progress(
        of campaign: String, recipients: Int, published: Int, by author: String = "ann@web1 pid 7",
        outcomes: [String: Int]? = nil, end: String? = nil
    ) throws -> Publication {
        var offsets = ["0": Int64(0), "1": 0]
        if outcomes != nil {
            for record in records("notifications.results") { offsets["\(record.partition)"] = record.offset + 1 }
        }
        return try campaignRecord(
            "\(campaign)/progress",
            [
                "recipients": recipients, "published": published, "repeats": 1, "invalid": 2,
                "isComplete": recipients == published, "at": Int64(Date.now.timeIntervalSince1970 * 1_000),
                "by": author,
                "outcomes": outcomes ?? [:], "resultOffsets": offsets,
            ].merging(end.map { ["end": $0 as Any] } ?? [:]) { $1 })
    }

    /// Its events, `<campaign>-<number>` of `member-<number>`.
    func events(of campaign: String, _ range: Range<Int>, pns: [String] = ["apns", "gcm"]) -> [Publication] {
        range.map { number in
            var event = Publication(
                id: "\(campaign)-\(number)", user: "member-\(number)", pns: pns,
                more: ["campaign": campaign, "source": "herald-campaign"])
            event.topic = "notifications.bulk"
            return event
        }
    }

    /// Starts `herald` with these words, without a terminal unless `wrapper` gives it one.
    func startTool(
        _ words: [String], changing changes: [String: String] = [:], under wrapper: [String] = [],
        environment: [String: String] = [:]
    ) throws -> HeraldProcess {
        let log = directory.appending(path: "tool-\(UUID().uuidString.prefix(8)).log")
        return try HeraldProcess(
            words + ["--config", try settingsFile(changing: changes).path], under: wrapper, log: log,
            environment: environment)
    }

    /// Runs `herald campaign` to its end; returns its status and its output.
    func campaign(
        _ words: String..., changing changes: [String: String] = [:]
    ) async throws -> (status: Int32, output: String) {
        let process = try startTool(["campaign"] + words, changing: changes)
        let status = try await process.waitForExit(within: 120)
        return (status, process.output)
    }

    /// A campaign's status from `-o jsonl`.
    func campaignStatus(_ name: String) async throws -> [String: Any] {
        let run = try await campaign("status", name, "-o", "jsonl")
        guard run.status == 0, let line = run.output.split(separator: "\n").last(where: { $0.hasPrefix("{") }),
            let object = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
        else { throw WorldError("herald campaign status ended with \(run.status):\n\(run.output)") }
        return object
    }
}
