/// How one check came out.
package enum Verdict: String, Sendable, CaseIterable {
    case passed
    /// It works, and an operator should look at it.
    case warning
    case failed
    /// It could not be looked at, because of something else.
    case skipped

    package var mark: String {
        switch self {
        case .passed: "✓"
        case .warning: "!"
        case .failed: "✗"
        case .skipped: "-"
        }
    }
}

/// One thing that was looked at, and what to do about it.
package struct Check: Sendable, Equatable {
    /// What was looked at, such as `broker tls`.
    package var name: String
    /// Which one, such as a topic's name; empty when there is only one.
    package var subject: String
    package var verdict: Verdict
    /// What was seen, in one line; may hold text from outside as it came.
    package var detail: String
    /// What fixes it; `nil` when there is nothing to fix.
    package var fix: String?

    /// What a stage found; the name is the stage's.
    package init(_ stage: Stage, _ subject: String, _ verdict: Verdict, _ detail: String, fix: String? = nil) {
        self.init(stage.rawValue, subject, verdict, detail, fix: fix)
    }

    package init(_ name: String, _ subject: String = "", _ verdict: Verdict, _ detail: String, fix: String? = nil) {
        self.name = name
        self.subject = subject
        self.verdict = verdict
        self.detail = detail
        self.fix = fix
    }
}
