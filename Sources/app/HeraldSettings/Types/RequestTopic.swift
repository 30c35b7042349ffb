/// A topic that requests come from, and its share when several have work.
public struct RequestTopic: Sendable, Equatable {
    /// The weight of a topic that is given by its name alone.
    public static let standardWeight = 1

    /// The topic.
    public let name: String
    /// How many events are taken from it while another topic with weight 1 gives one.
    public let weight: Int

    /// A request topic; the weight is 1 unless said.
    public init(name: String, weight: Int = Self.standardWeight) {
        self.name = name
        self.weight = weight
    }
}
