import HeraldCore
import HeraldEvents
import HeraldKernel
import HeraldTime

/// A scenario in text form: `seed=3 workers=1 crashes=9`.
extension Scenario {
    /// The reason for which a text is no scenario.
    package struct TextError: Error, CustomStringConvertible {
        package let description: String
    }

    private typealias Path<Value> = any WritableKeyPath<Scenario, Value> & Sendable

    /// A setting that a text may name.
    private enum Field: Sendable {
        case flag(Path<Bool>)
        /// A number with a minimum.
        case count(Path<Int>, Int)
        case time(Path<Milliseconds>)
        /// A number, or `none`.
        case optional(Path<Double?>)
        /// Numbers, each of which may be `none`, with commas between them; an empty text is an empty list.
        case optionals(Path<[Double?]>)
        case users(Path<Set<Int>>)
        case delays(Path<[DelayName]>)
        case ordering(Path<Ordering>)
        /// One kind, or `any`.
        case storm(Path<SimulatedBackend.Storm?>)
        /// A share and a number: `0.8/100`.
        case breaker(Path<BreakerRule>)
    }

    /// In the order of ``text``.
    private static let fields: [(name: String, field: Field)] = [
        ("isAtomic", .flag(\.isAtomic)), ("workers", .count(\.workers, 1)), ("partitions", .count(\.partitions, 1)),
        ("events", .count(\.events, 1)), ("users", .count(\.users, 1)), ("burst", .count(\.burst, 1)),
        // Workers.
        ("crashes", .count(\.crashes, 0)), ("stops", .count(\.stops, 0)), ("freezes", .count(\.freezes, 0)),
        ("sessionLosses", .count(\.sessionLosses, 0)), ("skew", .time(\.skew)), ("hasFixedIDs", .flag(\.hasFixedIDs)),
        ("isStatic", .flag(\.isStatic)), ("followers", .count(\.followers, 0)),
        ("followerFaults", .count(\.followerFaults, 0)), ("followerKills", .count(\.followerKills, 0)),
        ("replays", .count(\.replays, 0)), ("replayFaults", .count(\.replayFaults, 0)),
        ("replayKills", .count(\.replayKills, 0)), ("publishers", .count(\.publishers, 0)),
        ("recipients", .count(\.recipients, 1)), ("publisherFaults", .count(\.publisherFaults, 0)),
        ("publisherKills", .count(\.publisherKills, 0)), ("hasSchedule", .flag(\.hasSchedule)),
        ("isDetached", .flag(\.isDetached)),
        ("hasExclusions", .flag(\.hasExclusions)),
        // Brokers.
        ("growths", .count(\.growths, 0)), ("outages", .count(\.outages, 0)),
        ("coordinatorLoads", .count(\.coordinatorLoads, 0)),
        ("refusals", .count(\.refusals, 0)),
        ("retentions", .count(\.retentions, 0)),
        ("recreations", .count(\.recreations, 0)), ("cuts", .count(\.cuts, 0)),
        ("offsetLosses", .count(\.offsetLosses, 0)), ("strangers", .count(\.strangers, 0)),
        ("deletions", .count(\.deletions, 0)),
        ("unanswered", .count(\.unanswered, 0)),
        ("leaderLosses", .count(\.leaderLosses, 0)), ("rivals", .count(\.rivals, 0)),
        ("oversized", .count(\.oversized, 0)), ("unknownLimits", .count(\.unknownLimits, 0)),
        ("hasNarrowTopic", .flag(\.hasNarrowTopic)),
        ("fullQueues", .count(\.fullQueues, 0)), ("refusedRecords", .count(\.refusedRecords, 0)),
        ("invalidEvents", .count(\.invalidEvents, 0)), ("quota", .count(\.quota, 0)),
        ("lostAcknowledgements", .count(\.lostAcknowledgements, 0)), ("lostMessages", .count(\.lostMessages, 0)),
        ("lateRequests", .count(\.lateRequests, 0)), ("lateMarkers", .count(\.lateMarkers, 0)),
        ("abortableErrors", .count(\.abortableErrors, 0)), ("fatalErrors", .count(\.fatalErrors, 0)),
        // Publishers and campaigns.
        ("gaps", .count(\.gaps, 0)), ("damages", .count(\.damages, 0)),
        ("openTransactions", .count(\.openTransactions, 0)), ("twins", .count(\.twins, 0)),
        ("hasPlainEvents", .flag(\.hasPlainEvents)), ("campaignShare", .count(\.campaignShare, 0)),
        ("campaignChanges", .count(\.campaignChanges, 0)), ("campaignsFaults", .count(\.campaignsFaults, 0)),
        ("pauseIfFailures", .optional(\.pauseIfFailures)), ("lastWords", .count(\.lastWords, 0)),
        ("hasQuietHours", .flag(\.hasQuietHours)), ("capLimit", .count(\.capLimit, 0)), ("capPer", .time(\.capPer)),
        ("sourceCapLimit", .count(\.sourceCapLimit, 0)),
        // The backend.
        ("hasStorms", .flag(\.hasStorms)), ("storm", .storm(\.storm)), ("isBackendCalm", .flag(\.isBackendCalm)),
        ("serviceRefusals", .count(\.serviceRefusals, 0)),
        ("connectionLosses", .count(\.connectionLosses, 0)), ("hanging", .users(\.hanging)),
        ("forbidden", .users(\.forbidden)),
        // Settings.
        ("ordering", .ordering(\.ordering)), ("maxInFlight", .count(\.maxInFlight, 1)),
        ("maxBufferedBytes", .count(\.maxBufferedBytes, 1)), ("fetchedAhead", .count(\.fetchedAhead, 1)),
        ("maxFetchedBytes", .count(\.maxFetchedBytes, 1)), ("commitInterval", .time(\.commitInterval)),
        ("maxUnrecorded", .time(\.maxUnrecorded)), ("drainTimeout", .time(\.drainTimeout)),
        ("blockedAfter", .time(\.blockedAfter)), ("duplicateWindow", .time(\.duplicateWindow)),
        ("repeatsUnanswered", .flag(\.repeatsUnanswered)), ("immediate", .count(\.immediate, 0)),
        ("callsPerSecond", .optional(\.callsPerSecond)), ("serviceCallsPerSecond", .optionals(\.serviceCallsPerSecond)),
        ("breaker", .breaker(\.breaker)), ("deadLetterBreaker", .breaker(\.deadLetterBreaker)),
        ("settingsChanges", .count(\.settingsChanges, 0)), ("delays", .delays(\.delays)),
    ]

