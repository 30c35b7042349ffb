import HeraldCommandLine
import HeraldSettings
import Testing

@testable import herald

@Suite("The table of commands")
struct CommandTableTests {
    private static let paths = CommandPath(root: CommandTable.root).all

    @Test("Every declared command can be run, and describes itself in a sentence")
    func runnable() {
        for path in Self.paths {
            #expect(path.command.summary.hasSuffix("."), "\(path.name)")
            let isCommand = path.command.subcommands.isEmpty
            #expect((CommandTable.command(at: path.words) != nil) == isCommand, "\(path.name)")
        }
    }

    @Test("No command has two options of one name or letter, and every option has a description")
    func unique() {
        for path in Self.paths {
            let names = path.options.map(\.name)
            #expect(Set(names).count == names.count, "\(path.name)")
            let letters = path.options.compactMap(\.short)
            #expect(Set(letters).count == letters.count, "\(path.name)")
            for option in path.options { #expect(option.summary.hasSuffix("."), "\(path.name) --\(option.name)") }
        }
    }

    @Test("Defaults of options are valid, and each option's value can be read")
    func defaults() {
        for path in Self.paths {
            for option in path.options {
                guard let standard = option.standard, let value = option.value else { continue }
                #expect(value.accepts(standard), "\(path.name) --\(option.name)")
            }
        }
    }

    @Test("A command that takes settings has a flag for each of them")
    func settings() throws {
        let path = try #require(CommandPath(root: CommandTable.root).descending(through: ["config", "check"]))
        #expect(Set(path.options.map(\.name)).isSuperset(of: SettingsTable.all.map(\.flag)))
    }

    /// The options in a page of help.
    private static func names(_ page: String) -> Set<String> {
        Set(
            page.split(separator: "\n").compactMap { line in
                guard let start = line.firstRange(of: "--"), line.prefix(while: { $0 != "-" }).allSatisfy({ $0 == " " })
                else { return nil }
                return String(line[start.upperBound...].prefix { !" [".contains($0) })
            })
    }

    @Test("A command uses existing settings, and its help shows only those unless all are requested")
    func used() throws {
        for path in Self.paths {
            guard let command = CommandTable.command(at: path.words) else { continue }
            for name in command.usedSettings.paths {
                #expect(
                    SettingsTable.all.contains { command.usedSettings.includes($0.path) && $0.path.hasPrefix(name) },
                    "\(name)")
            }
            let page = HelpPage.render(path, width: 100)
            let whole = HelpPage.render(path, width: 100, allSettings: true)
            for setting in SettingsTable.all {
                let isHeeded = command.usedSettings.includes(setting.path)
                #expect(Self.names(page).contains(setting.flag) == isHeeded, "\(path.name) --\(setting.flag)")
                #expect(Self.names(whole).contains(setting.flag) == !command.usedSettings.paths.isEmpty, "\(path.name)")
            }
        }
        let publish = try #require(CommandPath(root: CommandTable.root).descending(through: ["publish"]))
        #expect(publish.options.filter { $0.isUnused }.map(\.name).contains("outages-dead-letter-breaker-of"))
        #expect(!publish.options.filter { $0.isUnused }.map(\.name).contains("limits-event-bytes"))
    }

    @Test("An unknown flag suggests a similar one; settings' flags belong to commands that use settings")
    func unknownFlags() {
        #expect(
            CommandTable.mistake(in: ["config", "check", "--backend-ulr", "x"])
                == "unknown option --backend-ulr; did you mean --backend-url?")
        let message = CommandTable.mistake(in: ["config", "docs", "--backend-url", "x"])
        #expect(message?.contains("unknown option --backend-url") == true)
    }
}

extension CommandTable {
    /// The fault of a command line; `nil` when it can be read.
    static func mistake(in words: [String]) -> String? {
        do {
            _ = try CommandLineParser.parse(words, root: root)
            return nil
        } catch {
            return error.message
        }
    }
}
