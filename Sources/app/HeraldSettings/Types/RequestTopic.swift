/// A topic that requests come from, and its share when several have work.
package struct RequestTopic: Sendable, Equatable {
    /// The weight of a topic that is given by its name alone.
    package static let standardWeight = 1

    package let name: String
    /// How many events are taken from it while another topic with weight 1 gives one.
    package let weight: Int

    /// A request topic; the weight is 1 unless said.
    package init(name: String, weight: Int = Self.standardWeight) {
        self.name = name
        self.weight = weight
    }
}
