import HeraldCommandLine
import HeraldDoctor
import HeraldSettings
import HeraldText

enum DoctorCommand: HeraldCommand {
    static let only = CommandOption.optional(
        "only", .choice(Examination.Part.self), "Check only this half; the other's settings may be missing.")

    static let workers = CommandOption.optional(
        "workers", .commaSeparated("HOST:PORT,…"),
        "Ask the workers at these admin ports, instead of those at the hosts of the group's members.")

    static let declaration = CommandDeclaration(
        "doctor", "Check everything that a worker needs, and say how to fix what is wrong.",
        details:
            "Settings, names, connections, TLS and its expiry, logins, each topic, each permission, a transaction begun "
            + "and aborted, the group, what its workers report, its lag, the backend's credentials, the "
            + "clock. One line each: ✓ passed, ! works but needs a look, ✗ must be fixed, - not checked because of "
            + "something else. It takes at most 20 s, even without answers, notifies nobody, joins no group, and "
            + "leaves nothing that a reader of committed records sees.\n\nThe exit status is 1 if something must be "
            + "fixed, 3 after a signal, 78 if the settings are wrong, else 0. docs/DOCTOR.md says what each line proves.",
        options: [only, workers, OutputFormat.option],
        examples: [
            .init("herald doctor --config herald.yaml", "Before the first start, and whenever something is wrong."),
            .init("herald doctor --only kafka -o jsonl", "The brokers' half, for a program."),
        ])
    static let usedSettings: UsedSettings = .doctor

    static func run(_ invocation: Invocation) async throws -> ExitStatus {
        var output = DoctorOutput(invocation.format, invocation.console)
        let part = invocation.parsed[only]
        let examination: Examination
        do {
            let needs: SettingsNeeds = part.map { $0 == .kafka ? [.kafka] : [.backend] } ?? [.kafka, .backend]
            let loaded = try invocation.loadedSettings(requiring: needs)
            // It changes nothing, so the first signal ends it.
            _ = try StopRequest.listen()
            examination = try loaded.settings.examination(of: part, workers: invocation.parsed[workers])
            try output.write(settings(loaded))
            if loaded.settings.preferences.enabled { try output.write(words(loaded.settings)) }
            for file in loaded.sharedFiles {
                try output.write(
                    Check(
                        "settings", file.path, .warning, file.message, fix: "let only those read it who run Herald"))
            }
        } catch let error as SettingsError {
            let count = error.mistakes.count
            try output.write(
                Check(
                    "settings", "", .failed, "\(count) mistake\(count == 1 ? "" : "s")",
                    fix: "correct the settings that standard error names; herald config check finds the same"))
            try output.finish()
            throw error
        }
        try examination.run { _, check in try output.write(check) }
        try output.finish()
        invocation.console.remark(output.summary)
        return output.count(.failed) > 0 ? .failed : .done
    }

    /// What a worker reads at its start to obey users' words: time zones, and the secret.
    private static func words(_ settings: Settings) -> Check {
        do {
            try settings.checkLastWord()
        } catch {
            return Check(
                "settings", "preferences", .failed, "a worker does not start: \(error)",
                fix: "correct it; herald config check finds the same")
        }
        let secret = settings.preferences.forgetKeyFile == nil ? "" : ", and the secret"
        return Check("settings", "preferences", .passed, "time zones\(secret) can be read")
    }

    private static func settings(_ loaded: LoadedSettings) -> Check {
        let count = loaded.warnings.count
        guard count > 0 else { return Check("settings", "", .passed, "all are valid") }
        return Check(
            "settings", "", .warning, "valid, with \(count) warning\(count == 1 ? "" : "s")",
            fix: "see standard error")
    }
}
