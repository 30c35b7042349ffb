import HeraldCore
import HeraldEvents
import HeraldTime

/// Records that a worker writes.
extension SimulatedWorker {
    func produce(_ id: ProductionID) {
        // Given up meanwhile, if there is none.
        guard let production = engine.production(id) else { return }
        guard let name = records[Int(production.slot.index)], let record = simulation.cluster.record(name),
            let value = record.value
        else {
            simulation.checkers.fail("\(process): a record is to be produced for a slot without one")
            return
        }
        produced.insert(id)
        if production.kind == .retry { simulation.checkers.movedToRetry(name) }
        var output = OutputRecord()
        engine.write(
            production, keyByteCount: record.key?.count ?? 0, value: value.span.bytes, headers: record.headers,
            into: &output)
        checkCompany(name)
        if let failure = refusal(of: production, record) {
            if failure == .tooLarge { apart[name] = client.number }
            log("the record for \(simulation.checkers.text(name)) is refused: \(failure)")
            if isAtomic || failure == .doesNotFit {
                produced.remove(id)
                simulation.inputs += 1
                engine.failed(id, failure, now: moment)
            } else {
                simulation.schedule(
                    .news(process, .acknowledged(id, failure)), after: simulation.chance.between(0, 30))
            }
            return
        }
        // Alone it was taken: when that transaction fails it is for another reason.
        if companions.count == 1 { apart[name] = nil }
        let effect = effect(of: production, settling: name, record, output)
        var written = LogRecord(
            key: output.omissions.contains(.key) ? nil : record.key,
            value: production.kind == .result ? output.value : output.omissions.contains(.value) ? nil : value,
            headers: output.headers, timestamp: moment.wall.milliseconds)
        simulation.checkers.written(written, for: name, mayLackValue: production.kind == .deadLetter)
        written.user = record.user
        written.event = record.event
        written.size = record.size
        written.duties = effect.duties
        let place = Place(topic: topic(of: production), partition: record.user % simulation.cluster.partitions)
        if isAtomic { write(id, place, written, effect) } else { send(id, place, written, effect) }
    }

    private var isAtomic: Bool { simulation.scenario.isAtomic }

    /// After this long (milliseconds) topics take larger records.
    private static let topicsAreMended: Int64 = 90_000

    /// Why the producer or the broker does not take a record, if so.
    private func refusal(of production: Production, _ record: LogRecord) -> ProductionFailure? {
        if production.kind != .result {
            let isTooLarge =
                switch record.size {
                case .usual: false
                case .large: !production.omissions.contains(.history)
                case .huge: !production.omissions.contains(.headers)
                case .enormous: !production.omissions.contains(.value)
                case .impossible: simulation.now < Simulation.start + Self.topicsAreMended
                }
            // Most topics are known beforehand, and the others' brokers say so.
            if isTooLarge {
                return simulation.chance.happens(simulation.scenario.unknownLimits) ? .tooLarge : .doesNotFit
            }
            // A batch with too large a record is refused as a whole.
            if isAtomic, record.size != .usual, simulation.chance.happens(200_000) { return .tooLarge }
        }
        if simulation.chance.happens(simulation.scenario.fullQueues) { return .queueFull }
        return !isAtomic && simulation.chance.happens(simulation.scenario.refusedRecords) ? .other : nil
    }

    /// An event of which the broker refused a record takes no other's transaction along again.
    private func checkCompany(_ name: RecordName) {
        guard isAtomic else { return }
        companions.insert(name)
        let culprit = companions.first { apart[$0, default: .max] < client.number }
        guard let culprit, companions.count > 1 else { return }
        simulation.checkers.fail(
            "promise 7: \(simulation.checkers.text(culprit)), of which a record was refused, takes others along")
    }

    private func topic(of production: Production) -> Int {
        let name = engine.topic(of: production)
        return simulation.cluster.topics.firstIndex(of: name) ?? 0
    }

    /// What the record says, as somebody reads it who knows nothing of the engine.
    private func effect(
        of production: Production, settling name: RecordName, _ record: LogRecord, _ output: OutputRecord
    ) -> Effect {
        var effect = Effect(settles: name, whole: record.duties, kind: .deadLetter, duties: [])
        switch production.kind {
        case .deadLetter: break
        case .result:
            guard let result = try? NotificationResult(decoding: output.value) else {
                simulation.checkers.fail("a result can't be read: \(String(copying: output.value.span.bytes))")
                return effect
            }
            effect.kind = .result(
                outcome: result.outcome, first: result.firstOutcome, reason: result.reason, attempts: result.attempts)
            effect.duties = duties(of: record, services: [result.pushService ?? ""])
            check(origin: result.origin.description, of: effect)
        case .retry:
            let attempts = output.headers.text(.attempts).flatMap { Int($0) } ?? -1
            effect.kind = .retry(
                attempts: attempts, reason: output.headers.text(.reason).flatMap { RetryReason(rawValue: $0) })
            let services = (output.headers.text(.pushServices) ?? "").split(separator: ",")
            effect.duties = duties(of: record, services: services.map(String.init))
            if effect.duties.count != services.count {
                simulation.checkers.fail("a retry of \(simulation.checkers.text(name)) is for \(services)")
            }
            check(origin: output.headers.text(.origin) ?? "", of: effect)
        }
        return effect
    }

    private func check(origin: String, of effect: Effect) {
        for duty in effect.duties where simulation.checkers.text(simulation.checkers.duties[duty].origin) != origin {
            simulation.checkers.fail("\(simulation.checkers.text(duty)) is said to be of \(origin)")
        }
    }

    /// Those of a record's duties that are for these push services; the empty name is an event that can't be read.
    private func duties(of record: LogRecord, services: [String]) -> [Int] {
        let names = simulation.scenario.pushServices.names
        return record.duties.filter { duty in
            let service = simulation.checkers.duties[duty].service
            return services.contains(service < 0 ? "" : names[service])
        }
    }

    private func send(_ id: ProductionID, _ place: Place, _ record: LogRecord, _ effect: Effect) {
        let isLost = simulation.chance.happens(simulation.scenario.lostAcknowledgements)
        // The broker has it and the worker does not know: at least once means that it is written again.
        if isLost { hit(effect.settles) }
        simulation.schedule(
            .request(process, .append(id, place, record, effect, isAcknowledgementLost: isLost)),
            after: simulation.travel())
    }
}
