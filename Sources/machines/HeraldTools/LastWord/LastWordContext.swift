internal import HeraldBytes
internal import HeraldDriver
package import HeraldEvents
package import HeraldKafka
package import HeraldTime

/// The topics of opt-outs and recalls as commands see them: what users said, and who changes it.
package struct LastWordContext: Sendable {
    package var topics: Topics
    package var pushServices: PushServices
    /// Those of request topics that are not transactional.
    package var classes: [String: EventClass]
    /// librdkafka's properties for readers: `read_committed`, end-of-partition events, the workers' group, which is not joined.
    package var readerProperties: ClientProperties
    /// librdkafka's properties for a plain producer.
    package var writerProperties: ClientProperties
    /// Who runs this: a user and a machine.
    package var operatorName: String
    /// The names under which opt-outs outlive their users' erasure; `nil` when nothing is kept.
    package let kept: KeptNames?
    /// Whether what stands against events is told without what users said, and when: the console shows that to those alone
    /// of whom the audit has that they looked.
    package var isDiscreet = false

    package init(
        topics: Topics, pushServices: PushServices, classes: [String: EventClass] = [:],
        readerProperties: ClientProperties, writerProperties: ClientProperties, operatorName: String,
        kept: KeptNames? = nil
    ) {
        self.classes = classes
        self.kept = kept
        self.topics = topics
        self.pushServices = pushServices
        self.readerProperties = readerProperties
        self.writerProperties = writerProperties
        self.operatorName = operatorName
    }

    /// A user's word as the topic has it.
    package struct Entry: Sendable {
        package var preference: Preference
        /// What is wrong with the record, as a continuation of "the record"; `nil` for a sound one.
        package var problem: String?
        /// Whether the user was forgotten, and this is what was kept.
        package var isKept = false
        /// Where it stands; `nil` for one that was just written.
        package var place: Place?

        package init(
            preference: Preference, problem: String? = nil, isKept: Bool = false, place: Place? = nil
        ) {
            (self.preference, self.problem, self.isKept, self.place) = (preference, problem, isKept, place)
        }

        /// When it was said: by itself, or else by its record's time stamp.
        package var saidAt: WallTime? { preference.updatedAt ?? place?.at }
    }

    /// A record of the preferences topic.
    package struct Place: Equatable, Sendable, CustomStringConvertible {
        package var partition: Int32
        package var offset: Int64
        /// Its time stamp; `nil` without one.
        package var at: WallTime?

        package init(partition: Int32, offset: Int64, at: WallTime?) {
            (self.partition, self.offset, self.at) = (partition, offset, at)
        }

        fileprivate init(of message: Message) {
            let stamp = message.timestampMilliseconds
            self.init(
                partition: message.partition, offset: message.offset,
                at: stamp < 0 ? nil : WallTime(milliseconds: stamp))
        }

        package var description: String { "partition \(partition), offset \(offset)" }
    }

    /// The partitions of a topic, which has to be there.
    ///
    /// - Parameter isWriting: whether the audit topic has to be there too.
    package func partitions(
        of topic: String, isWriting: Bool, reach: ClusterReach, admin: Admin
    ) throws -> [Int32] {
        var partitions: [Int32] = []
        for found in try reach.topics([topic] + (isWriting ? [topics.audit] : []), admin).topics {
            if let error = found.error { throw ToolFailure(topic: found.name, error, allow: .read) }
            if found.name == topic { partitions = found.partitions.map(\.id) }
        }
        return partitions
    }

    /// Finds a user's word: reads the whole topic.
    ///
    /// A broken record counts as workers have it: what was understood of it is added to the former opt-out that the topic still
    /// has, or, without any, to one of promotional.
    ///
    /// - Parameter onProgress: called now and then with how many of how many records were passed; `false` ends it.
    /// - Returns: `nil` when the user has said nothing, or is forgotten.
    package func word(
        of user: String, reach: ClusterReach, admin: Admin, onProgress: (Int64, Int64) -> Bool
    ) throws -> Entry? {
        try look(at: user, reach: reach, admin: admin, onProgress: onProgress).word
    }

    /// The same, and how many words of forgotten users there are of which nobody can say whose they are: the settings name
    /// no `preferences.forgetKeyFile`.
    package func look(
        at user: String, reach: ClusterReach, admin: Admin, onProgress: (Int64, Int64) -> Bool
    ) throws -> (word: Entry?, hidden: Int) {
        let reading = try reading(of: [user], reach: reach, admin: admin, onProgress: onProgress)
        return (reading.words[user], reading.hiddenCount)
    }

    private func reading(
        of users: [String], reach: ClusterReach, admin: Admin, onProgress: (Int64, Int64) -> Bool
    ) throws -> WordReading {
        var reading = WordReading(of: users, kept: kept, pushServices: pushServices)
        guard !users.isEmpty else { return reading }
        try readAll(of: topics.preferences, reach, admin, onProgress) { message in
            guard let key = message.keyCopy else { return }
            reading.take(key: key, value: message.valueCopy, at: Place(of: message))
        }
        return reading
    }

    /// What users and recalls say now about events: reads both topics, for some seconds at most.
    ///
    /// - Throws: also when that is not enough to read them to their ends.
    package func standing(
        about events: [StandingWords.Event], reach: ClusterReach, admin: Admin
    ) throws -> StandingWords {
        let end = ContinuousClock.now + Self.patience
        let isInTime = { (_: Int64, _: Int64) in ContinuousClock.now < end }
        let recalls = try recalls(
            of: Array(Set(events.flatMap(\.subjects))), reach: reach, admin: admin, onProgress: isInTime)
        let words = try reading(
            of: Array(Set(events.map(\.user))), reach: reach, admin: admin, onProgress: isInTime
        ).words
        return StandingWords(
            words, recalls, pushServices: pushServices, classes: classes, isDiscreet: isDiscreet)
    }

    /// Which of these campaigns are recalled, by their names.
    package func recalls(
        ofCampaigns names: [String], reach: ClusterReach, admin: Admin
    ) throws -> [String: Recall] {
        let end = ContinuousClock.now + Self.patience
        let recalls = try recalls(of: names.map { .campaign($0) }, reach: reach, admin: admin) { _, _ in
            ContinuousClock.now < end
        }
        return names.reduce(into: [:]) { found, name in found[name] = recalls[.campaign(name)] }
    }

    /// Whoever asks where an event stands does not wait for ten million words.
    private static let patience = Duration.seconds(10)

    /// What holds for those of many users who have said something, or of whom something is kept.
    package func words(
        of users: UserHashes, reach: ClusterReach, admin: Admin, onProgress: (Int64, Int64) -> Bool
    ) throws -> ManyWords {
        var words = ManyWords(of: users, pushServices: pushServices)
        try readAll(of: topics.preferences, reach, admin, onProgress) { message in
            if let key = message.keyCopy { words.take(key: key, value: message.valueCopy) }
        }
        return words
    }

    /// Finds out whether something is recalled: reads the whole topic.
    ///
    /// - Returns: `nil` when it is not.
    package func recall(
        of subject: Recall.Subject, reach: ClusterReach, admin: Admin, onProgress: (Int64, Int64) -> Bool
    ) throws -> Recall? {
        try recalls(of: [subject], reach: reach, admin: admin, onProgress: onProgress)[subject]
    }

    /// The recalls of several subjects; those that are not recalled are left out.
    private func recalls(
        of subjects: [Recall.Subject], reach: ClusterReach, admin: Admin, onProgress: (Int64, Int64) -> Bool
    ) throws -> [Recall.Subject: Recall] {
        var recalls: [Recall.Subject: Recall] = [:]
        try read(subjects.map(\.key), in: topics.recalls, reach, admin, onProgress) { index, value in
            recalls[subjects[index]] = value.map { Recall.reading($0.span.bytes).recall }
        }
        return recalls
    }

    /// Reads all records of some keys, in their order; each with the index of its key.
    private func read(
        _ keys: [[UInt8]], in topic: String, _ reach: ClusterReach, _ admin: Admin,
        _ onProgress: (Int64, Int64) -> Bool, _ body: (Int, [UInt8]?) -> Void
    ) throws {
        guard !keys.isEmpty else { return }
        let places = Dictionary(zip(keys, keys.indices)) { first, _ in first }
        try readAll(of: topic, reach, admin, onProgress) { message in
            guard let index = message.keyCopy.flatMap({ places[$0] }) else { return }
            body(index, message.valueCopy)
        }
    }

    private func readAll(
        of topic: String, _ reach: ClusterReach, _ admin: Admin, _ onProgress: (Int64, Int64) -> Bool,
        _ body: (Message) -> Void
    ) throws {
        let partitions = try partitions(of: topic, isWriting: false, reach: reach, admin: admin)
        let reader = try TopicReader(properties: readerProperties, topic: topic, partitions: partitions)
        defer { reader.close() }
        let isWhole = try reader.catchUp(to: .written, onProgress: onProgress) { body($0) }
        // An older value must not stand for the newest.
        guard isWhole else { throw ToolFailure("the reading of \(topic) was ended before its end") }
    }

    /// Writes what a user wants from now on, and returns when the brokers have it.
    ///
    /// - Parameters:
    ///   - former: What stands there; what is not changed of it stays.
    ///   - change: What is different from now on.
    /// - Returns: What stands there now.
    package func set(
        _ user: String, insteadOf former: Entry?, reason: String?, _ change: (inout Preference) -> Void
    ) throws -> Entry {
        let now = SystemClock.wall()
        var word = former?.preference ?? Preference(OptOut())
        change(&word)
        (word.updatedAt, word.by) = (now, operatorName)
        let written = Entry(preference: word, problem: nil)
        var entry = audit("preferences.set", reason: reason, at: now.text)
        entry.selection = audited(user)
        entry.options = ["is": Self.words(written), "was": Self.words(former)]
        try write(
            to: topics.preferences, key: Array(user.utf8), value: word.encoded(), entry,
            otherwise: "what the user said stays as it is")
        return written
    }

    /// Deletes a user's record, and returns when the brokers have that; the audit does not name the user.
    ///
    /// With a secret the opt-out is kept before, without the user's name.
    ///
    /// - Parameter former: what stands there.
    package func forget(_ user: String, _ former: Entry?, reason: String?) throws {
        // What was kept of an earlier time stays; another word has taken its place.
        if let kept, let former, !former.isKept {
            let optOut = former.preference.optOut
            let value = optOut.isEmpty ? nil : Preference(optOut).encoded()
            let key = kept.key(of: user.utf8.span.bytes)
            do throws(KafkaError) {
                let record = OutgoingRecord(topic: topics.preferences, key: key, value: value)
                if let error = try PlainWriter.write([record], properties: writerProperties)[0] { throw error }
            } catch {
                throw ToolFailure(
                    "the record stays as it is", error, allow: KafkaPermission(.write, on: .topic(topics.preferences)))
            }
        }
        let entry = audit("preferences.forget", reason: reason, at: SystemClock.wall().text)
        try write(
            to: topics.preferences, key: Array(user.utf8), value: nil, entry,
            otherwise: "the record stays as it is")
    }

    /// Recalls something, or withdraws that, and returns when the brokers have it.
    package func recall(_ subject: Recall.Subject, isWithdrawn: Bool = false, reason: String?) throws {
        let now = SystemClock.wall()
        var entry = audit(isWithdrawn ? "recall.withdraw" : "recall", reason: reason, at: now.text)
        entry.selection = subject.words
        try write(
            to: topics.recalls, key: subject.key,
            value: isWithdrawn ? nil : Recall(at: now, by: operatorName, reason: reason).encoded(), entry,
            otherwise: isWithdrawn ? "the recall stays" : "nothing is recalled")
    }

    /// What holds for a user, in a word or two for people.
    package static func words(_ entry: Entry?) -> String {
        guard let entry else { return "nothing (the user gets everything)" }
        let quiet = entry.preference.quiet.map { "; quiet \($0.text)" } ?? ""
        return entry.preference.optOut.words + quiet + (entry.problem.map { " (the record \($0))" } ?? "")
            + (entry.isKept ? " (kept of a forgotten user, without the name)" : "")
    }

    /// Writes one record and the audit's, and returns when the brokers have both.
    ///
    /// - Parameter consequence: what is so when the record was not written.
    private func write(
        to topic: String, key: [UInt8], value: [UInt8]?, _ entry: AuditEntry, otherwise consequence: String
    ) throws {
        let records = [OutgoingRecord(topic: topic, key: key, value: value), entry.record(topic: topics.audit)]
        let failures: [Int: KafkaError]
        do throws(KafkaError) {
            failures = try PlainWriter.write(records, properties: writerProperties)
        } catch {
            throw ToolFailure(
                "it is not known whether that was written", error,
                allow: KafkaPermission(.write, on: .topic(topic), .topic(topics.audit)))
        }
        if let error = failures[0] {
            throw ToolFailure(consequence, error, allow: KafkaPermission(.write, on: .topic(topic)))
        }
        if let error = failures[1] {
            throw ToolFailure(
                "it is written, but \(topics.audit) does not say by whom", error,
                allow: KafkaPermission(.write, on: .topic(topics.audit)))
        }
    }

    /// Writes an entry of the audit, and returns when the brokers have it.
    package func record(_ entry: AuditEntry) throws {
        do throws(KafkaError) {
            let failures = try PlainWriter.write([entry.record(topic: topics.audit)], properties: writerProperties)
            if let error = failures[0] { throw error }
        } catch {
            throw ToolFailure(
                "\(topics.audit) does not take who does this", error,
                allow: KafkaPermission(.write, on: .topic(topics.audit)))
        }
    }

    /// Writes down that the operator sees what a user has said.
    package func recordReveal(of user: String) throws {
        var entry = audit("preferences.reveal", reason: nil, at: SystemClock.wall().text)
        entry.selection = audited(user)
        try entry.recordReveal(topic: topics.audit, properties: writerProperties)
    }

    /// A user's name in the audit, which outlives an erasure: with a secret the one under which an opt-out is kept.
    private func audited(_ user: String) -> String {
        kept.map { String(decoding: $0.key(of: user.utf8.span.bytes), as: UTF8.self) } ?? user
    }

    /// An entry of the audit by this operator.
    package func audit(_ action: String, phase: String = "done", reason: String?, at moment: String) -> AuditEntry {
        var entry = AuditEntry(action: action, phase: phase, at: moment, by: operatorName)
        entry.reason = reason
        return entry
    }
}

