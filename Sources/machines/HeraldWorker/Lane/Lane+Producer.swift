import HeraldCore
import HeraldEvents
import HeraldKafka
import HeraldTelemetry
import HeraldTime

extension Lane {
    /// The interval at which lasting trouble is reported.
    private static var troubleInterval: Milliseconds { .seconds(30) }

    /// Offers a record that the engine wants to the producer, which copies it.
    func produce(_ id: ProductionID, now: Moment) {
        // Without one it was given up meanwhile.
        guard let production = engine.production(id) else { return }
        guard let record = records[Int(production.slot.index)] else {
            return io.isBroken("a record of a slot without one")
        }
        let answer: ProduceAnswer = record.withValue { value in
            guard let value else {
                io.isBroken("a record of a slot without a value")
                return .accepted
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
                let value = output.omissions.contains(.value) ? nil : value
                switch production.content {
                case .copy:
                    let key = output.omissions.contains(.key) ? nil : key
                    return io.produce(id, production, key: key, value: value, headers: output.headers)
                case .result:
                    let result = output.value
                    let key = output.omissions.contains(.key) ? nil : key
                    return io.produce(id, production, key: key, value: result.span.bytes, headers: nil)
                case .caps:
                    let (user, record) = (output.key, output.value)
                    return io.produce(id, production, key: user.span.bytes, value: record.span.bytes, headers: nil)
                }
            }
        }
        switch answer {
        case .accepted: break
        case .doesNotFit:
            noteRefusal(of: id, KafkaError(code: KafkaError.Code.messageSizeTooLarge))
            engine.failed(id, .doesNotFit, now: now)
        case .refused(let error): failed(id, error, now: now)
        }
    }

    private func failed(_ id: ProductionID, _ error: KafkaError, now: Moment) {
        switch error.code {
        case KafkaError.Code.queueFull:
            engine.failed(id, .queueFull, now: now)
        case _ where error.kind == .tooLarge || error.kind == .invalidRecord:
            noteRefusal(of: id, error)
            engine.failed(id, error.kind == .tooLarge ? .tooLarge : .refused, now: now)
        case _ where error.kind == .unknownTopic:
            let topic = engine.production(id).map { engine.topic(of: $0) }
            if let topic { noteMissing(topic) }
            engine.failed(id, .topicMissing, now: now)
            if !engine.detours(now: now.monotonic).contains(where: { $0.topic == topic }) {
                reportOnce(error, topic: topic, now: now)
            }
        case KafkaError.Code.purgedInQueue, KafkaError.Code.purgedInFlight, KafkaError.Code.invalidDifferentRecord:
            // It belongs to an aborted transaction, or to a batch that another record has spoilt.
            engine.failed(id, .other, now: now)
        case KafkaError.Code.state where configuration.isAtomic:
            // A refused record has doomed the transaction: that one's error is the cause.
            engine.failed(id, .other, now: now)
        case KafkaError.Code.topicAuthorizationFailed where !hasProduced:
            let topic = engine.production(id).map { engine.topic(of: $0) } ?? "a topic"
            end = .failed(
                "Herald may not write to \(topic): run "
                    + "\(KafkaPermission(.write, .describe, on: .topic(topic)).command). Nothing is lost.")
        default:
            reportOnce(error, topic: engine.production(id).map { engine.topic(of: $0) }, now: now)
            engine.failed(id, .other, now: now)
        }
    }

    /// Logs refused records, at first and then periodically: a broker that refuses one refuses all.
    func reportOnce(_ error: KafkaError, topic: String? = nil, now: Moment) {
        noteRefusal(error, topic: topic, now: now.monotonic)
        guard error.code != produceTrouble?.code || now.monotonic >= reportAgain else { return }
        produceTrouble = error
        reportAgain = now.monotonic.advanced(by: Self.troubleInterval)
        logger.error("the broker does not accept records\(topic.map { " of \($0)" } ?? ""), retrying: \(error)")
    }

    /// Notes that the brokers take no records; what names the topic says more than what follows from it.
    func noteRefusal(_ error: KafkaError, topic: String?, now: MonotonicTime) {
        let topic = error.isOfTopic ? topic : nil
        guard topic != nil || refusal?.topic == nil else { return }
        let permission = topic.map { KafkaPermission(.write, .describe, on: .topic($0)) } ?? permissionToWrite
        refusal = .init(
            since: refusal?.since ?? now, text: error.words,
            remedy: error.kind == .forbidden ? permission.description : nil, topic: topic,
            isSilence: error.kind == .unreachable, latest: now)
    }

