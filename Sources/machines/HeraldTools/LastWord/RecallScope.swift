package import HeraldText

/// What a recall finds: how much is left to recall, and what is too late.
///
/// `HeraldCampaigns` makes it of a campaign, `HeraldTimeline` of an event.
package struct RecallScope: Sendable, Equatable {
    /// The notifications without an outcome: not called yet, in a call, or to be called again; `nil` when that is not known.
    package var left: Int?
    /// It in sentences, with texts from records as they came.
    package var sentences: [String]
    /// It for programs.
    package var members: [JSONValue.Member]
    /// Whether there is a campaign, or may be an event, of which commands say what became of it.
    package let isKnown: Bool

    package init(left: Int?, sentences: [String], members: [JSONValue.Member] = [], isKnown: Bool = true) {
        self.isKnown = isKnown
        self.left = left
        self.sentences = sentences
        self.members = members
    }

    /// It as commands and the console have it.
    package var json: JSONValue { .object([.init("left", left.map { .integer($0) } ?? .null)] + members) }
}