extension LastWordContext.Entry {
    /// What a record's value comes to, as workers have it.
    init(_ value: [UInt8], after former: Self?, pushServices: PushServices) {
        (preference, problem) = Preference.reading(value.span.bytes, pushServices: pushServices)
        guard problem != nil else { return }
        if let optOut = former?.preference.optOut, !optOut.isEmpty {
            preference.optOut.formUnion(optOut)
        } else {
            preference.optOut.isOfPromotional = true
        }
        preference.quiet = former?.preference.quiet
    }

    /// What is wrong with its record, as a sentence's end; `nil` for a sound one.
    package var fault: String? {
        problem.map { "the record" + (place.map { " at \($0)," } ?? "") + " \($0)" }
    }

    /// What is kept of a user who is forgotten, as a sentence's end.
    package static func kept(_ former: Self?) -> String {
        guard let former else { return "there is no word of this user, so that nothing is kept" }
        if former.isKept { return "that was so before, and what was kept without the name stays" }
        return former.preference.optOut.isEmpty
            ? "the user had opted out of nothing, so that nothing is kept" : "the opt-out is kept without the name"
    }

    /// What who changes it has to know: its record is broken, and what is not changed is the user's own word from then on.
    package var warning: String? {
        fault.map { fault in
            let quiet = preference.quiet.map { ", with the quiet hours \($0.text)" } ?? ""
            return
                "\(fault). It counts as an opt-out of \(preference.optOut.words)\(quiet). What this change does not name is "
                + "written like that, and is the user's own word from then on"
        }
    }
}

