internal import CEpoll
internal import HeraldBytes
internal import HeraldDriver
internal import HeraldEvents
internal import HeraldKafka
import HeraldTime
internal import HeraldTools

extension BrokerExaminer {
    private static let wordsTime = Milliseconds.seconds(3)

    /// Reads what users have said, for some seconds at most, and says what workers cannot obey.
    func examineWords() -> StageReport {
        let name = plan.topics.names.preferences
        guard let words = plan.words, let topic = topics.first(where: { $0.name == name }) else {
            return StageReport([])
        }
        guard !timeLeft.isOver else { return StageReport(.words, name, .skipped, "there is no time left for it") }
        var judgement = WordsJudgement(words)
        do throws(KafkaError) {
            let isWhole = try readWords(topic) { judgement.look(at: $0) }
            return StageReport(
                judgement.checks(of: name, partitions: topic.partitions.count, isWhole: isWhole), isDeadEnd: false)
        } catch {
            return StageReport(.words, name, .skipped, "it could not be read: \(error.wordsInFull)")
        }
    }

    /// Whether the topic was read to its end.
    private func readWords(
        _ topic: ClusterMetadata.Topic, _ body: (Message) -> Void
    ) throws(KafkaError) -> Bool {
        let limit = timeLeft.step(atMost: Self.wordsTime)
        let end = ContinuousClock.now + limit.duration
        let reader = try TopicReader(
            properties: plan.committedReaderProperties, patience: limit.duration, questions: limit.duration)
        clients.topicReaders.append(reader)
        let places = topic.partitions.map { TopicPartition(topic: topic.name, partition: $0.id) }
        try reader.begin(Dictionary(places.map { ($0, .beginning) }) { $1 }, to: .committed)
        while ContinuousClock.now < end {
            switch try reader.next(wait: .milliseconds(50)) {
            case .end: return true
            case .nothing: continue
            case .record(let message):
                body(message)
                message.release()
            }
        }
        return false
    }

    /// Compares this machine's clock with those of the workers, and asks the system whether anything sets it.
    func examineClocks() -> StageReport {
        var checks = answering.compactMap { address -> Check? in
            guard !timeLeft.isOver, let lag = WorkerSurvey.clockLag(of: address) else { return nil }
            return ClockJudgement.check(worker: address, lag: lag)
        }
        if plan.words != nil { checks.append(ClockJudgement.check(isSet: ClockJudgement.isSet)) }
        return StageReport(checks, isDeadEnd: false)
    }
}

extension ClockJudgement {
    /// Whether a time service keeps this machine's clock; `nil` when the system does not say.
    static var isSet: Bool? {
        let answer = herald_is_clock_set()
        return answer < 0 ? nil : answer == 1
    }

    /// - Parameter isSet: that of ``isSet``.
    static func check(isSet: Bool?) -> Check {
        switch isSet {
        case true?: Check(.clocks, "this machine", .passed, "a time service keeps the clock")
        case false?:
            Check(
                .clocks, "this machine", .warning,
                "no time service keeps the clock, as the system says (adjtimex), and quiet hours go by it",
                fix:
                    "run chrony or systemd-timesyncd, here and where workers run; nothing if the host of this container does"
            )
        case nil:
            Check(.clocks, "this machine", .skipped, "the system does not say whether a time service keeps the clock")
        }
    }

    /// What is wrong with a worker's clock; `nil` when it agrees with this machine's.
    ///
    /// - Parameter lag: how far it is behind, exact to a second.
    static func check(worker address: String, lag: Milliseconds) -> Check? {
        let size = abs(lag.count) / 1_000
        guard size > warnSeconds else { return nil }
        return Check(
            .clocks, address, size > failSeconds ? .failed : .warning,
            "the worker's is \(size) s \(lag > .zero ? "behind" : "ahead of") this machine's (its Date header, ±1 s)",
            fix: "set both clocks by NTP: due times, expiry and quiet hours rest on them")
    }
}

