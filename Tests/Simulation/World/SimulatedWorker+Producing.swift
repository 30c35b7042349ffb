import HeraldCore
import HeraldEvents
import HeraldKafka
import HeraldKernel
import HeraldTime
import HeraldWorker

/// Records that a worker writes.
extension SimulatedWorker {
    func produce(
        _ id: ProductionID, _ production: Production, key: RawSpan?, value: RawSpan?, headers: HeaderList?
    ) -> ProduceAnswer {
        guard let retained = record(in: production.slot), let original = retained.record.value else {
            simulation.checkers.fail("\(process): a record is to be produced for a slot without one")
            return .doesNotFit
        }
        let (name, record) = (retained.name, retained.record)
        if production.isRetry { simulation.checkers.movedToRetry(name) }
        var written = LogRecord(
            key: Self.copy(of: key), value: Self.copy(of: value), headers: headers ?? HeaderList(),
            timestamp: now.wall.milliseconds)
        if production.copy != nil, let value = written.value, value != original {
            simulation.checkers.fail("\(simulation.checkers.text(name)): a record has another one's value")
        }
        checkCompany(name)
        checkNoRetryIsGivenUp(production, name, record, written.headers)
        if let failure = refusal(of: production, record) {
            // A refused retry goes to another delay's topic once, and takes others along there.
            if failure == .tooLarge, !production.isRetry || !detoured.insert(name).inserted {
                apart[name] = apart[name] ?? client.number
            }
            if failure == .doesNotFit { unfit.insert(name) }
            log("the record for \(simulation.checkers.text(name)) is refused: \(failure)")
            if failure == .doesNotFit { return .doesNotFit }
            if isAtomic || failure == .queueFull { return .refused(Self.error(of: failure)) }
            produced.insert(id)
            simulation.schedule(
                .news(process, .acknowledged(id, failure)), after: simulation.chance[.producer].between(0, 30))
            return .accepted
        }
        produced.insert(id)
        let effect = effect(of: production, settling: name, record, written)
        simulation.checkers.written(written, for: name, mayLackValue: production.copy != nil && !production.isRetry)
        written.user = record.user
        written.event = record.event
        written.size = record.size
        written.duties = effect.duties
        written.message = effect.message
        var place = Place(topic: topic(of: production), partition: record.user % simulation.cluster.partitions)
        if case .caps(let partition) = production.content {
            place.partition = Int(partition)
            if name.place.partition != place.partition {
                simulation.checkers.fail("\(simulation.checkers.text(name)) is counted in partition \(partition)")
            }
        }
        if isAtomic { write(id, place, written, effect) } else { send(id, place, written, effect) }
        return .accepted
    }

    private static func copy(of bytes: RawSpan?) -> [UInt8]? {
        guard let bytes else { return nil }
        return bytes.withUnsafeBytes { Array($0) }
    }

    /// Hands over the outcomes of records, each once.
    func deliveries(_ body: (ProductionID, KafkaError?) -> Void) {
        let acknowledgements = inbox.acknowledgements
        inbox.acknowledgements = []
        for (id, error) in acknowledgements {
            if produced.remove(id) == nil, lane.engine.production(id) != nil {
                simulation.checkers.fail("an acknowledgement of an earlier record is taken for another")
            }
            let slot = lane.engine.production(id)?.slot
            body(id, error)
            guard let slot, error?.kind == .invalidRecord, !lane.engine.isDecided(slot) else { continue }
            if let name = record(in: slot)?.name { noteRefusal(of: name, in: slot) }
        }
    }

    /// The largest number of times that an event is refused because of others in its batch.
    private static let mostRefusals = 50

    private func noteRefusal(of name: RecordName, in slot: SlotID) {
        apart[name] = apart[name] ?? client.number
        guard companions.count > 1 else {
            // The event itself is the cause, and delays no other calls.
            unrecordedSince[slot] = nil
            return
        }
        refusedTogether[name, default: 0] += 1
        guard refusedTogether[name, default: 0] > Self.mostRefusals else { return }
        simulation.checkers.fail(
            "promise 7: \(simulation.checkers.text(name)) was refused \(Self.mostRefusals) times along with others")
    }

