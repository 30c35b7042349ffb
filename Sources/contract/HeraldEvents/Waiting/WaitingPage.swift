public import HeraldText
public import HeraldTime

/// What a worker answers when it is asked why events wait: `/waiting` of its admin port.
public struct WaitingPage: Sendable, Equatable, Decodable {
    /// One event in memory.
    public struct Event: Sendable, Equatable, Decodable {
        /// Its id; `nil` when it does not decode.
        public var id: String?
        /// Its user.
        public var user: String?
        /// Its request record, as `TOPIC/PARTITION/OFFSET`.
        public var origin: String
        /// Since when it has been in memory, as RFC 3339.
        public var takenAt: String
        /// For each of its push services.
        public var waits: [Wait]

        /// An event.
        public init(id: String?, user: String?, origin: String, takenAt: WallTime, waits: [Wait]) {
            self.id = id
            self.user = user
            self.origin = origin
            self.takenAt = RFC3339.text(takenAt)
            self.waits = waits
        }
    }

    /// Why one event waits, for the push services for which it is the same; or why a job does, or a letter of it.
    public struct Wait: Sendable, Equatable, Decodable {
        /// The push services; empty for an event that does not decode, and for what is no event.
        public var pushServices: [String]
        /// A word of ``WaitReason/Kind-swift.enum``, or of ``JobWaitReason/Kind-swift.enum``.
        public var reason: String
        /// What it does, as a sentence goes on behind "it".
        public var phrase: String
        /// Since when, as RFC 3339, where that is known.
        public var since: String?
        /// When it ends or is looked at again, as RFC 3339, where that is known.
        public var until: String?
        /// What ends it.
        public var end: String
        /// The settings and commands that change it.
        public var changes: [String]

        /// A reason, for these push services.
        ///
        /// - Parameter campaign: what the commands that change it are about.
        public init(_ reason: some WaitWords, pushServices: [String] = [], campaign: String? = nil) {
            self.pushServices = pushServices
            self.reason = reason.kind.word
            phrase = reason.phrase
            since = reason.since.map(RFC3339.text)
            until = reason.until.map(RFC3339.text)
            end = reason.kind.end
            changes = reason.kind.changes.map { change in
                campaign.map { change.replacing("NAME", with: $0) } ?? change
            }
        }

        /// It as one sentence, with what ends it and what changes it.
        public var sentence: String {
            let whose = pushServices.isEmpty ? "" : "\(pushServices.joined(separator: ", ")): "
            let changes = changes.isEmpty ? "" : " (\(changes.joined(separator: ", ")))"
            // It may end with another's sentence.
            let stop = phrase.hasSuffix(".") || phrase.hasSuffix("?") ? "" : "."
            return "\(whose)it \(phrase)\(stop) What ends this: \(end)\(changes)."
        }
    }

    /// The events that were asked for, at most ``eventLimit``.
    public var events: [Event]
    /// How many more there are.
    public var hidden: Int
    /// The lanes that did not answer in time: what they have is not known.
    public var silentLanes: [Int]

    /// So many events are told at once.
    public static let eventLimit = 100

    /// An answer.
    public init(events: [Event], hidden: Int = 0, silentLanes: [Int] = []) {
        self.events = events
        self.hidden = hidden
        self.silentLanes = silentLanes
    }

    /// It as `/waiting` writes it.
    public var json: JSONValue {
        [
            "events": .array(events.map(\.json)), "hidden": .integer(hidden),
            "silentLanes": .array(silentLanes.map { .integer($0) }),
        ]
    }
}

extension WaitingPage.Event {
    /// It as `/waiting` writes it.
    public var json: JSONValue {
        .present([
            .init("id", .text(id)), .init("user", .text(user)), .init("origin", .string(origin)),
            .init("takenAt", .string(takenAt)), .init("waits", .array(waits.map(\.json))),
        ])
    }
}

extension WaitingPage.Wait {
    /// It as `/waiting` writes it.
    public var json: JSONValue {
        .present([
            .init("pushServices", .array(pushServices.map(JSONValue.string))), .init("reason", .string(reason)),
            .init("phrase", .string(phrase)), .init("since", .text(since)), .init("until", .text(until)),
            .init("end", .string(end)), .init("changes", .array(changes.map(JSONValue.string))),
            .init("sentence", .string(sentence)),
        ])
    }
}

/// Which events a question is about.
public struct WaitingQuery: Sendable, Equatable {
    /// Their user.
    public var user: String?
    /// Their id.
    public var id: String?
    /// Their request record.
    public var origin: Origin?

    /// The events for which all that is given holds; something is given.
    public init?(user: String? = nil, id: String? = nil, origin: Origin? = nil) {
        guard user != nil || id != nil || origin != nil else { return nil }
        self.user = user
        self.id = id
        self.origin = origin
    }
}
