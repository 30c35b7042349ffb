internal import HeraldEvents
package import HeraldKafka
internal import HeraldTime

/// The workers that events wait for.
package struct WorkerGroup: Sendable {
    /// `kafka.group`.
    package var name: String
    /// Host and port of `admin.listen`; `nil` when it is off.
    package var listen: (host: String, port: UInt16)?
    /// Their admin ports as `host:port`; `nil` when they are not set.
    package var named: [String]?
    /// Reads the token that they want to be shown; `nil` when none is set.
    package var token: (@Sendable () throws -> String)?

    package init(
        name: String, listen: (host: String, port: UInt16)?, named: [String]?,
        token: (@Sendable () throws -> String)? = nil
    ) {
        self.name = name
        self.listen = listen
        self.named = named
        self.token = token
    }
}

/// What workers say of records that were deleted while the group stood before them: some may have been read by then.
package struct LossReport: Sendable, Equatable {
    /// The partitions that a worker consumes.
    package var consumed: Set<TopicPartition> = []
    /// Those of them of which none has said yet what is lost: it finds out when it comes to what was deleted.
    package var undecided: Set<TopicPartition> = []
    /// How many records of the others are lost.
    package var count: Int64 = 0
}

extension WorkerGroup {
    private static let questionTimeout = Milliseconds.seconds(10)

    /// Asks the workers what is lost of these partitions; blocks for some seconds at most.
    package func lossReport(on partitions: [TopicPartition], _ admin: Admin) -> LossReport {
        guard !partitions.isEmpty else { return LossReport() }
        guard let known = try? admin.describeGroup(name, timeout: Self.questionTimeout) else {
            return LossReport(consumed: Set(partitions), undecided: Set(partitions))
        }
        // While partitions move nobody knows who has which.
        let areMoving = !known.members.isEmpty && known.members.allSatisfy(\.partitions.isEmpty)
        let members = known.members.filter { areMoving || $0.partitions.contains(where: partitions.contains) }
        let consumed = partitions.filter { place in areMoving || members.contains { $0.partitions.contains(place) } }
        guard !consumed.isEmpty else { return LossReport() }
        let told = WorkerSurvey.ask(
            WorkerSurvey.addresses(of: members, named: named, listen: listen), group: name
        ).compactMap(\.status).flatMap { $0.reasons + $0.warnings }.filter { $0.key == FindingKey.recordsLost.rawValue }
        let places = Set(told.flatMap(\.place))
        return LossReport(
            consumed: Set(consumed), undecided: Set(consumed.filter { !places.contains($0.description) }),
            count: told.reduce(0) { $0 + Int64($1.numbers["records"] ?? 0) })
    }
}
