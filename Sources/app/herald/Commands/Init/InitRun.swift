import FoundationEssentials
import Glibc
import HeraldCommandLine
import HeraldDoctor
import HeraldSettings
import HeraldText

/// One run of `herald init`: asks, tests the answers, writes the file, and examines it like the doctor.
struct InitRun {
    private let invocation: Invocation
    private let console: Console
    private let stop: StopRequest
    private let output: String
    private let isForced: Bool
    private let skipsChecks: Bool
    private var interview: Interview
    private var screen: InterviewScreen
    /// The typed secrets, by the paths of the settings that name their files.
    ///
    /// All are kept until the end, because clients distinguish logins by the path.
    private var secrets: [(setting: String, secret: HeldSecret)] = []

    init(_ invocation: Invocation, output: String, isForced: Bool, skipsChecks: Bool, isAttended: Bool) throws {
        self.invocation = invocation
        console = invocation.console
        screen = InterviewScreen(console)
        (self.output, self.isForced, self.skipsChecks) = (output, isForced, skipsChecks)
        try Self.checkPlace(output, isForced: isForced)
        let loaded = try invocation.readSettings(requiring: [])
        let secrets = loaded.openSecrets
        guard secrets.isEmpty else { throw SettingsError(mistakes: secrets) }
        var presentFiles: [String: String] = [:]
        if !isForced {
            for setting in SettingsTable.all where Answers.namesSecret(setting.path) {
                let file = Self.secretFile(of: setting, beside: output)
                if access(file, F_OK) == 0 { presentFiles[setting.path] = file }
            }
        }
        interview = Interview(
            Answers(loaded, directory: Self.workingDirectory), isAttended: isAttended, presentFiles: presentFiles)
        stop = try StopRequest.listen()
    }

    /// Checks before the first question whether the file can be created.
    private static func checkPlace(_ path: String, isForced: Bool) throws {
        var status = stat()
        if stat(path, &status) == 0 {
            guard status.st_mode & S_IFMT == S_IFREG else { throw CommandFailure("\(path) is no file") }
            guard isForced else {
                throw CommandFailure(
                    "\(path) is there already: name another file with --output, or replace it with --force")
            }
        }
        let directory = Self.directory(of: path)
        guard access(directory, W_OK | X_OK) == 0 else {
            throw CommandFailure("\(directory): cannot write: \(String(cString: strerror(errno)))")
        }
    }

    private static func directory(of path: String) -> String {
        guard let slash = path.lastIndex(of: "/") else { return "." }
        return slash == path.startIndex ? "/" : String(path[..<slash])
    }

    private static var workingDirectory: String { FileManager.default.currentDirectoryPath }

    mutating func run() throws -> ExitStatus {
        let missing = interview.isAttended ? [] : interview.missingFlags
        guard missing.isEmpty else {
            let isOpen = missing.contains { $0.hasPrefix("--backend-auth-") }
            throw invocation.parsed.mistake(
                "no questions are asked, so flags are needed: \(missing.joined(separator: ", "))"
                    + (isOpen ? " (or --backend-auth-kind none, for a backend that wants no credentials)" : ""))
        }
        while interview.step != .done { try go() }
        try write()
        return try examineFile()
    }

    private mutating func go() throws {
        switch interview.step {
        case .ask(let question): try answer(question)
        case .examine(let part): try examine(part)
        case .decide: try decide()
        case .done: break
        }
    }

    private mutating func answer(_ question: Interview.Question) throws {
        guard interview.isAttended else {
            if let mistake = interview.answer("", to: question) { throw invocation.parsed.mistake(mistake) }
            return
        }
        var text = try stop.answer { try screen.ask(question, of: interview) }
        if case .secret(let setting) = question, !text.isEmpty {
            let secret = try HeldSecret(Secret(text), in: invocation.temporaryDirectory)
            secrets.append((setting, secret))
            text = secret.path
        }
        if case .setting(let path) = question, Answers.namesSecret(path), !text.isEmpty {
            guard access(text, R_OK) == 0 else {
                // It may be the secret itself.
                return screen.refuse("\(path): no file can be read under what was typed")
            }
            console.remark("It is read from \(SafeText.escaped(text)).")
        }
        if let mistake = interview.answer(text, to: question) { screen.refuse(mistake) }
    }

    private mutating func decide() throws {
        let isKept = try stop.answer { try Confirmation.ask("Keep it anyway?", isAssumed: false, console: console) }
        if isKept { interview.keep() } else { interview.askAgain() }
    }
}

