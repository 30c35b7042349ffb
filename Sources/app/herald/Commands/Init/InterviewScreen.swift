import HeraldCommandLine
import HeraldDoctor
import HeraldSettings
import HeraldText

/// The interview on a terminal: a part's heading, a question with its explanation, its default in brackets.
struct InterviewScreen {
    let console: Console
    private var shownPart: Interview.Part?

    init(_ console: Console) {
        self.console = console
    }

    mutating func ask(_ question: Interview.Question, of interview: Interview) throws -> String {
        begin(interview.part)
        if let about = question.about {
            for line in Wrapping.lines(about, width: console.error.width) {
                console.complain(console.styled(line, .dim, on: console.error))
            }
        }
        let standard = interview.standard(of: question) ?? interview.suggestion(of: question)
        let prompt = "\(question.prompt) [\(SafeText.escaped(standard ?? "none"))]: "
        let answer: String? =
            switch question {
            case .secret: console.askHidden("\(question.prompt): ")
            // The answer may be the secret itself.
            case .setting(let path) where Answers.namesSecret(path):
                console.askHidden(
                    standard.map { "\(path) [\(SafeText.escaped($0))], which is not shown: " }
                        ?? "\(path): a path, or Enter to type the secret itself; neither is shown: ")
            case .setting(let path) where standard == nil && !interview.isOptional(.setting(path)):
                console.ask("\(question.prompt): ")
            case .setting, .backend, .authorities, .unencrypted: console.ask(prompt)
            }
        guard let answer else {
            console.complain("")
            throw CommandFailure("the input has ended; nothing was written", status: .needsConfirmation)
        }
        return answer
    }

    private mutating func begin(_ part: Interview.Part?) {
        guard let part, part != shownPart else { return }
        shownPart = part
        let heading = "\(part.rawValue + 1)/\(Interview.Part.allCases.count) \(part.title)"
        console.complain("\n" + console.styled(heading, .bold, on: console.error))
    }

    /// Prints why an answer, or a part's answers, must be given again.
    func refuse(_ mistake: String) {
        console.complain(console.styled(Verdict.failed.mark, .red, on: console.error) + " " + mistake)
    }
}

extension Interview.Question {
    /// The explanation; for a setting, its sentence in the table.
    fileprivate var about: String? {
        switch self {
        case .setting(let path):
            SettingsTable.setting(path).map { setting in
                let choices = setting.traits.choices
                return setting.summary + (choices.isEmpty ? "" : " One of \(choices.joined(separator: ", ")).")
            }
        case .secret: nil
        case .backend: SettingsTable.setting("backend.kind")?.summary
        case .authorities: "A file with the authorities to trust (PEM) for the brokers, in place of the system's."
        case .unencrypted:
            "The brokers' port does not speak TLS: the login, and all that follows, can be read on the way there."
        }
    }

    fileprivate var prompt: String {
        switch self {
        case .setting(let path): path
        case .secret: "The secret itself, which is not shown"
        case .backend: "backend.url, or \(Interview.hub)"
        case .authorities: "ssl.ca.location"
        case .unencrypted: "Log in without TLS? y or n"
        }
    }

}
