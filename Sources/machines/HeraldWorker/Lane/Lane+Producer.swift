import HeraldCore
import HeraldEvents
import HeraldKafka
import HeraldTelemetry
import HeraldTime

extension Lane {
    /// Lasting trouble is reported this often.
    private static var troubleInterval: Milliseconds { .seconds(30) }

    /// Offers a record that the engine wants to the producer, which copies it.
    func produce(_ id: ProductionID, now: Moment) {
        // Given up meanwhile, if there is none.
        guard let production = engine.production(id) else { return }
        guard let record = records[Int(production.slot.index)] else {
            return io.isBroken("a record of a slot without one")
        }
        let answer: ProduceAnswer = record.withValue { value in
            guard let value else {
                io.isBroken("a record of a slot without a value")
                return .taken
            }
            output.removeAll()
            if case .copy = production.content {
                headers.removeAll()
                record.forEachHeader { name, value in headers.append(name: name, value: value) }
            }
            return record.withKey { key -> ProduceAnswer in
                engine.write(
                    production, keyByteCount: key?.byteCount ?? 0, value: value, headers: headers, into: &output)
                if let tracer { trace(tracer, producing: production, now: now) }
                let key = output.omissions.contains(.key) ? nil : key
                if case .result = production.content {
                    let result = output.value
                    return io.produce(id, production, key: key, value: result.span.bytes, headers: nil)
                }
                let value = output.omissions.contains(.value) ? nil : value
                return io.produce(id, production, key: key, value: value, headers: output.headers)
            }
        }
        switch answer {
        case .taken: break
        case .doesNotFit: engine.failed(id, .doesNotFit, now: now)
        case .refused(let error): failed(id, error, now: now)
        }
    }

    private func failed(_ id: ProductionID, _ error: KafkaError, now: Moment) {
        switch error.code {
        case KafkaError.Code.queueFull:
            engine.failed(id, .queueFull, now: now)
        case _ where error.kind == .tooLarge:
            engine.failed(id, .tooLarge, now: now)
        case KafkaError.Code.purgedInQueue, KafkaError.Code.purgedInFlight:
            // Of a transaction that is aborted.
            engine.failed(id, .other, now: now)
        case KafkaError.Code.topicAuthorizationFailed where !hasProduced:
            let topic = engine.production(id).map { engine.topic(of: $0) } ?? "a topic"
            end = .failed(
                "Herald may not write to \(topic): run "
                    + "\(KafkaPermission(.write, .describe, on: .topic(topic)).command). Nothing is lost.")
        default:
            reportOnce(error, now: now)
            engine.failed(id, .other, now: now)
        }
    }

    /// Says that records are refused, when that begins and then now and again: a broker that refuses one refuses all.
    func reportOnce(_ error: KafkaError, now: Moment) {
        let isOfTime = error.code == KafkaError.Code.invalidTimestamp
        refusal = .init(
            since: refusal?.since ?? now.monotonic, text: error.words,
            remedy: isOfTime
                ? "compare the clocks of this machine and of the brokers, and look at the topic's "
                    + "message.timestamp.after.max.ms and message.timestamp.before.max.ms" : nil)
        guard error.code != produceTrouble?.code || now.monotonic >= reportAgain else { return }
        produceTrouble = error
        reportAgain = now.monotonic.advanced(by: Self.troubleInterval)
        logger.error("the broker does not accept records, retrying: \(error)")
    }

    /// Learns which records the broker has.
    func receiveDeliveries(now: Moment) {
        io.deliveries { id, error in
            if let error {
                failed(id, error, now: now)
            } else {
                hasProduced = true
                refusal = nil
                engine.delivered(id, now: now)
            }
            if engine.actions.count > 256 { carryOut(now: now, isRecorded: true) }
        }
        // Before a record is taken: it may get a slot whose former record is not released yet.
        carryOut(now: now, isRecorded: true)
        guard let error = io.producerError() else { return }
        if configuration.isAtomic, error.code != KafkaError.Code.clusterAuthorizationFailed {
            engine.producerLost(isFenced: error.kind == .fenced, now: now)
            carryOut(now: now)
        } else {
            end = .failed(
                error.code == KafkaError.Code.clusterAuthorizationFailed
                    ? "\(sentenceOfNoWriting) Any of them gives the right to produce idempotently."
                    : "the producer failed fatally: \(error). Restart the worker; nothing is lost.")
        }
    }

    /// What to do when the brokers let Herald write nowhere, or do not say to which topic.
    var sentenceOfNoWriting: String {
        let topics = configuration.topics
        let permission = KafkaPermission(.write, .describe, on: .topic(topics.results), .topic(topics.deadLetter))
        return "Herald may not write to all of its topics: run \(permission.command), and the same for "
            + "\(topics.retry).*; nothing is lost."
    }
}
