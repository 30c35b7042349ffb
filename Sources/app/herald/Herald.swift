import CBuild
import FoundationEssentials
import HeraldCampaigns
import HeraldCommandLine
import HeraldHTTP
import HeraldHub
import HeraldKafka
import HeraldSettings
import HeraldText
import HeraldTools

/// The program: parses the command line, runs the command, and turns its errors into words and an exit status.
enum Herald {
    static let version = "0.1.0"

    static func run(_ words: [String]) async -> ExitStatus {
        let environment = ProcessInfo.processInfo.environment
        var console = Console.system(environment: environment, isQuiet: false, noColor: false)
        do {
            guard !words.isEmpty else {
                let page = HelpPage.render(CommandPath(root: CommandTable.root), width: console.error.width)
                try console.error.write(page)
                return .usage
            }
            switch try CommandLineParser.parse(words, root: CommandTable.root) {
            case .help(let path, let allSettings):
                let page = HelpPage.render(path, width: console.output.width, allSettings: allSettings)
                try console.output.write(page)
            case .version: for line in versionLines { try console.print(line) }
            case .run(let parsed):
                console = Console.system(
                    environment: environment, isQuiet: parsed[GlobalOptions.quiet],
                    noColor: parsed[GlobalOptions.noColor])
                guard let command = CommandTable.command(at: parsed.path.words) else {
                    preconditionFailure("\(parsed.path.name) is declared and not in the table")
                }
                return try await command.run(
                    Invocation(
                        parsed: parsed, console: console, environment: environment, hasDeadline: !command.isService))
            }
            return .done
        } catch {
            return report(error, to: console)
        }
    }

    private static func report(_ error: any Error, to console: Console) -> ExitStatus {
        switch error {
        case let error as UsageError:
            console.complain("herald: \(error)")
            return .usage
        case let error as SettingsError:
            console.complain(error.description)
            return .badSettings
        case let failure as CommandFailure:
            // The reader, such as head, has seen enough.
            if failure.status != .done { console.complain("herald: \(failure)") }
            if failure.status == .unreachable, let remark = QuestionWatch.remark(beside: "\(failure)") {
                console.complain("herald: \(remark)")
            }
            return failure.status
        case let failure as ToolFailure: return report(CommandFailure(failure), to: console)
        case let audience as UnreadableAudience: return report(audience.toolFailure, to: console)
        case let error as KafkaError where error.kind == .unreachable || error.kind == .settling:
            return report(CommandFailure(ToolFailure("a question to the brokers failed", error)), to: console)
        default:
            console.complain("herald: \(error)")
            return .failed
        }
    }

    /// The output of `herald --version`: the version, the commit, and the libraries of the process.
    private static var versionLines: [String] {
        let commit = String(cString: herald_commit())
        let libraries =
            [("librdkafka", KafkaLibrary.version)] + HTTPLibraries.versions
            + [("libyaml", YAMLLibrary.version), ("libexpat", XMLLibrary.version)]
        return ["herald \(version) (\(commit.isEmpty ? "a build without a commit" : "commit \(commit)"))"]
            + libraries.map { "\($0) \($1)" }
    }
}
