import HeraldCore
import HeraldEvents
import HeraldKafka
import HeraldTelemetry
import HeraldTime

extension Lane {
    /// Hands a record that the engine wants to librdkafka, which copies it.
    func produce(_ id: ProductionID, now: Moment) {
        guard let production = engine.production(id), let record = held[Int(production.slot.index)] else { return }
        let answer: RecordProducer.Answer = record.withValue { value in
            guard let value else { return .taken }
            output.removeAll()
            if production.kind != .result {
                headers.removeAll()
                record.forEachHeader { name, value in headers.append(name: name, value: value) }
            }
            return record.withKey { key -> RecordProducer.Answer in
                engine.write(
                    production, keyByteCount: key?.byteCount ?? 0, value: value, headers: headers, into: &output)
                let key = output.omissions.contains(.key) ? nil : key
                let value = output.omissions.contains(.value) ? nil : value
                switch production.kind {
                case .result:
                    let result = output.value
                    return records.produceResult(key: key, value: result.span.bytes, token: id.rawValue)
                case .retry:
                    return records.produceRetry(
                        delay: production.delay, key: key, value: value, headers: output.headers, token: id.rawValue)
                case .deadLetter:
                    return records.produceDeadLetter(
                        key: key, value: value, headers: output.headers, token: id.rawValue)
                }
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
        case KafkaError.Code.messageSizeTooLarge, KafkaError.Code.recordListTooLarge:
            engine.failed(id, .tooLarge, now: now)
        case KafkaError.Code.purgedInQueue, KafkaError.Code.purgedInFlight:
            // Of a transaction that is aborted.
            engine.failed(id, .other, now: now)
        case KafkaError.Code.topicAuthorizationFailed where !hasProduced:
            let topic = engine.production(id).map { engine.topic(of: $0) } ?? "a topic"
            end = .failed(
                "Herald may not write to \(topic): run kafka-acls --add --allow-principal User:NAME --operation Write "
                    + "--operation Describe --topic \(topic). Nothing is lost.")
        default:
            tellOnce(of: error, now: now)
            engine.failed(id, .other, now: now)
        }
    }

    /// Says that records are refused, when that begins and then now and again: a broker that refuses one refuses all.
    func tellOnce(of error: KafkaError, now: Moment) {
        refusal = .init(since: refusal?.since ?? now.monotonic, text: error.description)
        guard error.code != produceTrouble?.code || now.monotonic >= tellAgain else { return }
        produceTrouble = error
        tellAgain = now.monotonic.advanced(byMilliseconds: Self.tellInterval)
        logger.error("records are not taken by the broker, they are offered again and again: \(error)")
    }

    /// Hears which records the broker has.
    func hearDeliveries(now: Moment) {
        _ = records.client.deliveries { token, error in
            let id = ProductionID(rawValue: token)
            if let error {
                failed(id, error, now: now)
            } else {
                hasProduced = true
                refusal = nil
                engine.delivered(id, now: now)
            }
            if engine.actions.count > 256 { carryOut(now: now) }
        }
        // Before a record is taken: it may get a slot whose former message is not released yet.
        carryOut(now: now)
        let (notices, _) = records.client.takeNotices()
        for notice in notices { troubles.kafka(notice, now: now.monotonic) }
        guard let error = records.client.fatalError() else { return }
        if configuration.engine.isAtomic, error.code != KafkaError.Code.clusterAuthorizationFailed {
            engine.producerLost(isFenced: error.code == KafkaError.Code.fenced, now: now)
            carryOut(now: now)
        } else {
            end = .failed(
                error.code == KafkaError.Code.clusterAuthorizationFailed
                    ? "\(sentenceOfNoWriting) Any of them gives the right to produce idempotently."
                    : "the producer can't go on: \(error). Start the worker again; nothing is lost.")
        }
    }

    /// What to do when the brokers let Herald write nowhere, or do not say to which topic.
    var sentenceOfNoWriting: String {
        "Herald may not write to all of its topics: run kafka-acls --add --allow-principal User:NAME --operation Write "
            + "--operation Describe for \(configuration.topics.results), \(configuration.topics.deadLetter) and "
            + "\(configuration.topics.retry).*; nothing is lost."
    }
}