    private func noteRefusal(of id: ProductionID, _ error: KafkaError) {
        if let production = engine.production(id) { noteRefusal(by: engine.topic(of: production), error) }
    }

    /// Notes that a topic is not there, before the engine does.
    func noteMissing(_ topic: String) {
        noteRefusal(by: topic, KafkaError(code: KafkaError.Code.unknownTopicOrPartition))
    }

    private func noteRefusal(by topic: String, _ error: KafkaError) {
        // The episode began with the first of the events that are refused still.
        let lasts =
            engine.refusedEvents[topic] != nil
            || engine.detours(now: io.now.monotonic).contains { $0.topic == topic }
        let since = lasts ? recordRefusals[topic]?.since : nil
        recordRefusals[topic] = RecordRefusal(error, since: since ?? io.now.wall)
    }

    /// The topic that accepts no records, and why.
    var topicRefusal: LaneReport.Trouble? {
        engine.refusingTopic.map { topic, since in
            let refusal = recordRefusals[topic]
            return .init(since: since, text: refusal?.text ?? "", remedy: refusal?.remedy, topic: topic)
        }
    }

    /// Logs a record refused for its own sake, at first and then periodically.
    func announceRefusedRecord(of topic: String, now: Moment) {
        guard let refusal = recordRefusals[topic], engine.refusingTopic == nil, now.monotonic >= sayRefusalAgain else {
            return
        }
        sayRefusalAgain = now.monotonic.advanced(by: Self.troubleInterval)
        logger.error(
            "\(topic) does not take a record (\(refusal.text)): \(refusal.remedy); Herald offers it again by itself, and "
                + "others continue.")
    }

    /// Logs that retries go by way of another delay's topic.
    func announceDetour(of topic: String, to other: String, now: Moment) {
        guard let refusal = recordRefusals[topic], now.monotonic >= sayRefusalAgain else { return }
        sayRefusalAgain = now.monotonic.advanced(by: Self.troubleInterval)
        logger.error(
            "\(topic) refuses records (\(refusal.text)): \(refusal.remedy); meanwhile such retries go by way of \(other), "
                + "and calls go on. Herald tries \(topic) again by itself.")
    }

    /// Logs that a topic accepts no records, at first, periodically, and when it is over.
    func announceRefusingTopic(now: MonotonicTime) {
        guard let trouble = topicRefusal, let topic = trouble.topic else {
            if let refusingTopic { logger.info("\(refusingTopic) takes records again") }
            refusingTopic = nil
            return
        }
        guard topic != refusingTopic || now >= sayRefusalAgain else { return }
        refusingTopic = topic
        sayRefusalAgain = now.advanced(by: Self.troubleInterval)
        logger.error(
            "\(topic) refuses nearly all records (\(trouble.text)): \(trouble.remedy ?? ""); calls wait, because their outcomes could "
                + "not be recorded. Nothing is lost, and Herald goes on by itself.")
    }

    /// Receives the broker's acknowledgements.
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

    private var permissionToWrite: KafkaPermission {
        KafkaPermission(
            .write, .describe, on: .topic(configuration.topics.results), .topic(configuration.topics.deadLetter))
    }

    /// The remedy when the brokers allow no writing, or do not name the topic.
    var sentenceOfNoWriting: String {
        "Herald may not write to all of its topics: run \(permissionToWrite.command), and the same for "
            + "\(configuration.topics.retry).*; nothing is lost."
    }
}

/// The reason why a topic refuses a record, and the remedy.
struct RecordRefusal {
    /// The time of the first refusal of those that last.
    let since: WallTime
    /// Why the latest was refused.
    let text: String
    let remedy: String

    init(_ error: KafkaError, since moment: WallTime) {
        since = moment
        text =
            switch error.kind {
            case .tooLarge: "MSG_SIZE_TOO_LARGE: it or its batch is too large for its topic: max.message.bytes"
            case .unknownTopic: "it is missing, or may not be seen"
            default: error.words
            }
        remedy =
            switch error.code {
            case KafkaError.Code.invalidTimestamp:
                "compare the clocks of this machine and of the brokers, and look at the topic's "
                    + "message.timestamp.after.max.ms and message.timestamp.before.max.ms"
            case _ where error.kind == .tooLarge || error.kind == .unknownTopic: FindingKey.topicsDrift.entry.step
            default: "see what the topic demands with `herald topics plan`"
            }
    }
}
