import HeraldCore
import HeraldDriver
import HeraldEvents
import HeraldKafka
import HeraldTelemetry
import HeraldTime

extension Lane {
    /// The pause before a failed question to the brokers is repeated.
    private static var questionPause: Milliseconds { .seconds(1) }
    /// The interval of the search for lost offsets.
    static var lostPause: Milliseconds { .seconds(3) }

    func handle(_ rebalance: Rebalance, now: Moment) {
        assignment += 1
        warnOfOvertaken()
        lostOffsets = [:]
        rangeQuestions = [:]
        lostRecords = [:]
        switch rebalance {
        case .assign(let partitions):
            meter.assignments += 1
            groupObstacle = nil
            if !engine.sourceList.isEmpty {
                // The group gave the former ones away without asking.
                logger.warning("partitions lost")
                engine.lost(now: now)
                carryOut(now: now)
            }
            pendingAssignment = partitions
            (pendingSince, pendingTrouble) = (now.monotonic, nil)
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

    /// Answers the assignment when its starts are known, or begins partitions that waited for their offsets.
    func answerAssignment(_ assignment: Int, _ result: Result<[StartPosition], KafkaError>) {
        guard assignment == self.assignment else { return }
        let partitions = pendingAssignment ?? withoutOffsets
        guard pendingAssignment != nil || !partitions.isEmpty else { return }
        switch result {
        case .failure(let error):
            logger.warning("what was committed is not known yet: \(error)")
            pendingTrouble = error
            io.findStarts(of: partitions, assignment: assignment, after: Self.questionPause)
        case .success(let positions):
            let former = lostOffsets
            if pendingAssignment != nil {
                pendingAssignment = nil
                begin(positions)
            } else {
                takeUp(positions)
            }
            guard assignment == self.assignment else { return }
            announceLostOffsets(since: former)
            askForLostOffsets()
        }
    }

    /// Logs once which partitions wait for their offsets, and when they continue.
    private func announceLostOffsets(since former: [TopicPartition: StartPosition]) {
        let lost = withoutOffsets.filter { lostOffsets[$0]?.isLost == true && former[$0]?.isLost != true }
        if !lost.isEmpty {
            let missing = MissingOffsets(lost, others: otherGroups)
            logger.error(
                "the group has \(missing.words): they are not consumed, so that nobody is notified again; \(missing.remedy)",
                ["partitions": .string(lost.names), "count": .int(lost.count)])
        }
        let unanswered = withoutOffsets.compactMap { partition -> (TopicPartition, KafkaError)? in
            guard case .unanswered(let error)? = lostOffsets[partition]?.evidence, former[partition] == nil else {
                return nil
            }
            return (partition, error)
        }
        for (partition, error) in unanswered {
            logger.warning(
                "where \(partition) begins is not known: it waits, is asked about again, and all others continue: \(error)",
                ["topic": .string(partition.topic), "partition": .int(Int(partition.partition))])
        }
        let back = former.count { $0.value.isLost && lostOffsets[$0.key] == nil }
        if back > 0 { logger.info("partitions have their offsets again", ["count": .int(back)]) }
    }

    private func askForLostOffsets() {
        guard !lostOffsets.isEmpty, end == nil else { return }
        let isSearching = lostOffsets.values.contains { $0.evidence == .sought }
        io.findStarts(
            of: withoutOffsets, assignment: assignment, after: isSearching ? Self.questionPause : Self.lostPause)
    }

    /// The partitions in a stable order.
    var withoutOffsets: [TopicPartition] {
        lostOffsets.keys.sorted { ($0.topic, $0.partition) < ($1.topic, $1.partition) }
    }

    /// The other groups with offsets on the request topics.
    var otherGroups: OtherGroups? { lostOffsets.values.lazy.compactMap(\.otherGroups).first }

    /// Begins partitions that have waited, if they have an offset by now, or certainly had none before.
    private func takeUp(_ starts: [StartPosition]) {
        // It would be the wrong answer to the group: see `judgeRange`.
        serveConsumer()
        guard engine.isConsuming else { return }
        var hasBegun = false
        for start in starts {
            let partition = start.committed.partition
            guard lostOffsets[partition] != nil, let index = engine.index(of: partition.partition, in: partition.topic)
            else { continue }
            note(start)
            guard lostOffsets[partition] == nil else { continue }
            hasBegun = true
            engine.begin(index, assigned(start, topic: 0), reading: reading + 1)
        }
        if hasBegun { readAgain() }
    }

    /// Notes whether a partition waits for its offset.
    private func note(_ start: StartPosition) {
        let isWaiting = start.committed.offset == Offset.none && start.evidence != .absent
        lostOffsets[start.committed.partition] = isWaiting ? start : nil
    }

    /// Consumes these partitions from their committed offsets, or from the beginning without any.
    private func begin(_ starts: [StartPosition]) {
        var topics: [ConsumedTopic] = []
        var assigned: [AssignedPartition] = []
        var known: [(TopicPartition, offset: Int64)] = []
        for start in starts {
            let position = start.committed
            let name = position.partition.topic
            // A name like a retry topic's, but with a delay beyond all bounds: left alone.
            guard let role = role(of: name) else { continue }
            let isFresh = position.offset == Offset.none
            note(start)
            if lostOffsets[position.partition] == nil {
                known.append((position.partition, isFresh ? Offset.beginning : start.history ?? position.offset))
            }
            let topic = topics.firstIndex { $0.name == name } ?? topics.count
            if topic == topics.count { topics.append(ConsumedTopic(name: name, role: role)) }
            assigned.append(self.assigned(start, topic: topic))
        }
        member = io.member()
        read(known)
        guard end == nil else { return }
        engine.assigned(
            assigned, topics: topics, cluster: io.clusterID ?? "", fetched: io.fetchedBytes, reading: reading,
            now: io.now)
        guard engine.isConsuming else { return }
        io.openQueues(engine.sourceList.count)
        hasQueues = true
        forward()
        askForCaps()
        logger.info("partitions assigned", ["count": .int(assigned.count)])
    }

    /// A partition in the engine's terms; its topic's place is valid in one assignment only.
    private func assigned(_ start: StartPosition, topic: Int) -> AssignedPartition {
        let isFresh = start.committed.offset == Offset.none
        return AssignedPartition(
            topic: topic, number: start.committed.partition.partition,
            startOffset: isFresh ? nil : start.committed.offset, historyOffset: start.history,
            metadata: isFresh ? "" : start.committed.metadata, failed: start.failed)
    }

    /// The role of a consumed topic.
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
        // A new partition may have fetched records without any taken.
        let offset = engine.readOffset(of: partition) ?? Offset.beginning
        let name = topicPartition(partition)
        guard lostOffsets[name] == nil else { return }
        do {
            try io.seek(name, to: offset)
        } catch {
            // It is asked for again.
            logger.warning(
                "\(name.topic) [\(name.partition)] could not be read again from \(offset): \(error)")
        }
    }

    /// Records in a paused source's queue are void, but kept until they are taken.
    private func letGoOfPaused(_ partition: Int32) {
        guard refused == nil, let source = engine.sourceList.firstIndex(where: { $0.partitions.last == partition }),
            let record = io.next(from: source)
        else { return }
        offer(record, source: source, now: io.now)
    }

    func setPaused(_ isPaused: Bool, _ partition: Int32) {
        let name = topicPartition(partition)
        guard lostOffsets[name] == nil else { return }
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
