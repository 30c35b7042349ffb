import HeraldText
import HeraldTime
import HeraldTools

/// What is known of one worker at one moment.
struct WorkerObservation: Sendable, Equatable {
    enum State: Sendable, Equatable {
        /// It was not asked yet.
        case unasked
        case answered(WorkerSurvey.Page)
        /// No server answers there, or it is no worker's answer.
        case silent(String)
    }

    /// As `host:port`.
    var address: String
    var state: State
    /// The numbers of its last answer, and when they came.
    var numbers: WorkerNumbers?
    var at: MonotonicTime

    var page: WorkerSurvey.Page? { if case .answered(let page) = state { page } else { nil } }

    var isReady: Bool { page?.ready == true }
}

extension WorkerSurvey.Page {
    /// So much of a worker's sentence is shown at most.
    private static let sentenceLimit = 500
    /// So many of its reasons are taken at most.
    private static let reasonLimit = 16

    /// The same with no more than a worker would say, safe to show.
    var bounded: Self {
        Self(ready: ready, reasons: Self.bounded(reasons), warnings: warnings.map(Self.bounded))
    }

    private static func bounded(_ reasons: [Reason]) -> [Reason] {
        reasons.prefix(reasonLimit).map { reason in
            Reason(
                reason: text(reason.reason, WorkerNumbers.wordLimit), sentence: text(reason.sentence, sentenceLimit),
                since: reason.since.map { text($0, WorkerNumbers.wordLimit) })
        }
    }

    private static func text(_ text: String, _ limit: Int) -> String { SafeText.escaped(String(text.prefix(limit))) }
}
