import HeraldBackend
import HeraldCommandLine
import HeraldCore
import HeraldEvents
import HeraldKernel
import HeraldSettings
import HeraldText
import HeraldTime
import HeraldTools
import HeraldWorker

extension Settings {
    var topicNames: HeraldEvents.Topics {
        var names = HeraldEvents.Topics()
        names.requests = topics.requests.map(\.name)
        names.results = topics.results
        names.feedback = topics.feedback
        names.retry = topics.retry
        names.deadLetter = topics.deadLetter
        names.campaigns = topics.campaigns
        names.audiences = topics.audiences
        names.state = topics.state
        names.audit = topics.audit
        names.preferences = topics.preferences
        names.recalls = topics.recalls
        names.caps = topics.caps
        return names
    }

    func pushServices() throws -> PushServices {
        let names = backend.pushServices
        let aliases = backend.aliases.filter { alias, name in names.contains(name) && !names.contains(alias) }
        return try PushServices(names: names, aliases: aliases)
    }

    func recordDecoder() throws -> RecordDecoder {
        RecordDecoder(
            pushServices: try pushServices(), maxEventBytes: limits.eventBytes, requestTopics: topicNames.requests,
            users: backend.users)
    }

    /// The push services that an option names, aliases resolved, each once.
    func pushServices(_ names: [String], of option: String, in command: ParsedCommand) throws -> [String] {
        let known = try pushServices()
        var resolved: [String] = []
        for name in names {
            guard let index = known.index(of: Array(name.utf8).span.bytes) else {
                throw command.mistake(
                    "--\(option): \(SafeText.quoted(name, limit: 40)) is none of \(known.names.joined(separator: ", "))"
                )
            }
            if !resolved.contains(known.names[index]) { resolved.append(known.names[index]) }
        }
        return resolved
    }

    /// What the worker's lanes need, divided among them.
    func workerConfiguration(descriptors: Int) throws -> WorkerConfiguration {
        // Its own unless it was given: two workers that share a transactional id fence each other.
        let instance = kafka.instance ?? String(UInt64.random(in: .min ... .max), radix: 36)
        let seed = UInt64.random(in: .min ... .max)
        let lastWord = try lastWord(seed: seed)
        let lanes = try laneSettings(descriptors: descriptors).enumerated().map { number, live in
            let backend = try target.configuration(connectionLimit: live.connectionLimit)
            return LaneConfiguration(
                number: number, consumerProperties: KafkaClientSettings.consumer(self, lane: number),
                readerProperties: KafkaClientSettings.campaignReader(self),
                producerProperties: KafkaClientSettings.producer(self, lane: number, instance: instance),
                requestWeights: topics.requests.map(\.weight),
                engine: try engineConfiguration(live.engine, backend.target, seed: seed, lastWord?.table),
                backend: backend)
        }
        var configuration = WorkerConfiguration(
            lanes: lanes, readBackendAgain: readingBackendAgain(connectionLimit: 1),
            adminProperties: KafkaClientSettings.common(self),
            needsTransactions: delivery.guarantee == .atomic,
            requiredTopics: topicNames.requests + [topicNames.results]
                + retry.delays.map(topicNames.retryTopic) + [topicNames.deadLetter],
            wishes: topicWishes,
            campaigns: CampaignConfiguration(
                topic: topics.campaigns, worker: "worker \(instance) on \(Operator.hostName())",
                readerProperties: KafkaClientSettings.campaignReader(self),
                writerProperties: KafkaClientSettings.publisher(self),
                audit: { [topic = topics.audit] campaign, control in
                    let entry = AuditEntry(pause: control, of: campaign)
                    return (topic, Array(entry.by.utf8), entry.encoded())
                }))
        configuration.lastWord = lastWord
        return configuration
    }

    /// The following of opt-outs and recalls, with the table that all lanes read; `nil` when that is off.
    private func lastWord(seed: UInt64) throws -> LastWordConfiguration? {
        guard preferences.enabled else { return nil }
        let (services, maxLag) = (try pushServices(), Milliseconds(preferences.maxLag))
        let kept = try keptNames()
        let keptName = kept.map { names -> @Sendable (RawSpan) -> [UInt8] in { names.key(of: $0) } }
        var configuration = LastWordConfiguration(
            table: LastWord(
                hashSeed: seed, pushServices: services, maxLag: maxLag, rules: try quietRules(), keptName: keptName),
            maxLag: maxLag,
            pushServices: services, preferencesTopic: topics.preferences, recallsTopic: topics.recalls,
            readerProperties: KafkaClientSettings.wordReader(self))
        if !preferences.caps.isEmpty {
            configuration.caps = CapConfiguration(
                topic: topics.caps, readerProperties: KafkaClientSettings.wordReader(self))
        }
        return configuration
    }

    /// Checks what a worker reads at its start to obey users' words.
    func checkLastWord() throws {
        _ = try keptNames()
        if preferences.enabled { _ = try quietRules() }
    }

