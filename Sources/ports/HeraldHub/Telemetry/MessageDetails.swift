public import HeraldText

/// A hub's details of one of its messages: `GET /HUB/messages/ID`, a document `NotificationDetails`.
public struct MessageDetails: Sendable, Hashable {
    /// The state of a message.
    public struct State: Sendable, Hashable {
        /// The hub's word, as it came.
        public let name: String

        /// The states after which nothing changes; documents write `Canceled`, the .NET SDK `Cancelled`.
        private static let finalNames: Set = ["completed", "notargetfound", "abandoned", "cancelled", "canceled"]

        /// A state by the hub's word for it, known or not.
        public init(_ name: String) { self.name = name }

        /// Whether nothing changes any more.
        ///
        /// An unknown word is taken for a state in between: the hub is asked again.
        public var isFinal: Bool { Self.finalNames.contains(name.lowercased()) }
    }

    private static let outcomeLimit = 64
    private static let nameLimit = 128

    /// Where the message stands.
    public let state: State
    /// The devices by outcome (`Success`, `BadChannel` …), added up over the platforms.
    public let outcomes: [String: Int]

    /// What a hub says.
    public init(state: State, outcomes: [String: Int]) {
        self.state = state
        self.outcomes = outcomes
    }

    /// Reads the document; throws with what is wrong with it.
    ///
    /// Every element whose name ends in `OutcomeCounts` is a platform's: new ones come without notice, as `FcmV1` did.
    public init(document: [UInt8]) throws(InvalidArgument) {
        let root = try XMLElement(document: document)
        guard root.name == "NotificationDetails" else {
            throw InvalidArgument(
                "the hub's answer is an element \(SafeText.quoted(root.name, limit: 40)), not NotificationDetails")
        }
        guard let state = root["State"]?.text.trimmed, !state.isEmpty, state.utf8.count <= Self.nameLimit else {
            throw InvalidArgument("the hub's NotificationDetails have no State")
        }
        self.state = State(state)
        var outcomes: [String: Int] = [:]
        for platform in root.children where platform.name.hasSuffix("OutcomeCounts") {
            for outcome in platform.children {
                guard let name = outcome["Name"]?.text.trimmed, (1...Self.nameLimit).contains(name.utf8.count),
                    let count = (outcome["Count"]?.text.trimmed).flatMap({ Int32($0) }), count >= 0
                else { throw InvalidArgument("the hub's \(platform.name) have an outcome without a name or a count") }
                guard outcomes[name] != nil || outcomes.count < Self.outcomeLimit else { continue }
                outcomes[name, default: 0] += Int(count)
            }
        }
        self.outcomes = outcomes
    }
}
