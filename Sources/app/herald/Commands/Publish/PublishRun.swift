import HeraldCommandLine
import HeraldDriver
import HeraldEvents
import HeraldKafka
import HeraldReplay
import HeraldSettings
import HeraldText
import HeraldTime
import HeraldTimeline
import HeraldTools

/// One run of `herald publish`: checks all events, examines the topics, publishes, and waits.
struct PublishRun {
    /// Awaited events are kept in memory.
    private static let waitLimit = 100_000
    private static let shownFailures = 20
    private static let explanationPatience = Duration.seconds(5)
    private static let clockDifference = Milliseconds.minutes(5)

    private typealias Command = PublishCommand

    private let settings: Settings
    private let invocation: Invocation
    private let console: Console
    /// The event of the options; `nil` for those of a file.
    private let event: NotificationEvent?
    private let wait: Duration?
    private let isCheck: Bool
    private let topic: String
    private let idBase: String
    private var preparation: EventPreparation
    private var check: PublishCheck

    /// Refuses what is missing or does not go together.
    init(_ invocation: Invocation) throws {
        self.invocation = invocation
        console = invocation.console
        let parsed = invocation.parsed
        (wait, isCheck) = (parsed[Command.wait], parsed[Command.check])
        if isCheck, wait != nil { throw parsed.mistake("--check and --wait do not go together") }
        event = try Self.event(parsed)
        settings = try invocation.settings(requiring: isCheck ? [] : [.kafka])
        topic = parsed[Command.topic] ?? settings.topics.requests.first?.name ?? ""
        idBase = parsed[Command.id] ?? EventPreparation.randomID()
        let decoder = RecordDecoder(
            pushServices: try settings.pushServices(), maxEventBytes: settings.limits.eventBytes,
            users: settings.backend.users)
        preparation = EventPreparation(decoder: decoder, idBase: idBase)
        let names = settings.topicNames
        let others = [
            names.results, names.deadLetter, names.campaigns, names.audiences, names.state, names.audit,
            names.feedback, names.preferences, names.recalls, names.caps,
        ]
        if others.contains(topic) || names.delay(ofTopic: topic) != nil {
            throw parsed.mistake("\(topic) is no request topic: only Herald writes to it")
        }
        check = PublishCheck(
            isSingle: event != nil, isCheck: isCheck, decoder,
            formats: settings.backend.kind == .azureHub ? settings.backend.hubFormats : [:], invocation)
    }

    private static func event(_ parsed: ParsedCommand) throws -> NotificationEvent? {
        if parsed[Command.file] != nil {
            let others: [any DeclaredOption] =
                [
                    Command.user, Command.pushServices, Command.message, Command.source, Command.campaign,
                    Command.eventClass, Command.zone, Command.expiresIn, Command.expiresAt, Command.notBefore,
                ] + ContentOptions.all
            guard let other = others.first(where: parsed.has)?.declaration else { return nil }
            throw parsed.mistake("--file and --\(other.name) do not go together")
        }
        guard let user = parsed[Command.user], let services = parsed[Command.pushServices],
            let message = parsed[Command.message]
        else { throw parsed.mistake("--user, --pns and --message are needed, or --file") }
        var expiresAt = parsed[Command.expiresAt]
        if let after = parsed[Command.expiresIn] {
            guard expiresAt == nil else { throw parsed.mistake("--expires-in and --expires-at do not go together") }
            expiresAt = SystemClock.wall().advanced(by: Milliseconds(after))
        }
        var event = NotificationEvent(
            id: parsed[Command.id], user: user, message: message, pushServices: services,
            source: parsed[Command.source], campaign: parsed[Command.campaign], expiresAt: expiresAt,
            notBefore: parsed[Command.notBefore])
        (event.eventClass, event.zone) = (parsed[Command.eventClass], parsed[Command.zone])
        if let zone = event.zone, let zones = try? ZoneFolder.read(), zones.number(of: zone) == nil {
            throw parsed.mistake(
                "--zone: \(SafeText.quoted(zone)) is no time zone that this machine knows; names are as Europe/Berlin")
        }
        try ContentOptions.add(to: &event, parsed)
        return event
    }

    mutating func run() throws -> ExitStatus {
        var file: LineFile?
        var single: PreparedEvent?
        if var event {
            event.id = event.id ?? idBase
            try check.look(at: event)
            do throws(InputError) {
                single = try preparation.prepare(event)
            } catch {
                throw CommandFailure("the event is \(Self.safe(error))", status: .usage)
            }
        } else {
            let lines = try LineFile(
                path: invocation.parsed[Command.file] ?? "-", copyingInto: invocation.temporaryDirectory)
            try check.look(at: lines)
            if wait != nil, check.goodCount > Self.waitLimit {
                throw CommandFailure(
                    "--wait follows at most \(Self.waitLimit) events, and there are \(check.goodCount); leave it out, or "
                        + "split the file", status: .usage)
            }
            file = lines
        }
        guard !isCheck else {
            console.remark(check.summary)
            return .done
        }
        let stop = try StopRequest.listen()
        let follower = try checkTopics()
        defer { follower?.close() }
        return try publish(single, file, follower, stop)
    }

