import HeraldText
import HeraldTime
import HeraldTools

/// A replayed event that waits for its next call.
struct OpenReplay: Sendable, Equatable {
    /// Of which request record, as `topic/partition/offset`.
    var origin: String
    var services: [String]
    var status: Int64?
    var detail: String?
    var answeredAt: WallTime
    /// When the next call is due; `nil` when that is not told.
    var nextCall: WallTime?

    var json: JSONValue {
        .present([
            .init("pns", .array(services.map { .string(SafeText.escaped($0)) })),
            .init("status", status.map { .integer(Int($0)) } ?? .null),
            .init("detail", detail.map { .string(SafeText.escaped($0)) } ?? .null),
            .init("answeredAt", .string(answeredAt.text)),
            .init("nextCall", nextCall.map { .string($0.text) } ?? .null),
        ])
    }
}

/// The replayed events that wait for their next call, as the retry topics tell: pure, and bounded.
struct OpenReplays: Sendable {
    private static let limit = 256
    /// A call that should have been made so long ago has been made, and what came of it is told elsewhere.
    private static let patience: Milliseconds = .seconds(30)

    private var replays: [String: OpenReplay] = [:]

    mutating func add(_ replay: OpenReplay) {
        let key = replay.origin + " " + replay.services.joined(separator: ",")
        if let known = replays[key], known.answeredAt > replay.answeredAt { return }
        replays[key] = replay
        guard replays.count > Self.limit, let oldest = replays.min(by: { $0.value.answeredAt < $1.value.answeredAt })
        else { return }
        replays[oldest.key] = nil
    }

    /// Those that were answered since then and are due to be called, the newest first.
    func since(_ moment: WallTime, now: WallTime) -> [OpenReplay] {
        replays.values.filter {
            $0.answeredAt >= moment
                && now.time(since: $0.nextCall ?? $0.answeredAt) <= Self.patience
        }.sorted { ($1.answeredAt, $1.origin) < ($0.answeredAt, $0.origin) }
    }
}
