package import HeraldText
internal import HeraldThreads
package import HeraldTime
internal import HeraldTools

/// The description of a job.
package struct JobDescription: Sendable {
    /// Its kind, such as `dlq.replay` or `campaign.publish`.
    package var kind: String
    /// Its subject, for people.
    package var name: String
    /// The person who began it.
    package var owner: String
    /// The exclusive subject, such as `dead-letters` or `campaign/spring`; `nil` when jobs may overlap.
    package var subject: String?
    /// Whether it can be paused and resumed; every job can be stopped.
    package var canPause: Bool
    /// Details for its page.
    package var about: JSONValue

    package init(
        kind: String, name: String, owner: String, subject: String? = nil, canPause: Bool = false,
        about: JSONValue = .null
    ) {
        self.kind = kind
        self.name = name
        self.owner = owner
        self.subject = subject
        self.canPause = canPause
        self.about = about
    }
}

/// The end of a job.
package struct JobEnd: Sendable {
    package enum State: String, Sendable {
        /// It has done all its work.
        case done
        /// It has done a part: it was stopped, or stopped by itself.
        case stopped
        case failed
    }

    package var state: State
    /// Its result in a sentence or two.
    package var sentence: String
    /// The figures.
    package var report: JSONValue

    /// The end of a replay or a publisher.
    init(_ end: PublicationEnd, _ sentence: String, report: JSONValue) {
        let state: State =
            switch end {
            case .complete: .done
            case .failed, .takenOver: .failed
            case .interrupted, .failing, .outcomeTimeout, .cancelled, .expired: .stopped
            }
        self.init(state, sentence, report: report)
    }

    package init(_ state: State, _ sentence: String, report: JSONValue = .null) {
        self.state = state
        self.sentence = sentence
        self.report = report
    }
}

/// A pause of a job.
package struct JobPause: Sendable, Equatable {
    package var by: String
    package var since: WallTime
}

/// A job's own view: the requests to it, and its progress reports.
///
/// Any thread.
package final class JobControl: Sendable {
    private struct State {
        var isStopping = false
        var pause: JobPause?
        var progress = JSONValue.null
    }

    /// The job's id.
    package let id: String
    private let state = Guarded(State())
    private let onReport: @Sendable () -> Void

    init(id: String, onReport: @escaping @Sendable () -> Void) {
        self.id = id
        self.onReport = onReport
    }

    /// Whether it should end as soon as possible.
    package var isStopping: Bool { state.withLock { $0.isStopping } }

    /// The current pause; a stopping job is never paused.
    package var pause: JobPause? { state.withLock { $0.isStopping ? nil : $0.pause } }

    /// Reports the progress; may be called at any rate.
    package func report(_ progress: JSONValue) {
        state.withLock { $0.progress = progress }
        onReport()
    }

    var progress: JSONValue { state.withLock { $0.progress } }

    func ask(_ request: JobRequest, by name: String) {
        state.withLock { state in
            switch request {
            case .stop: state.isStopping = true
            case .pause: state.pause = state.pause ?? JobPause(by: name, since: SystemClock.wall())
            case .resume: state.pause = nil
            }
        }
    }
}

/// A request to a running job.
package enum JobRequest: String, CaseIterable, Sendable {
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
        let members: [JSONValue.Member] = [
            .init("id", .string(id)), .init("kind", .string(description.kind)),
            .init("name", .string(SafeText.escaped(description.name))),
            .init("owner", .string(SafeText.escaped(description.owner))),
            .init("state", .string(state)), .init("canPause", .bool(description.canPause)),
            .init("beganAt", .string(beganAt.text)),
            .init("endedAt", endedAt.map { .string($0.text) } ?? .null),
            .init("about", description.about), .init("progress", control.progress),
            .init("sentence", end.map { .string(SafeText.escaped($0.sentence)) } ?? .null),
            .init("report", end?.report ?? .null),
        ]
        return .object(members.filter { $0.value != .null })
    }
}
