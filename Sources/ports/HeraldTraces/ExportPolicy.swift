import Foundation
import HeraldHTTP
import HeraldTime

/// Decides what follows a request of spans (OTLP, "OTLP/HTTP Response", "Failures" and "Throttling").
struct ExportPolicy {
    enum Verdict: Equatable {
        /// The collector has them, except for this many that it refused.
        case exported(refused: Int)
        /// The same request is repeated after a pause.
        case again(after: Milliseconds)
        case dropped
    }

    /// The number of times that a batch is offered; meanwhile others wait.
    static let attempts = 5
    /// The pause after the first failure; it doubles with each further one.
    static let firstPause: Milliseconds = .seconds(1)
    /// The longest pause that a collector can impose.
    static let longestPause: Milliseconds = .seconds(30)

    private var failures = 0

    /// Judges an answer or its absence.
    ///
    /// - Parameter chance: Between 0 and 1; it lengthens pauses by up to a fifth, so that workers do not all return at
    ///   once.
    mutating func judge(_ outcome: SingleRequest.Outcome, chance: Double) -> Verdict {
        switch outcome {
        case .response(let response) where (200..<300).contains(response.status):
            return .exported(refused: Self.refusedSpans(in: response.body))
        case .response(let response):
            guard [429, 502, 503, 504].contains(response.status) else { return .dropped }
            return pause(wantedSeconds: response.retryAfterSeconds, chance: chance)
        case .failure: return pause(wantedSeconds: 0, chance: chance)
        }
    }

    /// The number of spans that the collector refused (`ExportTraceServiceResponse`); 0 for an unreadable body.
    private static func refusedSpans(in body: [UInt8]) -> Int {
        let response = (try? JSONSerialization.jsonObject(with: Data(body))) as? [String: Any]
        let count = (response?["partialSuccess"] as? [String: Any])?["rejectedSpans"]
        // Protobuf's JSON writes 64-bit numbers as strings; some collectors write plain ones.
        return max(0, (count as? String).flatMap { Int($0) } ?? count as? Int ?? 0)
    }

    private mutating func pause(wantedSeconds: Int64, chance: Double) -> Verdict {
        failures += 1
        guard failures < Self.attempts else { return .dropped }
        let pause = Double(Self.firstPause.doubled(times: failures - 1).count) * (1 + chance / 5)
        let wanted = min(.seconds(wantedSeconds), Self.longestPause)
        return .again(after: max(.milliseconds(Int64(pause)), wanted))
    }
}
