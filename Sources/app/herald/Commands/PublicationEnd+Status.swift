import HeraldCommandLine
import HeraldText
import HeraldTools

extension PublicationEnd {
    /// Prints how a replay or a publisher ended, and returns the exit status.
    func conclude(_ sentence: String, published count: Int, isWhole: Bool, _ console: Console) -> ExitStatus {
        switch self {
        case .complete where isWhole, .detached: console.remark(sentence)
        case .complete, .interrupted, .failing, .outcomeTimeout, .cancelled, .expired: console.complain(sentence)
        case .takenOver, .failed:
            let lines = sentence.split(separator: "\n").map { SafeText.escaped(String($0)) }
            console.complain("herald: \(lines.joined(separator: "\n"))")
        }
        return switch self {
        case .complete where isWhole, .detached: .done
        case .interrupted, .failing, .outcomeTimeout, .cancelled, .expired: .partlyDone
        case .failed(let failure) where failure.kind == .unreachable: .unreachable
        case .complete, .takenOver, .failed: count > 0 ? .partlyDone : .failed
        }
    }
}