    /// Reads settings with spaces between them; the others are those of ``Scenario/init(seed:)``.
    ///
    /// The word `calm` applies ``calm()`` before all others.
    package init(text: String) throws(TextError) {
        self.init(seed: 1)
        var settings: [(name: String, value: String)] = []
        for word in text.split(whereSeparator: \.isWhitespace) where word != "calm" {
            let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            guard parts.count == 2 else { throw TextError(description: "\(word): a setting is written name=value") }
            guard !settings.contains(where: { $0.name == parts[0] }) else {
                throw TextError(description: "\(parts[0]) is there twice")
            }
            settings.append((parts[0], parts[1]))
        }
        if text.split(whereSeparator: \.isWhitespace).contains("calm") { calm() }
        for (name, value) in settings { try set(name, to: value) }
    }

    private mutating func set(_ name: String, to value: String) throws(TextError) {
        if name == "seed" {
            seed = try Self.read(value, of: name, as: "a seed", UInt64.init)
            return
        }
        guard let field = Self.fields.first(where: { $0.name == name })?.field else {
            let known = (["calm", "seed"] + Self.fields.map(\.name)).joined(separator: " ")
            throw TextError(description: "\(name) is no setting of a scenario; these are: \(known)")
        }
        switch field {
        case .flag(let path): self[keyPath: path] = try Self.read(value, of: name, as: "true or false", Bool.init)
        case .count(let path, let least):
            self[keyPath: path] = try Self.read(value, of: name, as: "a whole number from \(least) on") {
                Int($0).flatMap { $0 >= least ? $0 : nil }
            }
        case .time(let path):
            self[keyPath: path] = try Self.read(value, of: name, as: "milliseconds, a whole number from 0 on") {
                Int64($0).flatMap { $0 >= 0 ? .milliseconds($0) : nil }
            }
        case .optional(let path):
            self[keyPath: path] = try Self.read(value, of: name, as: "a number or none", Self.number)
        case .optionals(let path):
            self[keyPath: path] = try Self.list(value, of: name, as: "numbers or none with commas between", Self.number)
        case .users(let path):
            let users = try Self.list(value, of: name, as: "numbers of users with commas between", { Int($0) })
            self[keyPath: path] = Set(users)
        case .delays(let path):
            self[keyPath: path] = try Self.list(value, of: name, as: "delays such as 5s with commas between") {
                DelayName($0)
            }
        case .ordering(let path):
            let names = Ordering.allCases.map(\.rawValue).joined(separator: ", ")
            self[keyPath: path] = try Self.read(value, of: name, as: "one of \(names)", Ordering.init)
        case .storm(let path):
            let names = SimulatedBackend.Storm.allCases.map(\.rawValue).joined(separator: ", ")
            self[keyPath: path] = try Self.read(value, of: name, as: "any or one of \(names)", Self.storm)
        case .breaker(let path):
            self[keyPath: path] = try Self.read(value, of: name, as: "a share and a number such as 0.8/100", Self.rule)
        }
    }

