import HeraldKafka
import HeraldSandbox
import Testing

/// Compares the actual results with the expected ones, using the records and the backend's own log alone.
struct Oracle {
    let results: [ResultRecord]
    let requests: [StoredRecord]
    let retries: [StoredRecord]
    let calls: [RecordedCall]

    /// Reads a fixture after everything in it was read.
    init(_ fixture: Fixture) async throws {
        try await fixture.catchUp()
        results = try fixture.results
        requests = fixture.requests
        retries = fixture.retries
        calls = fixture.backend.calls
    }

    /// Checks that exactly these events and push services have ended, as expected.
    ///
    /// - Parameters:
    ///   - expected: For each event's id and push service the result's summary, without the attempts when they don't
    ///     matter; an event without an id goes by its place.
    ///   - repeats: Whether a result may be duplicated, as without transactions after a crash.
    func expectResults(
        _ expected: [String: [String: String]], repeats: Bool = false, location: SourceLocation = #_sourceLocation
    ) {
        var problems: [String] = []
        let found = Dictionary(grouping: results) { "\($0.id ?? $0.origin)|\($0.pns ?? "")" }
        var known: Set<String> = []
        for (id, services) in expected {
            for (service, summary) in services {
                let name = "\(id)|\(service)"
                known.insert(name)
                let summaries = found[name]?.map(\.summary) ?? []
                if summaries.isEmpty {
                    problems.append("\(name): no result")
                } else if !summaries.allSatisfy({ $0 == summary || $0.hasPrefix("\(summary) attempts ") }) {
                    problems.append("\(name): \(summaries), expected \(summary)")
                } else if summaries.count > 1, !repeats {
                    problems.append("\(name): \(summaries.count) results")
                }
            }
        }
        for name in found.keys where !known.contains(name) { problems.append("\(name): nobody asked for this result") }
        expectNone(problems, location)
    }

    /// Checks that no idempotency key was called more often than allowed.
    func expectCalls(
        exactly: Bool = true, location: SourceLocation = #_sourceLocation, _ allowed: (String) -> Int
    ) {
        var problems: [String] = []
        for (key, calls) in Dictionary(grouping: calls, by: { $0.notification ?? "none" }) {
            let limit = allowed(key)
            if exactly ? calls.count != limit : calls.count > limit {
                problems.append("\(key): \(calls.count) calls, expected \(limit)")
            }
        }
        expectNone(problems, location)
    }

    /// Checks that each user's events were called in the order of their partition: all calls of one before the first of
    /// the next, except that others may overtake an event in a delay topic.
    func expectUserOrder(location: SourceLocation = #_sourceLocation) {
        var problems: [String] = []
        let byEvent = Dictionary(grouping: calls) { call in
            String((call.notification ?? "").split(separator: ":").first ?? "")
        }
        let retried = Set(retries.compactMap { $0.heraldHeaders["herald-id"] })
        for (user, events) in Dictionary(grouping: requests, by: { $0.keyText ?? "" }) {
            var last = (number: 0, id: "")
            for event in events.sorted(by: { $0.offset < $1.offset }) {
                guard let id = event.json?["id"] as? String, let calls = byEvent[id],
                    let first = calls.map(\.number).min(), let end = calls.map(\.number).max()
                else { continue }
                if first < last.number { problems.append("\(user): \(id) was called before \(last.id) had ended") }
                last = (retried.contains(id) ? first : end, id)
            }
        }
        expectNone(problems, location)
    }

    /// Checks that everything below the committed offsets is finished: each push service has a result, or continues in
    /// a retry record that is not committed.
    func expectNothingPassed(_ committed: [TopicPartition: Int64], location: SourceLocation = #_sourceLocation) {
        func isCommitted(_ record: StoredRecord) -> Bool { record.offset < committed[record.topicPartition] ?? 0 }
        let ended = Set(results.map { "\($0.origin) \($0.pns ?? "")" })
        let alive = Set(
            retries.filter { !isCommitted($0) }.flatMap { record in
                record.remainingServices.map { "\(record.heraldHeaders["herald-origin"] ?? "") \($0)" }
            })
        let known = ended.union(alive)
        var problems: [String] = []
        for record in requests + retries where isCommitted(record) && record.value != nil {
            let origin = record.heraldHeaders["herald-origin"] ?? record.place
            // One result without a push service ends all of them.
            if ended.contains("\(origin) ") { continue }
            var services = record.remainingServices.isEmpty ? record.ownServices : record.remainingServices
            if services.isEmpty { services = ["what cannot be read"] }
            for service in services where !known.contains("\(origin) \(service)") {
                problems.append("\(record.place) \(service): committed and not finished")
            }
        }
        expectNone(problems, location)
    }

    private func expectNone(_ problems: [String], _ location: SourceLocation) {
        guard !problems.isEmpty else { return }
        let shown = problems.sorted().prefix(5).joined(separator: "; ")
        Issue.record("\(problems.count) problems: \(shown)", sourceLocation: location)
    }
}

extension RecordedCall {
    /// The event's id and the push service from its idempotency key (`id:user:pns`, `id:user:source:pns`).
    var notification: String? {
        guard let parts = idempotencyKey?.split(separator: ":"), parts.count >= 3 else { return idempotencyKey }
        return "\(parts[0]):\(parts[parts.count - 1])"
    }
}
