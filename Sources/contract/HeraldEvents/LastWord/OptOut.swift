/// What a user has opted out of.
public struct OptOut: Equatable, Sendable {
    /// Of everything (`all`).
    public var isOfAll = false
    /// Of promotional events (`promotional`).
    public var isOfPromotional = false
    /// Of push services, by their names (`pns:apns`).
    public var pushServices: [String] = []
    /// Of promotional events of sources, by their names (`source:shop`).
    public var sources: [String] = []

    /// Of nothing.
    public init() {}

    /// Whether it is of nothing.
    public var isEmpty: Bool { !isOfAll && !isOfPromotional && pushServices.isEmpty && sources.isEmpty }
}
