import HeraldDoctor
import HeraldSettings

/// The questions of `herald init`: five parts, whose questions depend on the answers so far.
///
/// It decides and does nothing else: answers and findings of checks go in, the next step comes out.
struct Interview {
    enum Part: Int, CaseIterable {
        case brokers
        case login
        case backend
        case pushServices
        case group

        private typealias Row = (
            title: String, needs: Set<Self>, requires: SettingsNeeds, stages: [Stage], shown: Set<Stage>
        )

        private static let broker: [Stage] = [.brokerNames, .brokerPorts]
        private static let cluster = broker + [.brokerTLS, .brokerLogin, .brokers]
        private static let backendStages: [Stage] = [
            .backendName, .backendPort, .backendTLS, .backendAnswer, .backendLogin,
        ]

        private var row: Row {
            switch self {
            case .brokers: ("Brokers", [], [], Self.broker, Set(Self.broker))
            case .login: ("Login", [.brokers], .kafka, Self.cluster, Set(Self.cluster).subtracting(Self.broker))
            case .backend: ("Backend", [], .backend, Self.backendStages, Set(Self.backendStages))
            case .pushServices: ("Push services", [], [], [], [])
            case .group: ("Group", [.brokers, .login], .kafka, Self.cluster + [.topics, .group], [.group])
            }
        }

        var title: String { row.title }
        /// The parts that must work before this one is tested.
        fileprivate var needs: Set<Self> { row.needs }
        /// The settings that must be present and valid before the test.
        var requires: SettingsNeeds { row.requires }
        /// The test: some of the doctor's stages.
        var stages: [Stage] { row.stages }
        /// The stages that earlier parts have not shown.
        var shown: Set<Stage> { row.shown }
    }

    enum Question: Hashable {
        case setting(String)
        case secret(String)
        /// The address of a backend, or the choice of a hub.
        case backend
        /// The authorities trusted for brokers.
        case authorities
        /// Whether a login may go to brokers without TLS.
        case unencrypted
    }

    enum Step: Equatable {
        case ask(Question)
        case examine(Part)
        /// The part's answers do not work: they are asked for again, or kept.
        case decide(Part)
        case done
    }

    struct Findings {
        var failed: Set<Stage> = []
        /// The protocol of the brokers' ports, where it was examined.
        var listener: ListenerSecurity?
    }

    private(set) var answers: Answers
    /// Whether a person answers; otherwise only given values and defaults count.
    let isAttended: Bool
    private(set) var part: Part? = .brokers
    /// The answered questions of this part.
    private var settled: Set<Question> = []
    /// Whether this part is asked again, including questions answered from the start.
    private var isAskedAgain = false
    private var isRefused = false
    /// The parts whose certificates were not trusted, so that authorities are asked for.
    private var distrusting: Set<Part> = []
    private var kept: Set<Part> = []
    /// The answers with which a part failed: they are not defaults any more.
    private var failed: [Question: String] = [:]
    /// Existing files that have the names of secrets' files, by the settings' paths.
    private let presentFiles: [String: String]

    init(_ answers: Answers, isAttended: Bool, presentFiles: [String: String] = [:]) {
        self.answers = answers
        self.isAttended = isAttended
        self.presentFiles = presentFiles
    }

    var step: Step {
        guard let part else { return .done }
        if isRefused { return .decide(part) }
        return open.map(Step.ask) ?? .examine(part)
    }

    /// Takes an answer; an empty one is the default.
    ///
    /// - Returns: the fault of an answer that must be given again.
    mutating func answer(_ text: String, to question: Question) -> String? {
        guard let text = text.isEmpty ? standard(of: question) ?? suggestion(of: question) : text else {
            guard isOptional(question) else { return "an answer is needed" }
            answers.remove(question)
            settled.insert(question)
            return nil
        }
        if question == .unencrypted { return settle(mayBeUnencrypted: text) }
        if let mistake = answers.put(text, for: question) { return mistake }
        settled.insert(question)
        return nil
    }

    private mutating func settle(mayBeUnencrypted text: String) -> String? {
        if ["y", "yes"].contains(text.lowercased()) {
            answers.mayBeUnencrypted = true
            settled.insert(.unencrypted)
        } else {
            // The person chooses another login, or none.
            askAgain()
        }
        return nil
    }

    /// Takes the results of testing the part's answers.
    mutating func take(_ findings: Findings) {
        guard let part else { return }
        answers.listener = findings.listener ?? answers.listener
        for question in Self.blamed(findings.failed, part) { failed[question] = present(question) }
        let isDistrusting = !findings.failed.isDisjoint(with: [.brokerTLS, .backendTLS])
        if findings.failed.isEmpty {
            advance()
        } else if isAttended, isDistrusting, distrusting.insert(part).inserted {
            // The likeliest cause is a private authority, which is asked for unless it was given.
            isRefused = open == nil
        } else {
            isRefused = true
        }
    }

    /// Keeps the part's answers although they do not work; parts that need them are not tested.
    mutating func keep() {
        guard let part else { return }
        kept.insert(part)
        advance()
    }

    /// The questions whose answers are probably wrong when these stages fail.
    private static func blamed(_ stages: Set<Stage>, _ part: Part) -> [Question] {
        stages.flatMap { stage -> [Question] in
            switch stage {
            case .brokerNames, .brokerPorts: part == .brokers ? [.setting("kafka.bootstrapServers")] : []
            case .brokerTLS: [.authorities]
            case .brokerLogin: [.setting("kafka.auth.passwordFile"), .setting("kafka.auth.clientSecretFile")]
            case .backendName, .backendPort: [.backend]
            case .backendTLS: [.setting(backendAuthorities)]
            case .backendLogin:
                ["backend.auth.passwordFile", "backend.auth.tokenFile", "backend.auth.clientSecretFile"].map {
                    .setting($0)
                }
            default: []
            }
        }
    }