    private static func read<Value>(
        _ text: String, of name: String, as kind: String, _ reader: (String) -> Value?
    ) throws(TextError) -> Value {
        guard let value = reader(text) else { throw TextError(description: "\(name)=\(text): it has to be \(kind)") }
        return value
    }

    private static func list<Value>(
        _ text: String, of name: String, as kind: String, _ reader: (String) -> Value?
    ) throws(TextError) -> [Value] {
        var values: [Value] = []
        for part in text.isEmpty ? [] : text.split(separator: ",", omittingEmptySubsequences: false) {
            values.append(try read(String(part), of: name, as: kind, reader))
        }
        return values
    }

    private static func number(_ text: String) -> Double?? {
        text == "none" ? .some(nil) : Double(text).map(Optional.some)
    }

    private static func storm(_ text: String) -> SimulatedBackend.Storm?? {
        text == "any" ? .some(nil) : SimulatedBackend.Storm(rawValue: text).map(Optional.some)
    }

    private static func rule(_ text: String) -> BreakerRule? {
        let parts = text.split(separator: "/")
        guard parts.count == 2, let share = Double(parts[0]), let of = Int(parts[1]), of >= 0 else { return nil }
        return BreakerRule(share: share, of: of)
    }

    /// The same scenario as a text that ``init(text:)`` reads; a scenario with ``trouble`` has none.
    package var text: String {
        (["seed=\(seed)"] + Self.fields.map { "\($0.name)=\(value(of: $0.field))" }).joined(separator: " ")
    }

    private func value(of field: Field) -> String {
        switch field {
        case .flag(let path): "\(self[keyPath: path])"
        case .count(let path, _): "\(self[keyPath: path])"
        case .time(let path): "\(self[keyPath: path].count)"
        case .optional(let path): Self.text(self[keyPath: path])
        case .optionals(let path): self[keyPath: path].map(Self.text).joined(separator: ",")
        case .users(let path): self[keyPath: path].sorted().map { "\($0)" }.joined(separator: ",")
        case .delays(let path): self[keyPath: path].map(\.description).joined(separator: ",")
        case .ordering(let path): self[keyPath: path].rawValue
        case .storm(let path): self[keyPath: path]?.rawValue ?? "any"
        case .breaker(let path): "\(self[keyPath: path].share)/\(self[keyPath: path].of)"
        }
    }

    private static func text(_ number: Double?) -> String { number.map { "\($0)" } ?? "none" }
}