/// The tests of a part's answers: some of the doctor's stages.
extension InitRun {
    private mutating func examine(_ part: Interview.Part) throws {
        let examination: Examination
        let settings: Settings
        do {
            settings = try invocation.readSettings(requiring: part.requires, replacing: interview.answers.flags)
                .settings
            examination = try settings.examination(of: part.examined)
        } catch let error as SettingsError where interview.isAttended {
            for mistake in error.mistakes { screen.refuse("\(mistake.path): \(mistake.message)") }
            return interview.askAgain()
        }
        guard !skipsChecks, interview.canTry else { return interview.take(Interview.Findings()) }
        console.remark("Trying it …")
        var findings = Interview.Findings()
        examination.run(part.stages) { stage, check in
            // A new cluster has no topics yet.
            guard stage != .topics else { return }
            let isFailed = check.verdict == .failed
            if isFailed { findings.failed.insert(stage) }
            guard isFailed || (part.shown.contains(stage) && check.verdict != .skipped) else { return }
            console.complain(check.line(for: console, on: console.error))
        }
        if part == .brokers, findings.failed.isEmpty {
            findings.listener = ListenerSecurity.find(at: settings.kafka.bootstrapServers)
        }
        if !interview.isAttended, !findings.failed.isEmpty { throw part.failure(findings.failed) }
        interview.take(findings)
    }
}

extension Interview.Part {
    /// The part of the examination that tests it.
    fileprivate var examined: Examination.Part { self == .backend ? .backend : .kafka }

    fileprivate func failure(_ stages: Set<Stage>) -> CommandFailure {
        let isSilent = !stages.isDisjoint(with: [.brokerNames, .brokerPorts, .backendName, .backendPort])
        return CommandFailure(
            "\(title): what \(Verdict.failed.mark) names has to be corrected; nothing was written (--skip-checks writes it)",
            status: isSilent ? .unreachable : .failed)
    }
}

extension InitRun {
    /// `herald.kafka-password` beside `herald.yaml`.
    private static func secretFile(of setting: any AnySetting, beside output: String) -> String {
        let stem = [".yaml", ".yml"].first(where: output.hasSuffix).map { output.dropLast($0.count) } ?? output[...]
        let name = setting.flag.replacing("-auth-", with: "-")
        return "\(stem).\(name.hasSuffix("-file") ? name.dropLast("-file".count) : name[...])"
    }

    private mutating func write() throws {
        // Everything works, with the secrets where they are now.
        _ = try invocation.readSettings(requiring: [.kafka, .backend], replacing: interview.answers.flags)
        var answers = interview.answers
        var files: [(name: String, file: OutputFile)] = []
        for (path, secret) in secrets.reversed() where answers.isTyped(path) {
            guard let setting = SettingsTable.setting(path) else { continue }
            let name = Self.secretFile(of: setting, beside: output)
            let file = try OutputFile(name, replaces: isForced)
            try file.stream.write(secret.text.reveal() + "\n")
            files.append((name, file))
            answers.moveSecret(of: path, to: name.hasPrefix("/") ? name : "\(Self.workingDirectory)/\(name)")
        }
        let text = try invocation.readSettings(requiring: [], replacing: answers.flags).file(under: heading)
        // It contains no secrets.
        let file = try OutputFile(output, readers: .umask, replaces: isForced)
        try file.stream.write(text)
        for (_, file) in files { try file.finish() }
        try file.finish()
        console.remark("Written: \(output)")
        for (name, _) in files { console.remark("Written: \(name), which only its owner can read") }
    }

    private var heading: [String] {
        [
            "Herald's settings, made by herald init. docs/SETTINGS.md says what each of them and all others do;",
            "herald config check finds mistakes, herald doctor tries everything.",
        ]
    }

    /// Examines everything a worker needs, with the settings of the file.
    private func examineFile() throws -> ExitStatus {
        var next = NextCommand()
        if !skipsChecks {
            let needs: SettingsNeeds = [.kafka, .backend]
            let loaded = try Settings.load(
                SettingsSources(file: .path(output), environment: invocation.environment), requiring: needs
            ) { LibraryChecks($0, requiring: needs).mistakes }
            for warning in loaded.warnings { console.complain("warning: \(warning)") }
            var report = DoctorOutput(.table, console)
            try loaded.settings.examination(of: nil).run { _, check in
                next.note(check)
                try report.write(check)
            }
            console.remark(report.summary)
        }
        console.remark(next.sentence(for: output))
        return next.status
    }
}