    /// Checks before sending that the topics to write and read exist.
    private func checkTopics() throws -> ResultsReader? {
        let names = [topic] + (wait == nil ? [] : [settings.topics.results])
        let topics = try settings.clusterReach.topics(names, settings.adminClient()).topics
        for topic in topics {
            if let error = topic.error { throw missing(topic.name, error) }
        }
        if !settings.topics.requests.contains(where: { $0.name == topic }) {
            console.complain("warning: \(topic) is not in topics.requests: no worker with these settings reads it")
        }
        guard wait != nil, let results = topics.first(where: { $0.name == settings.topics.results }) else {
            return nil
        }
        return try ResultsReader(
            properties: KafkaClientSettings.resultsReader(settings), topic: results.name,
            partitions: results.partitions.map(\.id))
    }

    /// Reads what waits for users' quiet hours; `nil` where nothing does.
    private func retriesReader() throws -> RetriesReader? {
        guard settings.preferences.enabled else { return nil }
        let names = settings.retry.delays.map { settings.topicNames.retryTopic($0) }
        let topics = try settings.clusterReach.topics(names, settings.adminClient()).topics.filter { $0.error == nil }
        guard !topics.isEmpty else { return nil }
        return try RetriesReader(
            properties: KafkaClientSettings.resultsReader(settings),
            partitions: Dictionary(topics.map { ($0.name, $0.partitions.map(\.id)) }) { $1 })
    }

    private func missing(_ name: String, _ error: KafkaError) -> ToolFailure {
        let isKnown = settings.topicWishes.topicNames.contains(name)
        guard isKnown || error.kind != .unknownTopic else {
            return ToolFailure("there is no topic \(name); add it to topics.requests, then: herald topics apply")
        }
        return ToolFailure(topic: name, error, allow: name == topic ? .write : .read)
    }

    private mutating func publish(
        _ single: PreparedEvent?, _ file: LineFile?, _ follower: ResultsReader?, _ stop: StopRequest
    ) throws -> ExitStatus {
        var output = PublishOutput(
            invocation.format, hasLines: file != nil, hasOutcomes: follower != nil, console: console)
        var tracker = PublicationTracker(pushServices: preparation.pushServices)
        let began = SystemClock.wall()
        let retries = follower == nil ? nil : try retriesReader()
        defer { retries?.close() }
        // Publishing and waiting have limits of their own.
        stop.beginWork()
        let publisher = try EventPublisher(properties: KafkaClientSettings.publisher(settings), topic: topic)
        func published(_ publication: EventPublisher.Publication) {
            if follower == nil { output.write(publication) } else { tracker.expect(publication) }
        }
        if let single { _ = publisher.publish(single, onPublished: published) }
        if let file { try send(file, publisher, stop, published) }
        publisher.finish(onPublished: published)
        if let follower, let wait, publisher.publishedCount > 0 {
            console.remark(
                "\(TopicsTool.counted(publisher.publishedCount, "event")) published; waiting for the results, "
                    + "\(DurationText.format(wait)) at most")
            do {
                let isStopping = { stop.isMade }
                try follower.follow(&tracker, for: wait, retries, isStopping: isStopping) { output.write($0) }
            } catch {
                console.complain("herald: \(SafeText.escaped("\(error)"))")
            }
            for entry in tracker.missing { output.write(entry) }
        }
        try output.finish()
        if !output.omitted.isEmpty {
            console.remark(
                "Delivered without \(output.omitted.words): backend.body is text, or the push service has no place for it; "
                    + "-o json says where.")
        }
        if let entry = output.undelivered, !stop.isMade { explain(entry, since: began, stop) }
        if !publisher.failures.isEmpty { throw failure(of: publisher) }
        if stop.isMade { throw interruption(of: publisher) }
        if follower == nil { console.remark("\(TopicsTool.counted(publisher.publishedCount, "event")) published.") }
        return output.isAllDelivered ? .done : .partlyDone
    }

