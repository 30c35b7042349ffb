internal import HeraldReplay
internal import HeraldText
internal import HeraldThreads
internal import HeraldTime
internal import HeraldTools

struct JobDescription: Sendable {
    /// Its kind, such as `dlq.replay` or `campaign.publish`.
    var kind: String
    var name: String
    var owner: String
    /// The exclusive subject, such as `dead-letters` or `campaign/spring`; `nil` when jobs may overlap.
    var subject: String?
    /// Whether it takes over from one that works on its subject, which then ends: of two publishers Kafka keeps the later.
    var takesOver = false
    /// Whether it can be paused and resumed; every job can be stopped.
    var canPause = false
    var about = JSONValue.null
}

struct JobEnd: Sendable {
    enum State: String, Sendable {
        case done
        /// It has done a part: it was stopped, or stopped by itself.
        case stopped
        case failed
    }

    var state: State
    /// Its result in a sentence or two.
    var sentence: String
    var report: JSONValue

    /// The end of a replay or a publisher.
    init(_ end: PublicationEnd, _ sentence: String, report: JSONValue) {
        let state: State =
            switch end {
            case .complete, .detached: .done
            case .failed: .failed
            case .takenOver, .interrupted, .failing, .outcomeTimeout, .cancelled, .expired: .stopped
            }
        self.init(state, sentence, report: report)
    }

    init(_ state: State, _ sentence: String, report: JSONValue = .null) {
        self.state = state
        self.sentence = sentence
        self.report = report
    }
}

/// A job's own view: the requests to it, and its progress reports.
///
/// Any thread.
final class JobControl: Sendable {
    private struct State {
        var stopper: String?
        var isEndingWithConsole = false
        var pause: ReplayPause?
        var progress = JSONValue.null
    }

    let id: String
    private let state = Guarded(State())
    private let onReport: @Sendable () -> Void

    init(id: String, onReport: @escaping @Sendable () -> Void) {
        self.id = id
        self.onReport = onReport
    }

    /// Whether it should end as soon as possible.
    var isStopping: Bool { stopper != nil }

    /// Who has asked it to; `nil` while nobody has.
    var stopper: String? { state.withLock { $0.stopper } }

    /// Whether it should end because the console does, and nobody has asked it to.
    var isEndingWithConsole: Bool { state.withLock { $0.isEndingWithConsole } }

    /// Has it end because the console does.
    func endWithConsole() {
        state.withLock { state in
            if state.stopper == nil { (state.stopper, state.isEndingWithConsole) = ("the console", true) }
        }
    }

    /// The current pause; a stopping job is never paused.
    var pause: ReplayPause? { state.withLock { $0.stopper == nil ? $0.pause : nil } }

    /// Reports the progress; may be called at any rate.
    func report(_ progress: JSONValue) {
        state.withLock { $0.progress = progress }
        onReport()
    }

    var progress: JSONValue { state.withLock { $0.progress } }

    func ask(_ request: JobRequest, by name: String) {
        state.withLock { state in
            switch request {
            case .stop: state.stopper = state.stopper ?? name
            case .pause: state.pause = state.pause ?? ReplayPause(by: name, since: SystemClock.wall())
            case .resume: state.pause = nil
            }
        }
    }
}

enum JobRequest: String, CaseIterable, Sendable {
    case stop, pause, resume
}

/// A job as shown in lists and pages.
struct JobRecord: Sendable {
    let id: String
    let description: JobDescription
    let control: JobControl
    let beganAt: WallTime
    var end: JobEnd?
    var endedAt: WallTime?

    private var state: String {
        if let end { return end.state.rawValue }
        return control.isStopping ? "stopping" : control.pause != nil ? "paused" : "running"
    }

    var object: JSONValue {
        .present([
            .init("id", .string(id)), .init("kind", .string(description.kind)),
            .init("name", .string(SafeText.escaped(description.name))),
            .init("owner", .string(SafeText.escaped(description.owner))),
            .init("state", .string(state)), .init("canPause", .bool(description.canPause)),
            .init("beganAt", .string(beganAt.text)),
            .init("endedAt", .text(endedAt?.text)), .init("about", description.about),
            .init("progress", control.progress), .init("sentence", .text(end.map { SafeText.escaped($0.sentence) })),
            .init("report", end?.report ?? .null),
        ])
    }
}