    /// Asks the part again, with its answers as defaults, except those that failed.
    mutating func askAgain() {
        isAskedAgain = true
        isRefused = false
        settled = []
        answers.mayBeUnencrypted = false
    }

    /// The flags that an unattended run cannot do without.
    var missingFlags: [String] {
        var rehearsal = self
        var flags: [String] = []
        while true {
            switch rehearsal.step {
            case .ask(let question):
                if rehearsal.answer("", to: question) == nil { continue }
                if let flag = question.flag { flags.append(flag) }
                rehearsal.settled.insert(question)
            case .examine: rehearsal.advance()
            case .decide, .done: return flags
            }
        }
    }

    private mutating func advance() {
        part = part.flatMap { Part(rawValue: $0.rawValue + 1) }
        (settled, isAskedAgain, isRefused) = ([], false, false)
    }

    /// Whether the current part can be tested: the parts it needs work, and it is not the push services, which only a
    /// real notification can test.
    var canTry: Bool {
        part.map { $0 != .pushServices && $0.needs.isDisjoint(with: kept) } ?? false
    }

    private var open: Question? {
        questions.first { !settled.contains($0) && (isAskedAgain || !answers.isGiven($0)) }
    }
}

extension Interview {
    static let backendAuthorities = "backend.tls.caFile"
    static let hub = BackendKind.azureHub.rawValue

    private var questions: [Question] {
        switch part {
        case .brokers: [.setting("kafka.bootstrapServers")]
        case .login: loginQuestions
        case .backend: backendQuestions
        case .pushServices: [.setting("backend.pushServices")]
        case .group: [.setting("kafka.group")]
        case nil: []
        }
    }

    private var loginQuestions: [Question] {
        let more: [Question] =
            switch answers.login {
            case .none: []
            case .plain, .scramSHA256, .scramSHA512:
                [.setting("kafka.auth.username")] + secret("kafka.auth.passwordFile")
            case .oauthbearer:
                [.setting("kafka.auth.tokenURL"), .setting("kafka.auth.clientID")]
                    + secret("kafka.auth.clientSecretFile") + [.setting("kafka.auth.scope")]
            case .certificate: [.setting("kafka.auth.certificateFile"), .setting("kafka.auth.keyFile")]
            }
        let isUnencrypted = isAttended && answers.wantsUnencryptedLogin
        return [.setting("kafka.auth.kind")] + (isUnencrypted ? [.unencrypted] : []) + more
            + (distrusting.contains(.login) ? [.authorities] : [])
    }

    private var backendQuestions: [Question] {
        let more: [Question]
        if answers["backend.kind"] == Self.hub {
            more = secret("backend.hub.connectionStringFile") + [.setting("backend.hub.name")]
        } else {
            let credentials: [Question] =
                switch answers.credentials {
                case .none: []
                case .basic: [.setting("backend.auth.username")] + secret("backend.auth.passwordFile")
                case .bearer: secret("backend.auth.tokenFile")
                case .oauth2:
                    [.setting("backend.auth.tokenURL"), .setting("backend.auth.clientID")]
                        + secret("backend.auth.clientSecretFile") + [.setting("backend.auth.scope")]
                }
            more = [.setting("backend.auth.kind")] + credentials
        }
        return [.backend] + more + (distrusting.contains(.backend) ? [.setting(Self.backendAuthorities)] : [])
    }

    /// The questions about a secret: its file and, unless that exists, its content.
    private func secret(_ path: String) -> [Question] {
        [.setting(path)] + (answers[path] == nil || answers.isTyped(path) ? [.secret(path)] : [])
    }

    /// The value of an empty answer: the previous answer or the setting's default; `nil` when there is none.
    func standard(of question: Question) -> String? {
        let present = present(question)
        if let present, present != failed[question] { return present }
        switch question {
        case .setting(let path): return answers.isTyped(path) ? nil : SettingsTable.setting(path)?.shownStandard
        case .unencrypted: return "n"
        case .secret, .backend, .authorities: return nil
        }
    }

    /// The previous answer or the value given from the start; nil for a typed secret.
    private func present(_ question: Question) -> String? {
        switch question {
        case .setting(let path): answers.isTyped(path) ? nil : answers[path]
        case .backend: answers["backend.kind"] == Self.hub ? Self.hub : answers["backend.url"]
        case .authorities: answers.authorities
        case .secret, .unencrypted: nil
        }
    }

    func suggestion(of question: Question) -> String? {
        guard isAttended else { return nil }
        let suggestion: String? =
            switch question {
            case .setting("kafka.bootstrapServers"): "localhost:9092"
            case .backend: "http://localhost:8080"
            case .setting(let path): answers.isTyped(path) ? nil : presentFiles[path]
            case .secret, .authorities, .unencrypted: nil
            }
        return suggestion == failed[question] ? nil : suggestion
    }

    func isOptional(_ question: Question) -> Bool {
        switch question {
        case .setting("kafka.auth.scope"), .setting("backend.auth.scope"), .setting(Self.backendAuthorities): true
        case .authorities: true
        // Without a file the secret itself is asked for.
        case .setting(let path): isAttended && Answers.namesSecret(path)
        case .secret, .backend, .unencrypted: false
        }
    }
}

extension Interview.Question {
    fileprivate var flag: String? {
        switch self {
        case .setting(let path): SettingsTable.setting(path).map { "--\($0.flag)" }
        case .backend: "--backend-url"
        case .secret, .authorities, .unencrypted: nil
        }
    }
}