    /// Prints the reason why an event was not delivered, as far as records tell, and a command for more.
    private func explain(_ entry: PublicationTracker.Entry, since began: WallTime, _ stop: StopRequest) {
        let publication = entry.publication
        let id = publication.event.id ?? publication.place.description
        let why: String? =
            if let result = entry.result {
                [result.outcome.rawValue, result.reasonName, result.detail].compactMap(\.self).joined(
                    separator: ": ")
            } else if let end = entry.quietUntil {
                "pending, because it waits for the end of its user's quiet hours, \(end.text)"
            } else {
                lastCall(of: publication, entry.pushService, since: began, stop)
            }
        let words = why.map { ": \($0)" } ?? ", and no failure of it is recorded"
        console.remark(
            SafeText.escaped(
                "Not delivered: \(entry.pushService) of \(id)\(words). To know more: herald explain "
                    + "\(Selection.quoted(id)) --user \(Selection.quoted(publication.event.user))"
                    + (invocation.configuration.map { " --config \(Selection.quoted($0))" } ?? "")))
    }

    /// The result of the last call for an event without an outcome; `nil` when none is recorded.
    private func lastCall(
        of publication: EventPublisher.Publication, _ pushService: String, since began: WallTime, _ stop: StopRequest
    ) -> String? {
        let end = ContinuousClock.now + Self.explanationPatience
        // Brokers' clocks may be behind this one; an embedded broker finds nothing by time.
        for since in [began.advanced(by: -Self.clockDifference), nil] {
            var query = TimelineQuery(
                user: publication.event.user, id: publication.event.id ?? publication.place.description)
            query.since = since
            let found = try? settings.timelineSearch().run(
                query, reach: settings.clusterReach, admin: settings.adminClient()
            ) { _, _ in !stop.isMade && ContinuousClock.now < end }
            guard let event = found?.timelines.last(where: { $0.origin == publication.place }) else { continue }
            return event.steps.last { step in
                if case .called(let call) = step.kind { call.pushService == pushService } else { false }
            }?.words
        }
        return nil
    }

    private mutating func send(
        _ file: LineFile, _ publisher: EventPublisher, _ stop: StopRequest,
        _ published: (EventPublisher.Publication) -> Void
    ) throws {
        var preparation = preparation
        do {
            try file.forEachLine(longest: preparation.longestLine) { line in
                guard publisher.failures.isEmpty, !stop.isMade else { return }
                do throws(InputError) {
                    _ = publisher.publish(try preparation.prepare(line), onPublished: published)
                } catch {
                    throw ToolFailure("the file was changed while it was read: \(error)")
                }
            }
        } catch {
            publisher.finish(onPublished: published)
            throw CommandFailure(
                "\(SafeText.escaped("\(error)")); \(TopicsTool.counted(publisher.publishedCount, "event")) published",
                status: publisher.publishedCount > 0 ? .partlyDone : .failed)
        }
    }

    /// The failure after a signal: some events may not be published, others have no outcome yet.
    private func interruption(of publisher: EventPublisher) -> CommandFailure {
        let again = event?.id == nil ? "; publish it again with --id \(SafeText.escaped(idBase))" : ""
        return CommandFailure(
            "interrupted; \(TopicsTool.counted(publisher.publishedCount, "event")) published" + again,
            status: .partlyDone)
    }

    private func failure(of publisher: EventPublisher) -> CommandFailure {
        let failures = publisher.failures
        for failure in failures.prefix(Self.shownFailures) {
            let place = event != nil ? "the event" : "line \(failure.event.line)"
            console.complain(
                "\(place): \(Self.safe(failure.error.words))"
                    + failure.error.advice(KafkaPermission(.write, on: .topic(topic))))
        }
        if failures.count > Self.shownFailures {
            console.complain("and \(failures.count - Self.shownFailures) more")
        }
        let isSilent = failures.contains { $0.error.code == KafkaError.Code.messageTimedOut }
        let notice = publisher.takeNotices().last { $0.error != nil }
        let cause = notice?.error.map { " (\($0.words))" } ?? ""
        let again = failures.first?.event.id == nil ? "" : "; publish it again with --id \(SafeText.escaped(idBase))"
        let doubtfulCount = failures.count(where: \.wasSent)
        let doubt = doubtfulCount == 0 ? "" : ", \(doubtfulCount) more may be (they were sent, and got no answer)"
        let text = "\(TopicsTool.counted(publisher.publishedCount, "event")) published\(doubt), then it failed"
        guard isSilent else {
            let isPartlyDone = publisher.publishedCount + doubtfulCount > 0
            return CommandFailure(text + again, status: isPartlyDone ? .partlyDone : .failed)
        }
        return CommandFailure(
            ToolFailure(
                "\(text): no broker takes records\(cause)\(again)", kind: .unreachable, detail: notice?.text))
    }

    private static func safe(_ value: some CustomStringConvertible) -> String { SafeText.escaped(value.description) }
}
