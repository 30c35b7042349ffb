import HeraldCommandLine
import HeraldDoctor
import HeraldReplay

/// The next step with a new settings file, according to the doctor's findings.
struct NextCommand {
    private var lacksTopics = false
    private var hasFailures = false

    mutating func note(_ check: Check) {
        let isMendedByTopics = check.verdict != .passed && check.fix?.contains(BrokerExaminer.applying) == true
        lacksTopics = lacksTopics || isMendedByTopics
        hasFailures = hasFailures || (check.verdict == .failed && !isMendedByTopics)
    }

    /// Missing topics alone are no failure: a new cluster has none.
    var status: ExitStatus { hasFailures ? .partlyDone : .done }

    func sentence(for file: String) -> String {
        let option = "--config \(Selection.quoted(file))"
        if hasFailures { return "Correct what \(Verdict.failed.mark) names, then: herald doctor \(option)" }
        return "Next: " + (lacksTopics ? "\(BrokerExaminer.applying) \(option)" : "herald worker \(option)")
    }
}