    static func error(of failure: ProductionFailure) -> KafkaError {
        switch failure {
        case .doesNotFit, .tooLarge: tooLarge
        case .refused: .invalidRecord
        case .topicMissing: KafkaError(code: KafkaError.Code.unknownTopic)
        case .queueFull: queueFull
        case .other: .notTaken
        }
    }

    private static let tooLarge = KafkaError(code: KafkaError.Code.messageSizeTooLarge)
    private static let queueFull = KafkaError(code: KafkaError.Code.queueFull)

    private var isAtomic: Bool { simulation.scenario.isAtomic }

    /// After this time (milliseconds) topics accept larger records.
    private static let topicsAreMended: Int64 = 90_000

    /// The reason for which the producer or the broker refuses a record, if so.
    private func refusal(of production: Production, _ record: LogRecord) -> ProductionFailure? {
        if let omissions = production.copy?.omissions {
            if isTooNarrow(production, record) { return .doesNotFit }
            let isTooLarge =
                switch record.size {
                case .usual, .invalid: false
                case .large: !omissions.contains(.history)
                case .huge: !omissions.contains(.headers)
                case .enormous: !omissions.contains(.value)
                case .impossible: simulation.now < Simulation.start + Self.topicsAreMended
                }
            // Most topics' limits are known beforehand, and the others' brokers report theirs.
            if isTooLarge {
                let isUnknown = simulation.chance[.unknownLimit].happens(simulation.scenario.unknownLimits)
                return isUnknown ? .tooLarge : .doesNotFit
            }
            // A batch with an oversized record is refused as a whole.
            if isAtomic, record.size != .usual, simulation.chance[.batch].happens(200_000) { return .tooLarge }
        }
        if simulation.chance[.fullQueue].happens(simulation.scenario.fullQueues) { return .queueFull }
        guard !isAtomic else { return nil }
        let isRefused = simulation.chance[.refusedRecord].happens(simulation.scenario.refusedRecords)
        return isRefused || isInvalid(record) ? .refused : nil
    }

    /// Whether its delay's topic has no room for an event of its size, however much is omitted; the others' have.
    private func isTooNarrow(_ production: Production, _ record: LogRecord) -> Bool {
        guard simulation.scenario.hasNarrowTopic, simulation.scenario.delays.count > 1,
            [.large, .huge].contains(record.size), case .retry(delay: 0, _, _) = production.copy?.destination
        else { return false }
        return true
    }

    /// What only a known limit keeps from one delay's topic goes by way of another's.
    private func checkNoRetryIsGivenUp(
        _ production: Production, _ name: RecordName, _ record: LogRecord, _ headers: HeaderList
    ) {
        // Others are too large for the backend.
        guard case .deadLetter(.oversized) = production.copy?.destination,
            headers.text(.detail).flatMap(UnfitRetry.topics) != nil,
            [.large, .huge].contains(record.size), !detoured.contains(name)
        else { return }
        simulation.checkers.fail(
            "promise 7: \(simulation.checkers.text(name)) is given up as too large, though a delay's topic has room for it"
        )
    }

    /// Whether the broker refuses the record.
    func isInvalid(_ record: LogRecord) -> Bool {
        record.size == .invalid && simulation.now < Simulation.start + Self.topicsAreMended
    }

    /// An event with a refused record takes no other transaction along again.
    private func checkCompany(_ name: RecordName) {
        guard isAtomic else { return }
        companions.insert(name)
        // Only the engine knows whether oversized ones were left out, and whether a retry had another topic to go to.
        let known = companions.subtracting(unfit).filter {
            apart[$0, default: .max] < client.number || !detoured.contains($0)
        }
        let culprits = known.filter { apart[$0, default: .max] < client.number }
        guard let culprit = culprits.first, culprits.count < known.count else { return }
        simulation.checkers.fail(
            "promise 7: \(simulation.checkers.text(culprit)), of which a record was refused, takes others along")
    }

    private func topic(of production: Production) -> Int {
        let name = lane.engine.topic(of: production)
        return simulation.cluster.number(of: name) ?? 0
    }

