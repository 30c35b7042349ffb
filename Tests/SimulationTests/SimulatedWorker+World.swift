import HeraldCore
import HeraldEvents
import HeraldTime

/// What reaches the backend and the broker, and what is checked on the way.
extension SimulatedWorker {
    func noteAnswer(_ token: CallToken, _ result: CallResult) {
        let isCounted = counted.remove(token) != nil
        guard engine.slot(token.slot.index).generation == token.slot.generation,
            let position = records[token.slot.index]
        else { return }
        let service = simulation.scenario.pushServices.names[Int(token.service)]
        for duty in duties(of: position) where duty.service == service {
            switch (result.status, result.failure) {
            case (200, _), (400, _): simulation.checkers.answeredForGood(duty)
            case (401, _), (403, _), (_, .nameNotFound?): break
            case (503, _) where !isCounted, (429, _) where !isCounted: simulation.checkers.probeCounted(duty)
            case _ where isCounted:
                simulation.checkers.failedForNow(duty, retryAfter: result.retryAfter, now: simulation.now)
            default: break
            }
        }
    }

    /// A record that stays is copied; there must be one.
    func keep(_ slot: Int32) {
        if records[slot] == nil { simulation.checkers.fail("slot \(slot) is to be kept, and has no record") }
    }

    func release(_ slot: Int32) {
        guard let position = records.removeValue(forKey: slot) else {
            simulation.checkers.fail("slot \(slot) was released twice")
            return
        }
        settled(position)
    }

    /// The event behind this one may be called.
    func settled(_ position: (place: Place, offset: Int64)) {
        let name = self.name(position)
        if let line = active.first(where: { $0.value == name })?.key { active[line] = nil }
    }

    func name(_ position: (place: Place, offset: Int64)) -> String {
        "\(position.place.topic)/\(position.place.partition)/\(position.offset)"
    }

    /// Promise 4: while an event is not settled, none of the same user (or partition) is called.
    func checkOrder(_ user: String, _ position: (place: Place, offset: Int64), isRetry: Bool) {
        let line: String
        switch simulation.scenario.ordering {
        case .key: line = user
        case .partition: line = "\(position.place.topic)/\(position.place.partition)"
        case .none: return
        }
        let name = self.name(position)
        if let other = active.updateValue(name, forKey: line), other != name {
            simulation.checkers.fail("promise 4: \(name) was called before \(other) of \(line) was settled")
        }
        if !isRetry { simulation.checkers.firstCall(user: user, place: position.place, offset: position.offset) }
    }

    func call(_ token: CallToken) {
        if isStopping { simulation.checkers.fail("a call after the stop began") }
        guard let position = records[token.slot.index],
            let record = simulation.cluster.record(at: position.place, position.offset), let value = record.value
        else {
            simulation.checkers.fail("a call for a slot without a record")
            return
        }
        let slot = engine.slot(token.slot.index)
        let user = text(slot.event.bytes(of: slot.event.user, value: value.span.bytes))
        let service = simulation.scenario.pushServices.names[Int(token.service)]
        let now = moment.wall
        if let expiresAt = slot.event.expiresAt, now >= expiresAt {
            simulation.checkers.fail("\(position) was called after its expiry")
        }
        if let notBefore = slot.event.notBefore, now < notBefore {
            simulation.checkers.fail("\(position) was called before its moment")
        }
        if slot.isRetry {
            if let due = slot.event.dueAt, now < due { simulation.checkers.fail("\(position): a retry was early") }
        }
        checkOrder(user, position, isRetry: slot.isRetry)
        let (result, after) = simulation.backend.answer(user: user, random: &simulation.random)
        let uncounted =
            result.status == 401 || result.status == 403 || result.failure == CallFailure.nameNotFound
            || engine.hold != nil
        for duty in duties(of: position) where duty.service == service {
            simulation.checkers.called(duty, countsAsAttempt: !uncounted, now: simulation.now)
            simulation.checkers.backendAnswered(duty, status: result.status, now: simulation.now)
        }
        if !uncounted { counted.insert(token) }
        simulation.schedule(.answer(worker: index, incarnation: incarnation, token, result), after: after)
    }

    func produce(_ id: ProductionID) {
        // Given up meanwhile, if there is none.
        guard let production = engine.production(id) else { return }
        guard let position = records[production.slot.index],
            let record = simulation.cluster.record(at: position.place, position.offset), let value = record.value
        else {
            simulation.checkers.fail("a record is to be produced for a slot without one")
            return
        }
        produced.insert(id)
        settled(position)
        if production.kind == .retry { simulation.checkers.movedToRetry(name(position)) }
        if simulation.chance(simulation.scenario.produceFailures) {
            let failures: [ProductionFailure] = [.queueFull, .other, .tooLarge, .tooLarge]
            let failure = failures[Int(simulation.between(0, 3))]
            simulation.schedule(
                .acknowledge(
                    worker: index, incarnation: incarnation, id, failure),
                after: simulation.between(0, 30))
            return
        }
        var failure: ProductionFailure?
        if simulation.chance(simulation.scenario.acknowledgementFailures) {
            // The broker has it and the worker does not know: with at-least-once it is written again.
            failure = .other
            for duty in duties(of: position) { simulation.checkers.faultHit(duty) }
        }
        var output = OutputRecord()
        engine.write(production, value: value.span.bytes, headers: record.headers, into: &output)
        let partition = Int32(truncatingIfNeeded: (record.key ?? []).reduce(0) { $0 &* 31 &+ Int($1) })
        let written = LogRecord(
            key: record.key, value: production.kind == .result ? output.value : value, headers: output.headers,
            timestamp: moment.wall.milliseconds)
        let place = Place(
            topic: engine.topic(of: production),
            partition: Int32(UInt32(bitPattern: partition) % UInt32(simulation.cluster.partitions)))
        simulation.schedule(
            .append(worker: index, incarnation: incarnation, id, place, written, failure),
            after: simulation.between(0, 20))
    }

    private func text(_ bytes: RawSpan) -> String {
        String(
            decoding: (0..<bytes.byteCount).map { bytes.unsafeLoad(fromByteOffset: $0, as: UInt8.self) }, as: UTF8.self)
    }
}
