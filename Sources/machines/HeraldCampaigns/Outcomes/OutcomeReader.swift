package import HeraldEvents
package import HeraldKafka
package import HeraldTime
internal import HeraldTools

/// Counts the outcomes of campaigns from the results topic, which also holds those of all other events.
///
/// One thread.
package final class OutcomeReader {
    package struct Subject: Sendable {
        let name: String
        let pushServices: [String]
        let starts: [Int32: Int64]
        package fileprivate(set) var count: OutcomeCount

        /// A campaign, counted from its beginning, or on from where its publisher came to.
        package init(_ definition: CampaignDefinition, after progress: CampaignProgress? = nil) {
            name = definition.name
            pushServices = definition.pns
            starts = progress?.resultStarts ?? definition.resultStarts
            count = OutcomeCount(snapshot: progress?.outcomes ?? [:])
        }
    }

    let results: ResultsReader
    private let first: String

    package private(set) var subjects: [String: Subject]

    /// A reader of these campaigns' outcomes; there is at least one.
    ///
    /// - Parameters:
    ///   - properties: librdkafka's: `read_committed`, with end-of-partition events; nothing is committed.
    ///   - moment: epoch milliseconds; results since then are handed out also where they come before a campaign's start, and
    ///     are not counted again.
    package init(
        properties: ClientProperties, topic: String, partitions: [Int32], of subjects: [Subject],
        lookingBackTo moment: Int64? = nil
    ) throws {
        precondition(!subjects.isEmpty, "there is nothing to count")
        first = subjects[0].name
        self.subjects = Dictionary(subjects.map { ($0.name, $0) }) { $1 }
        var starts: [Int32: Int64] = [:]
        for partition in partitions {
            let named = subjects.compactMap { $0.starts[partition] }
            // A partition that a campaign does not name is read from its beginning.
            if named.count == subjects.count { starts[partition] = named.min() }
        }
        results = try ResultsReader(
            properties: properties, topic: topic, partitions: partitions,
            // A campaign's name needs no escapes, so a result that has it has these bytes.
            mentioning: subjects.count == 1 ? "\"\(first)\"" : "\"campaign\""
        ) { starts[$0].map { .offset($0, lookingBackTo: moment) } ?? .beginning }
    }

    /// What came of the campaign, the first if there are several, as far as it was read.
    package var count: OutcomeCount { subjects[first]?.count ?? OutcomeCount() }

    /// Where to go on from, by partition: everything below is in ``count``.
    package var positions: [Int32: Int64] {
        results.positions.merging(subjects[first]?.starts ?? [:], uniquingKeysWith: max)
    }

    /// Results that were deleted before they could be read, of any event.
    package var deletedCount: Int64 { results.reader.deletedCount }

    /// Reads to the present end.
    ///
    /// - Parameters:
    ///   - ends: the ``positions`` of an earlier reading, which this one is to be the same as: what came later is left out.
    ///   - onProgress: how many of how many records of the topic were passed; `false` ends the reading.
    ///   - onResult: called with each result of the campaigns.
    /// - Returns: whether the end was reached.
    @discardableResult
    package func catchUp(
        until ends: [Int32: Int64]? = nil, onProgress: (Int64, Int64) -> Bool = { _, _ in true },
        onResult: (NotificationResult) throws -> Void = { _ in }
    ) throws -> Bool {
        try results.catchUp(onProgress: onProgress) { result, message in
            if let ends, message.offset >= ends[message.partition] ?? 0 { return }
            try add(result, in: message, onResult)
        }
    }

    /// Reads some records, until none has come for so long; whether the end is reached.
    func turn(wait: Milliseconds) throws -> Bool {
        try results.turn(wait: wait) { add($0, in: $1) { _ in } }
    }

    /// Takes what has come since, waiting up to this long for the first record; whether anything has come, of any
    /// event.
    @discardableResult
    package func poll(wait: Milliseconds = .zero, onResult: (NotificationResult) -> Void = { _ in }) throws -> Bool {
        try results.poll(wait: wait) { add($0, in: $1, onResult) } > 0
    }

    package func close() { results.close() }

    private func add(
        _ result: NotificationResult, in message: Message, _ onResult: (NotificationResult) throws -> Void
    ) rethrows {
        guard let name = result.campaign, let subject = subjects[name] else { return }
        if message.offset >= subject.starts[message.partition] ?? 0 {
            subjects[name]?.count.add(result, pushServices: subject.pushServices)
        }
        try onResult(result)
    }
}