    /// How quiet hours are read, with the system's time zones.
    private func quietRules() throws -> QuietRules {
        var rules = QuietRules()
        do {
            rules.zones = try ZoneFolder.read()
        } catch {
            throw CommandFailure("preferences.enabled: \(ZoneFolder.path) \(error)", status: .badSettings)
        }
        if let name = preferences.defaultZone {
            rules.defaultZone = rules.zones.number(of: name)
            guard rules.defaultZone != nil else {
                throw CommandFailure(
                    "preferences.defaultZone: \(SafeText.quoted(name)) is no time zone of \(ZoneFolder.path); names are as "
                        + "Europe/Berlin",
                    status: .badSettings)
            }
        }
        rules.spread = Milliseconds(preferences.spread)
        return rules
    }

    /// The settings of lanes that may change while they work, each with its share.
    func laneSettings(descriptors: Int) -> [LaneSettings] {
        let lanes = delivery.lanes
        var live = LiveConfiguration()
        live.callsPerSecond = limits.perSecond.map { Double($0) / Double(lanes) }
        live.serviceCallsPerSecond = backend.pushServices.map { name in
            limits.pushServices[name].map { Double($0) / Double(lanes) }
        }
        live.breaker = BreakerRule(share: outages.breaker.share, of: Self.share(of: outages.breaker.of, lanes: lanes))
        live.deadLetterBreaker = BreakerRule(
            share: outages.deadLetterBreaker.share, of: Self.share(of: outages.deadLetterBreaker.of, lanes: lanes))
        live.statuses = statusTable
        let connections = connectionLimit(descriptors: descriptors)
        return (0..<lanes).map { lane in
            live.maxInFlight = share(of: delivery.maxInFlight, lane: lane)
            return LaneSettings(engine: live, connectionLimit: share(of: connections, lane: lane))
        }
    }

    var statusTable: StatusTable { StatusTable(overrides: backend.statuses) }

    /// How many connections to the backend there are at most, of the process: as the settings say, and as many as there
    /// are descriptors for beside those that the brokers, files and scrapers need.
    func connectionLimit(descriptors: Int) -> Int {
        min(wantedConnections, max(descriptors - 64 - 32 * delivery.lanes, delivery.lanes))
    }

    /// Connections of the process, if there are descriptors enough.
    var wantedConnections: Int { backend.connections == 0 ? delivery.maxInFlight : backend.connections }

    private func engineConfiguration(
        _ live: LiveConfiguration, _ target: any Target, seed: UInt64, _ lastWord: LastWord?
    ) throws -> EngineConfiguration {
        var engine = EngineConfiguration(decoder: try recordDecoder())
        engine.topics = topicNames
        engine.retryDelays = retry.delays
        engine.ordering = delivery.ordering
        engine.isAtomic = delivery.guarantee == .atomic
        engine.transactionTimeout = KafkaClientSettings.transactionTimeout(self)
        engine.blockedAfter = max(engine.blockedAfter, Milliseconds(backend.timeout) * 3 / 2)
        engine.maxBufferedBytes = max(limits.eventBytes, engine.maxBufferedBytes / delivery.lanes)
        engine.duplicateWindow = Milliseconds(delivery.dedupe.window)
        engine.duplicateSize = delivery.dedupe.window == .zero ? 0 : delivery.dedupe.size / delivery.lanes
        engine.live = live
        engine.commitInterval = Milliseconds(delivery.commitInterval)
        // With rare commits calls are unrecorded for as long: they would wait for every commit.
        engine.maxUnrecorded = Milliseconds(max(delivery.maxUnrecorded, delivery.commitInterval * 2))
        engine.drainTimeout = Milliseconds(delivery.drainTimeout)
        engine.retry = retryPolicy
        engine.maxReplays = retry.replays
        engine.repeatsUnanswered = target.repeatsUnanswered
        engine.keepsBackendIDs = target.keepsMessageIDs
        engine.carriedContent = backend.pushServices.map(target.carries(to:))
        engine.hashSeed = seed
        engine.lastWord = lastWord
        engine.caps = preferences.caps
        engine.classes = topics.requests.map { topics.classes[$0.name] ?? .transactional }
        return engine
    }

    /// One lane's part of a number of calls that is judged; nothing stays nothing.
    private static func share(of total: Int, lanes: Int) -> Int { (total + lanes - 1) / lanes }

    /// One lane's part of what belongs to the process, at least 1.
    private func share(of total: Int, lane: Int) -> Int {
        max(1, total / delivery.lanes + (lane < total % delivery.lanes ? 1 : 0))
    }
}

extension Settings {
    /// When a call that failed for now is made again: what workers do, and what `herald explain` says that they will do.
    var retryPolicy: RetryPolicy {
        RetryPolicy(
            immediate: retry.immediate, delays: retry.delays.map(\.length),
            maxElapsed: Milliseconds(retry.maxElapsed))
    }
}