/// What the records of the preferences topic tell of users' words.
struct WordsJudgement {
    private let plan: BrokerPlan.WordsPlan
    private var reader: PreferenceReader
    private(set) var seen = 0
    /// By hashes of users, the places of the last records that are broken, with what is wrong.
    private var broken: [Int: (place: String, problem: String)] = [:]
    private var unknownZones: [Int: (place: String, problem: String)] = [:]
    private var unnamedZones: Set<Int> = []
    private var kept: Set<Int> = []

    init(_ plan: BrokerPlan.WordsPlan) {
        self.plan = plan
        reader = PreferenceReader(pushServices: plan.pushServices)
    }

    mutating func look(at message: Message) {
        guard let key = message.keyCopy else { return }
        look(at: message.valueCopy, of: key, place: "\(message.partition):\(message.offset)")
    }

    mutating func look(at value: [UInt8]?, of key: [UInt8], place: String) {
        seen += 1
        let hash = key.hashValue
        (broken[hash], unknownZones[hash]) = (nil, nil)
        unnamedZones.remove(hash)
        kept.remove(hash)
        guard let value else { return }
        let reading = reader.read(value.span.bytes)
        if Preference.isKept(under: key.span.bytes) {
            kept.insert(hash)
            return
        }
        if let problem = reading.problem { broken[hash] = (place, problem) }
        guard reading.isSound, let quiet = reading.quiet else { return }
        if let problem = quiet.zoneProblem(among: plan.zones) { unknownZones[hash] = (place, problem) }
        if quiet.zone == nil { unnamedZones.insert(hash) }
    }

    /// - Parameter isWhole: whether the topic was read to its end.
    func checks(of topic: String, partitions: Int, isWhole: Bool) -> [Check] {
        var checks: [Check] = []
        if partitions > 1 {
            checks.append(
                Check(
                    .words, topic, .warning,
                    "it has \(partitions) partitions: of two writers that choose a user's partition otherwise, either may "
                        + "count, and what is kept of forgotten users is not found",
                    fix: "make the topic anew with one partition (herald topics apply), and write the words again"))
        }
        if !kept.isEmpty, !plan.hasSecret {
            checks.append(
                Check(
                    .words, topic, .failed,
                    "\(counted(kept.count, "opt-out")) of forgotten users \(kept.count == 1 ? "is" : "are") kept, and workers "
                        + "with these settings call these users, because preferences.forgetKeyFile is not set",
                    fix: "give every worker, the console and this command the secret (preferences.forgetKeyFile)"))
        }
        if let first = first(of: broken) {
            checks.append(
                Check(
                    .words, topic, .warning,
                    "\(counted(broken.count, "user's word", "users' words")) \(broken.count == 1 ? "is" : "are") broken, the first at "
                        + "\(first.place): it \(first.problem)",
                    fix: "write a sound one: herald preferences set, or the service of users' settings"))
        }
        if let first = first(of: unknownZones) {
            checks.append(
                Check(
                    .words, topic, .warning,
                    "the quiet hours of \(counted(unknownZones.count, "user")) hold nothing, the first at \(first.place): "
                        + first.problem,
                    fix: "correct the zone where it is written, or install tzdata that has it on each worker"))
        }
        if !unnamedZones.isEmpty, !plan.hasDefaultZone {
            checks.append(
                Check(
                    .words, topic, .warning,
                    "the quiet hours of \(counted(unnamedZones.count, "user")) name no zone, and hold only events that name one",
                    fix: "set preferences.defaultZone"))
        }
        guard isWhole, checks.isEmpty else {
            let part = "only the first \(seen) records were read, in the time that there was"
            return isWhole ? checks : checks + [Check(.words, topic, .skipped, part)]
        }
        return [Check(.words, topic, .passed, "\(counted(seen, "record")), and workers can obey each user's last")]
    }

    private func first(of faulty: [Int: (place: String, problem: String)]) -> (place: String, problem: String)? {
        // Records are told apart by places; which comes first matters to nobody, but has to be the same each time.
        faulty.values.min { ($0.place.count, $0.place) < ($1.place.count, $1.place) }
    }

    private func counted(_ count: Int, _ one: String, _ many: String? = nil) -> String {
        "\(count) \(count == 1 ? one : many ?? one + "s")"
    }
}
