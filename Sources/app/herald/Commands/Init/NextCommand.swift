import HeraldCommandLine
import HeraldDoctor

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

    /// The next step in one line.
    func sentence(for file: String) -> String {
        let option = "--config \(Self.word(file))"
        if hasFailures { return "Correct what \(Verdict.failed.mark) names, then: herald doctor \(option)" }
        return "Next: " + (lacksTopics ? "\(BrokerExaminer.applying) \(option)" : "herald worker \(option)")
    }

    /// A word, quoted for a shell.
    static func word(_ text: String) -> String {
        let isPlain = text.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"): true
            case UInt8(ascii: "0")...UInt8(ascii: "9"): true
            default: "/._-+@:".utf8.contains(byte)
            }
        }
        return isPlain ? text : "'" + text.replacing("'", with: "'\\''") + "'"
    }
}
