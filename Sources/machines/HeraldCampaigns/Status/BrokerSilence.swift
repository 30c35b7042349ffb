package import HeraldTime

/// Whether brokers that have answered are silent now: pure.
///
/// Whatever comes from them is an answer. They are asked regularly only once the retry topics could be counted: before, no
/// answer means nothing.
package struct BrokerSilence: Sendable {
    private static let patience: Milliseconds = .seconds(15)

    private var isAsked = false
    /// When brokers answered last: how a campaign stands is as of then.
    package private(set) var lastAnswer: WallTime

    package init(at now: WallTime) { lastAnswer = now }

    /// A record has come, or the retry topics were counted.
    ///
    /// - Parameter isCount: whether it is the latter.
    package mutating func answered(at now: WallTime, isCount: Bool = false) {
        lastAnswer = now
        if isCount { isAsked = true }
    }

    package func isSilent(at now: WallTime) -> Bool { isAsked && now.time(since: lastAnswer) >= Self.patience }
}
