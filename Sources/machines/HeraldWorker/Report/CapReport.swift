import HeraldEvents
import HeraldKafka
import HeraldTime

/// The home partitions whose caps are being read, so that their promotional events wait.
public struct CapReport: Sendable, Equatable {
    /// Why it takes longer.
    enum Trouble: Sendable, Equatable {
        case unreadable(KafkaError)
        /// The topic has only so many partitions, and home partitions are beyond.
        case tooFew(Int)

        /// A continuation of the topic's name.
        var words: String {
            switch self {
            case .unreadable(let error) where error.kind == .unknownTopic: "is not there"
            case .tooFew(0): "is not there"
            case .unreadable(let error): "cannot be read: \(error.words)"
            case .tooFew(let count): "has only \(count) partitions, fewer than a topic that is consumed"
            }
        }

        func step(_ topic: String) -> String {
            switch self {
            case .unreadable(let error) where error.kind == .forbidden:
                "\(KafkaPermission(.read, .write, .describe, on: .topic(topic)))"
            case .unreadable(let error) where error.kind != .unknownTopic: "look at the brokers"
            case .unreadable, .tooFew: "run `herald topics apply`"
            }
        }
    }

    /// Their topic.
    var topic: String
    /// The home partitions.
    var partitions: [Int32]
    /// Since when the first of them is read.
    var since: MonotonicTime
    var trouble: Trouble?

    /// That promotional events wait, once it takes longer than this.
    func finding(after patience: Milliseconds, now: MonotonicTime) -> Finding? {
        let age = now.time(since: since)
        guard age > patience else { return nil }
        let names = partitions.prefix(8).map(String.init).joined(separator: ", ") + (partitions.count > 8 ? ", …" : "")
        let why = trouble.map { "\(topic) \($0.words)" } ?? "they are being read for \(age.wholeSeconds) s"
        var finding = Finding(
            .preferencesBehind,
            "the caps of partition\(partitions.count == 1 ? "" : "s") \(names) are not known, because \(why): so promotional "
                + "events of their users wait",
            place: [topic], numbers: ["seconds": Int(age.wholeSeconds)])
        if let trouble { finding.step = trouble.step(topic) }
        return finding
    }
}
