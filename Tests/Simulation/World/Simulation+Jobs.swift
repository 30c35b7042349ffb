import HeraldCore
import HeraldEvents

/// Followers of the hub's messages, and their faults.
extension Simulation {
    private static let job = Process(.job, 0)

    /// The number of topics that workers consume and write.
    var workersTopics: Int { scenario.consumedTopics.count + scenario.otherTopics.count }

    /// The partitions of the results.
    var resultPlaces: [Place] {
        guard let topic = cluster.number(of: scenario.topics.results) else { return [] }
        return (0..<cluster.partitions).map { Place(topic: topic, partition: $0) }
    }

    func startFollowers() {
        guard !followers.isEmpty else { return }
        schedule(.follow(job: 0, takesOver: false), after: self[Self.job][.jobStart].between(0, 5_000))
    }

    func scheduleJobFaults() {
        guard !followers.isEmpty else { return }
        for _ in 0..<scenario.followerFaults {
            schedule(.jobFault, after: self[Self.job][.jobFault].between(100, 2 * Self.faultTime))
        }
    }

    /// Starts a follower, as a supervisor does, or an operator beside another one.
    func follow(_ job: Int, takesOver: Bool) {
        guard !followers[job].isRunning, takesOver || !followers.contains(where: \.isRunning) else { return }
        followers[job].start()
    }

    func performJobFault() {
        let running = followers.filter { $0.isRunning && $0.frozenUntil == nil }
        let kind = self[Self.job][.jobFault].below(6)
        switch kind {
        case 0, 1, 2:
            guard !running.isEmpty else { return }
            let follower = self[Self.job][.jobFault].pick(running)
            if kind == 0 { follower.kill() } else if kind == 1 { follower.stop() } else { follower.freeze() }
        case 3:
            guard let idle = followers.firstIndex(where: { !$0.isRunning }), !running.isEmpty else { return }
            log("another follower takes over")
            cluster.rivalled.insert(SimulatedFollower.transactionalID)
            follow(idle, takesOver: true)
        case 4:
            let place = Place(
                topic: workersTopics, partition: self[Self.job][.jobFault].below(cluster.partitions))
            loseLeader(place, for: self[Self.job][.jobFault].between(500, 20_000))
        default:
            refuseJobs(workersTopics, for: self[Self.job][.jobFault].between(500, 15_000))
        }
    }

    /// Lets the hub take a notification; returns its name.
    func takenByHub(after wait: Int64) -> String { hub.take(now: now + wait, chance: &self[Self.job][.hub]) }

    /// Reports the position of a job's group in the results.
    func tellStanding(_ process: Process, question: Int, _ request: Request) {
        guard !cluster.hasPendingOffsets(resultPlaces) else { return again(request, of: process) }
        let committed = resultPlaces.map {
            Committed(place: $0, offset: cluster[$0].committed, metadata: cluster[$0].metadata)
        }
        tell(process, .job(.standing(question: question, committed)))
    }

    // MARK: Each message is reported once

    /// The report that a device is expired.
    static func deviceText(_ number: Int) -> String { "device \(number)" }

    /// Whether all messages in visible results are reported, and all expired devices.
    var isFeedbackComplete: Bool {
        guard !followers.isEmpty else { return true }
        countNamedMessages()
        return checkers.toldCount >= namedMessages.count && checkers.devicesTold >= hub.goneDevices
    }

    private func countNamedMessages() {
        for (partition, place) in resultPlaces.enumerated() {
            if partition == namedMessages.read.count { namedMessages.read.append(0) }
            while cluster.seek(place, from: &namedMessages.read[partition]) {
                let offset = Int(namedMessages.read[partition])
                if cluster[place].records[offset].message != nil { namedMessages.count += 1 }
                namedMessages.read[partition] += 1
            }
        }
    }

    /// Checks a follower's commit: its feedback is true, and the messages that it passes are reported.
    func checkFeedback(of transaction: Transaction) {
        for name in transaction.jobRecords {
            guard let value = cluster.record(name)?.value else { continue }
            if value.starts(with: "device".utf8) {
                let isNext = value.elementsEqual(Self.deviceText(checkers.devicesTold).utf8)
                if !isNext { checkers.fail("\(String(decoding: value, as: UTF8.self)) is told out of its turn") }
                checkers.devicesTold += 1
                continue
            }
            guard case .notification(let feedback)? = try? FeedbackRecord(decoding: value) else {
                checkers.fail("\(checkers.text(name)) can't be read")
                continue
            }
            checkers.told[feedback.backendID, default: 0] += 1
            checkers.toldCount += 1
            let objection = hub.objection(
                to: feedback.backendID, isFinal: feedback.conclusion == .final, state: feedback.state,
                outcomes: feedback.outcomes, now: now, tolerance: checkers.tolerance)
            if let objection { checkers.fail(objection) }
        }
        for position in transaction.offsets { checkPassed(position) }
    }

    private func checkPassed(_ position: Position) {
        let before = cluster[position.place].committed ?? 0
        if position.offset < before {
            checkers.fail("\(cluster.name(position.place)): a follower goes back from \(before) to \(position.offset)")
        }
        var passed = [before..<max(before, position.offset)]
        if !position.metadata.isEmpty {
            let identity = PartitionIdentity(
                cluster: SimulatedCluster.identity, topic: cluster.topics[position.place.topic],
                partition: Int32(position.place.partition))
            let map = CompletionMap(text: position.metadata, committed: position.offset, of: identity)
            if map == nil { checkers.fail("the note with a follower's offset can't be read") }
            passed += map?.done ?? []
        }
        for range in passed {
            for offset in range where cluster.isData(position.place, offset) {
                let name = RecordName(place: position.place, offset: offset)
                guard let record = cluster.record(name) else {
                    checkers.fail("a follower passes \(checkers.text(name)), which is not there yet")
                    break
                }
                guard let message = record.message, checkers.told[message] == nil else { continue }
                checkers.fail("a follower passes \(checkers.text(name)), and message \(message) is not told")
            }
        }
    }

    /// Checks at the end that each message has as much feedback as visible results.
    func checkFeedback() {
        guard !followers.isEmpty else { return }
        var named: [String: Int] = [:]
        for place in resultPlaces {
            var offset: Int64 = 0
            while cluster.seek(place, from: &offset) {
                if let message = cluster[place].records[Int(offset)].message { named[message, default: 0] += 1 }
                offset += 1
            }
        }
        var read: [String: Int] = [:]
        for partition in 0..<cluster.partitions {
            let place = Place(topic: workersTopics, partition: partition)
            var offset: Int64 = 0
            while cluster.seek(place, from: &offset) {
                let value = cluster[place].records[Int(offset)].value ?? []
                if case .notification(let feedback)? = try? FeedbackRecord(decoding: value) {
                    read[feedback.backendID, default: 0] += 1
                }
                offset += 1
            }
        }
        for (message, count) in named.sorted(by: { $0.key < $1.key }) where read[message] != count {
            checkers.fail("message \(message) is told \(read[message] ?? 0) times, and \(count) results name it")
        }
        for message in read.keys.sorted() where named[message] == nil {
            checkers.fail("message \(message) is told, and no result names it")
        }
    }
}
