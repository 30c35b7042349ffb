import HeraldCore
import HeraldEvents
import HeraldKafka
import HeraldTelemetry
import HeraldTime

extension Lane {
    /// A question to the brokers that failed is asked again after this long.
    private static var questionPause: Milliseconds { .seconds(1) }

    func handle(_ rebalance: Rebalance, now: Moment) {
        assignment += 1
        switch rebalance {
        case .assign(let partitions):
            meter.assignments += 1
            groupObstacle = nil
            if !engine.sourceList.isEmpty {
                // The group gave the former ones away, and asked for nothing.
                logger.warning("partitions lost")
                engine.lost(now: now)
                carryOut(now: now)
            }
            pendingAssignment = partitions
            io.findStarts(of: partitions, assignment: assignment, after: .zero)
        case .revoke(_, let lost):
            if lost { meter.losses += 1 } else { meter.revocations += 1 }
            logger.info(lost ? "partitions lost" : "partitions revoked")
            if pendingAssignment != nil {
                pendingAssignment = nil
                unassign()
            } else if lost {
                engine.lost(now: now)
            } else {
                engine.revoked(now: now)
            }
        }
    }

    /// It is known where to begin: now the assignment is answered.
    func answerAssignment(_ assignment: Int, _ result: Result<[StartPosition], KafkaError>) {
        guard assignment == self.assignment, let partitions = pendingAssignment else { return }
        switch result {
        case .failure(let error):
            logger.warning("what was committed is not known yet: \(error)")
            io.findStarts(of: partitions, assignment: assignment, after: Self.questionPause)
        case .success(let positions):
            pendingAssignment = nil
            begin(positions)
        }
    }

    /// Consumes these partitions from what was committed, from the beginning where nothing was.
    private func begin(_ starts: [StartPosition]) {
        var topics: [ConsumedTopic] = []
        var assigned: [AssignedPartition] = []
        var known: [(TopicPartition, offset: Int64)] = []
        for start in starts {
            let position = start.committed
            let name = position.partition.topic
            // Named like a retry topic by the pattern, but with a delay beyond all bounds: left alone.
            guard let role = role(of: name) else { continue }
            let isFresh = position.offset == Offset.none
            known.append((position.partition, isFresh ? Offset.beginning : start.history ?? position.offset))
            let topic = topics.firstIndex { $0.name == name } ?? topics.count
            if topic == topics.count { topics.append(ConsumedTopic(name: name, role: role)) }
            assigned.append(
                AssignedPartition(
                    topic: topic, number: position.partition.partition, startOffset: isFresh ? nil : position.offset,
                    historyOffset: start.history, metadata: isFresh ? "" : position.metadata, failed: start.failed))
        }
        member = io.member()
        read(known)
        guard end == nil else { return }
        engine.assigned(
            assigned, topics: topics, cluster: io.clusterID ?? "", fetched: io.fetchedBytes, reading: reading,
            now: io.now)
        guard engine.isTaking else { return }
        io.openQueues(engine.sourceList.count)
        hasQueues = true
        forward()
        logger.info("partitions assigned", ["count": .int(assigned.count)])
    }

    /// What a consumed topic is for.
    private func role(of topic: String) -> ConsumedTopic.Role? {
        let topics = configuration.topics
        if let index = topics.requests.firstIndex(of: topic) { return .request(weight: requestWeights[index]) }
        return topics.delay(ofTopic: topic).map { .retry(delay: $0.length) }
    }

    /// Answers a revoked assignment; the engine has given everything back before.
    func unassign() {
        if records.contains(where: { $0 != nil }) { io.isBroken("a record outlives its assignment") }
        releaseEverything()
        hasQueues = false
        member = nil
        do {
            try io.unassign()
        } catch {
            logger.warning("the partitions could not be given back: \(error)")
        }
        engine.unassigned(now: io.now)
    }

    /// Reads a partition again from the record that the engine did not take.
    func rewind(_ partition: Int32) {
        // Of a new one nothing may have been taken yet, and some of it fetched.
        let offset = engine.readOffset(of: partition) ?? Offset.beginning
        let name = topicPartition(partition)
        do {
            try io.seek(name, to: offset)
        } catch {
            // It is asked for again.
            logger.warning(
                "\(name.topic) [\(name.partition)] could not be read again from \(offset): \(error)")
        }
    }

    /// What lies in a paused source's queue is void, but kept until it is taken.
    private func letGoOfPaused(_ partition: Int32) {
        guard refused == nil, let source = engine.sourceList.firstIndex(where: { $0.partitions.last == partition }),
            let record = io.next(from: source)
        else { return }
        offer(record, source: source, now: io.now)
    }

    func setPaused(_ isPaused: Bool, _ partition: Int32) {
        let name = topicPartition(partition)
        do {
            if isPaused {
                try io.pause(name)
                letGoOfPaused(partition)
            } else {
                try io.resume(name)
            }
        } catch {
            logger.warning("\(isPaused ? "pausing" : "resuming") \(name) failed: \(error)")
        }
    }
}
