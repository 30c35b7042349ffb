package import HeraldText
package import HeraldTime

/// Something that keeps notifications from arriving, or may come to: what, where, since when, and what to do.
///
/// Whoever finds it words it, and every face prints it: log, `/readyz`, `/status`, doctor, console, `herald explain`.
/// ``FindingKey`` has what all of a kind have in common. A reader may be older than the worker, so a finding carries all
/// that it takes to show it.
package struct Finding: Sendable, Equatable {
    /// How bad it is, from the best to the worst.
    package enum Severity: String, Sendable {
        /// `unknown`: it is not known yet, or may not be known.
        case good, unknown, warn, bad
    }

    /// What it is: the word of a ``FindingKey``, or `outage-` and the outage's word.
    package var key: String
    /// How bad it is.
    package var severity: Severity
    /// It in a few words: `Outage`, `Too few brokers`.
    package var title: String
    /// Since when, where that is known.
    package var since: WallTime?
    /// What happened, in the middle of a sentence.
    package var what: String
    /// The topics, partitions, brokers or push services that it is about, at most ``placeLimit``.
    package var place: [String]
    /// What to do, in the middle of a sentence.
    package var step: String
    /// What to type first; empty where nothing is to be typed.
    package var command: [String]
    /// The section of docs/RUNBOOK.md about it, as its anchor.
    package var section: String
    /// Its numbers by their names.
    package var numbers: [String: Int]

    /// A finding of this kind.
    ///
    /// - Parameter step: what to do; `nil` for what is to be done about all of its kind.
    package init(
        _ key: FindingKey, title: String? = nil, _ what: String, place: [String] = [], since: WallTime? = nil,
        step: String? = nil, numbers: [String: Int] = [:]
    ) {
        let entry = key.entry
        self.init(
            key: key.rawValue, entry.severity, title: title ?? entry.title, what, place: place, since: since,
            step: step ?? entry.step, command: entry.command(for: place), section: entry.section, numbers: numbers)
    }

    /// An outage, by its word in logs and metrics.
    package init(
        outage word: String, _ what: String, since: WallTime? = nil, step: String, command: [String] = []
    ) {
        self.init(
            key: Self.outagePrefix + word, .bad, title: "Outage", what, since: since, step: step, command: command,
            section: Self.outagePrefix + word)
    }

    /// Any, also of a kind that is not known here.
    package init(
        key: String, _ severity: Severity, title: String, _ what: String = "", place: [String] = [],
        since: WallTime? = nil, step: String = "", command: [String] = [], section: String = "",
        numbers: [String: Int] = [:]
    ) {
        self.key = key
        self.severity = severity
        self.title = title
        self.since = since
        self.what = what
        self.place = Array(place.prefix(Self.placeLimit))
        self.step = step
        self.command = command
        self.section = section
        self.numbers = numbers
    }

    private static let placeLimit = 50
    private static let outagePrefix = "outage-"

    /// Whether the worker consumes nothing because of it, until the backend or the settings are fixed.
    package var isOutage: Bool { key.hasPrefix(Self.outagePrefix) }

    /// The alert of deploy/prometheus whose section it names; `nil` without one.
    package var alert: String? { isOutage ? "HeraldOutage" : FindingKey(rawValue: key)?.entry.alert }

    /// Whether it concerns notifications of these push services: what is wrong with others alone does not.
    package func concerns(_ pushServices: [String]) -> Bool {
        key != FindingKey.pushServiceFailing.rawValue || !Set(place).isDisjoint(with: pushServices)
    }

    /// What happened and what to do, in one sentence.
    package var sentence: String { "\(Self.capital(what)): \(step)." }

    package var stepSentence: String { Self.capital(step) + "." }

    private static func capital(_ text: String) -> String { text.prefix(1).uppercased() + text.dropFirst() }
}

extension [Finding] {
    /// What happened and what to do, one after the other.
    package var sentences: String { map(\.sentence).joined(separator: " ") }
}

extension Finding: Decodable {
    private enum Name: String, CodingKey {
        case key, severity, title, since, what
        case place = "where"
        case step, command, section, numbers
    }

    /// As ``json`` writes it.
    package init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: Name.self)
        func text(_ name: Name) throws -> String { try values.decode(String.self, forKey: name) }
        self.init(
            key: try text(.key), Severity(rawValue: try text(.severity)) ?? .warn, title: try text(.title),
            try text(.what), place: try values.decode([String].self, forKey: .place),
            since: try values.decodeIfPresent(String.self, forKey: .since)
                .flatMap { RFC3339.parse(Array($0.utf8).span.bytes) },
            step: try text(.step), command: try values.decode([String].self, forKey: .command),
            section: try text(.section), numbers: try values.decode([String: Int].self, forKey: .numbers))
    }

    /// It as `/status` has it.
    package var json: JSONValue {
        .present([
            .init("key", .string(key)), .init("severity", .string(severity.rawValue)), .init("title", .string(title)),
            .init("since", .text(since.map(RFC3339.text))), .init("what", .string(what)),
            .init("where", .array(place.map(JSONValue.string))), .init("step", .string(step)),
            .init("command", .array(command.map(JSONValue.string))), .init("section", .string(section)),
            .init(
                "numbers", .object(numbers.sorted { $0.key < $1.key }.map { .init($0.key, .integer($0.value)) })),
        ])
    }
}