extension Recall {
    /// What its withdrawal does, in sentences with texts as they came.
    ///
    /// - Parameter left: the notifications without an outcome; `nil` when that is not known.
    package func withdrawal(of subject: Subject, left: Int?) -> String {
        let origin = (by.map { " by \($0)" } ?? "") + (at.map { " since \($0.text)" } ?? "")
        let open =
            switch left {
            case 0?: "nothing of it is left to be called"
            case 1?: "1 notification without an outcome may be called again"
            case let left?: "\(left) notifications without an outcome may be called again"
            case nil: "what has no outcome yet may be called again"
            }
        return
            "\(subject.words): the recall\(origin)\(reason.map { ": \($0)," } ?? "") is withdrawn: \(open). What is "
            + "published later is called; what ended meanwhile stays suppressed, and so does an event that comes again under "
            + "the same id within delivery.dedupe.window: send it under another id."
    }
}

extension Recall.Subject {
    /// It for people, and for the audit.
    package var words: String {
        switch self {
        case .campaign(let name): "campaign \(name)"
        case .event(let id, let user, let source): "event \(id) of \(user)" + (source.map { " from \($0)" } ?? "")
        }
    }
}

/// Writes many words, a bounded number of which is on its way at once.
///
/// One thread.
package final class WordWriter {
    private static let batch = 10_000
    private static let patience = Milliseconds.seconds(60)

    private let producer: Producer
    private let topic: String
    private var pending = 0
    package private(set) var writtenCount = 0

    /// A writer to this topic.
    package init(_ context: LastWordContext) throws {
        topic = context.topics.preferences
        do throws(KafkaError) {
            producer = try Producer(properties: context.writerProperties)
        } catch {
            throw ToolFailure(error)
        }
    }

    /// Writes a user's word; `nil` forgets it.
    package func write(_ preference: Preference?, of user: String) throws {
        do throws(KafkaError) {
            let record = OutgoingRecord(topic: topic, key: Array(user.utf8), value: preference?.encoded())
            if let error = try record.produce(with: producer, token: UInt64(pending)) { throw error }
        } catch {
            throw failure(error)
        }
        pending += 1
        if pending == Self.batch { try finish() }
    }

    /// Waits until the brokers have everything.
    package func finish() throws {
        guard pending > 0 else { return }
        var failed = 0
        var cause: KafkaError?
        do throws(KafkaError) {
            try producer.flush(timeout: Self.patience) { _, error in
                guard let error else { return }
                (failed, cause) = (failed + 1, cause ?? error)
            }
        } catch {
            throw failure(error)
        }
        writtenCount += pending - failed
        pending = 0
        if let cause { throw failure(cause) }
    }

    package func close() { producer.close() }

    private func failure(_ error: KafkaError) -> ToolFailure {
        ToolFailure(
            "\(writtenCount) words are written, and then it failed (importing the file again writes the same)", error,
            allow: KafkaPermission(.write, on: .topic(topic)))
    }
}