    /// The record's content, for a reader that knows nothing of the engine.
    private func effect(
        of production: Production, settling name: RecordName, _ record: LogRecord, _ written: LogRecord
    ) -> Effect {
        var effect = Effect(settles: name, whole: record.duties, kind: .deadLetter, duties: [])
        switch production.content {
        case .result:
            guard let result = try? NotificationResult(decoding: written.value ?? []) else {
                simulation.checkers.fail("a result can't be read")
                return effect
            }
            effect.kind = .result(
                outcome: result.outcome, first: result.firstOutcome, reason: result.reason, attempts: result.attempts)
            effect.duties = duties(of: record, services: [result.pushService ?? ""])
            effect.message = result.backendID
            effect.at = result.completedAt.milliseconds
            check(origin: result.origin.description, of: effect)
            let omitted =
                result.outcome == .delivered
                ? simulation.scenario.omitted(record.value ?? [], from: result.pushService ?? "") : []
            if result.omitted != omitted {
                simulation.checkers.fail(
                    "a result of \(simulation.checkers.text(name)) omits \(result.omitted.fields), not \(omitted.fields)"
                )
            }
            if result.outcome == .suppressed {
                for duty in effect.duties {
                    if result.suppression == .capped {
                        simulation.checkers.checkCapped(duty, home: name.place.partition, at: effect.at)
                        continue
                    }
                    simulation.checkSuppressed(
                        simulation.checkers.duties[duty], result.suppression, simulation.checkers.text(duty))
                }
            }
            for duty in effect.duties { checkPreferencesOffset(duty, result) }
            if result.quietIgnored != nil {
                for duty in effect.duties {
                    simulation.checkQuietIgnored(
                        simulation.checkers.duties[duty], simulation.checkers.text(duty))
                }
            }
            guard result.outcome == .expired else { break }
            let expiresAt = lane.engine.slot(production.slot.index).event.expiresAt?.milliseconds
            for duty in effect.duties {
                simulation.checkers.expired(duty, at: result.completedAt.milliseconds, expiresAt: expiresAt)
            }
        case .caps: effect.kind = .caps
        case .copy:
            guard production.isRetry else { break }
            let attempts = written.headers.text(.attempts).flatMap { Int($0) } ?? -1
            effect.kind = .retry(
                attempts: attempts, reason: written.headers.text(.reason).flatMap { RetryReason(rawValue: $0) })
            let services = (written.headers.text(.pushServices) ?? "").split(separator: ",")
            effect.duties = duties(of: record, services: services.map(String.init))
            if effect.duties.count != services.count {
                simulation.checkers.fail("a retry of \(simulation.checkers.text(name)) is for \(services)")
            }
            check(origin: written.headers.text(.origin) ?? "", of: effect)
            guard case .retry(_, .quietHours) = effect.kind else { break }
            let due = written.headers.text(.notBefore).flatMap { Int64($0) } ?? 0
            for duty in effect.duties {
                simulation.checkHeldForQuietHours(
                    simulation.checkers.duties[duty], until: due, simulation.checkers.text(duty))
            }
        }
        return effect
    }

    private func check(origin: String, of effect: Effect) {
        for duty in effect.duties {
            let facts = simulation.checkers.duties[duty]
            guard simulation.checkers.text(facts.source) != origin else { continue }
            simulation.checkers.fail("\(simulation.checkers.text(duty)) is said to be of \(origin)")
        }
    }

    /// The record's duties for these push services; the empty name stands for an unreadable event.
    private func duties(of record: LogRecord, services: [String]) -> [Int] {
        let names = simulation.scenario.pushServices.names
        return record.duties.filter { duty in
            let service = simulation.checkers.duties[duty].service
            return services.contains(service < 0 ? "" : names[service])
        }
    }

    private func send(_ id: ProductionID, _ place: Place, _ record: LogRecord, _ effect: Effect) {
        let isLost = simulation.chance[.lostAcknowledgement].happens(simulation.scenario.lostAcknowledgements)
        // The broker has it without the worker's knowledge: at least once means that it is written again.
        if isLost { hit(effect.settles) }
        simulation.schedule(
            .request(process, .append(id, place, record, effect, isAcknowledgementLost: isLost)),
            after: simulation.travel())
    }
}

extension Production {
    /// The event that continues, unless it is a result.
    var copy: EventCopy? { if case .copy(let copy) = content { copy } else { nil } }

    var isRetry: Bool { if case .retry = copy?.destination { true } else { false } }
}
