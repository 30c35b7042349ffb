import Foundation
import HeraldCommandLine
import Testing

@Suite("Help, manual page and completion")
struct GeneratedTextTests {
    private let paths = CommandPath(root: SampleProgram.root).all

    @Test("Help names every command, argument and option, and keeps to its width", arguments: [40, 80, 200])
    func help(width: Int) {
        for path in paths {
            let page = HelpPage.render(path, width: width, allSettings: true)
            for option in path.options {
                #expect(page.contains("--\(option.name)"))
                #expect(words(page).contains(words(option.summary)))
            }
            for command in path.command.subcommands { #expect(page.contains("  \(command.name) ")) }
            for argument in path.command.arguments { #expect(page.contains(argument.name)) }
            // A name or an example is never broken; everything else is.
            for line in page.split(separator: "\n") where line.count > width {
                #expect(line.hasPrefix("  ") && !line.dropFirst(2).contains("   "), "\(line)")
            }
        }
    }

    private func words(_ text: String) -> String {
        text.split(whereSeparator: \.isWhitespace).joined(separator: " ")
    }

    @Test("Help lists options without effect only on request for all settings, and mentions the request")
    func unused() throws {
        let send = try #require(CommandPath(root: SampleProgram.root).descending(through: ["send"]))
        let brief = HelpPage.render(send, width: 80)
        #expect(!brief.contains("--fuse") && brief.contains("--static") && brief.contains("--settings"))
        #expect(HelpPage.render(send, width: 80, allSettings: true).contains("--fuse"))
        #expect(try #require(completions("send", "--")).contains("--fuse") == false)
        guard case .help(let path, let allSettings) = try SampleProgram.parse("send", "--help", "--settings") else {
            return #expect(Bool(false), "no help")
        }
        #expect(path.name == "sample send" && allSettings)
        #expect(
            SampleProgram.mistake(["send", "--settings", "--user", "u", "f"])
                == "--settings goes with --help: sample send --help --settings")
    }

    @Test("The manual page lists exit statuses, the environment and examples")
    func manualSections() {
        let page = ManualPage.render(SampleProgram.root, version: "1.2.3")
        #expect(page.contains(".SH EXIT STATUS\n.TP\n.B 0\n") && page.contains(".TP\n.B 78\nThe settings are wrong"))
        #expect(page.contains(".SH ENVIRONMENT\n.TP\n.B SAMPLE_HOME\nWhere everything is.\n"))
        #expect(page.contains(".SH EXAMPLES\n.PP\nLooks first.\n.PP\n.RS 4\n.nf\nsample topics plan\n.fi"))
        #expect(page.contains("Settings that it uses: \\-\\-static.\n"))
    }

    @Test("The manual page names everything, is ASCII, and no text of it is taken for a request")
    func manual() {
        let page = ManualPage.render(SampleProgram.root, version: "1.2.3")
        for path in paths {
            for option in path.options { #expect(page.contains("\\-\\-\(option.name.replacing("-", with: "\\-"))")) }
            #expect(page.contains(path.command.name))
        }
        #expect(page.utf8.allSatisfy { $0 < 0x80 })
        #expect(page.contains("\n\\&.Second paragraph with \\[u2026]."))
        #expect(page.contains("Sends \\e it."))
    }

    /// The words that complete the last of these; nil for a file.
    private func completions(_ words: String...) -> [String]? {
        Completion.candidates(for: words, of: SampleProgram.root)?.map(\.word)
    }

    @Test("Every command and option is completed, in each shell's notation")
    func completion() throws {
        for path in paths {
            let words = path.words + [""]
            let found = try #require(Completion.candidates(for: words, of: SampleProgram.root)).map(\.word)
            for command in path.command.subcommands { #expect(found.contains(command.name)) }
            for option in path.options where !option.isUnused { #expect(found.contains("--\(option.name)")) }
        }
        #expect(completions("send", "--config", "x") == nil && completions("send", "--config=x") == nil)
        #expect(Completion.answer(to: ["--config="], of: SampleProgram.root, in: .fish) == ":file\n")
        let answers = Completion.Shell.allCases.map { Completion.answer(to: ["top"], of: SampleProgram.root, in: $0) }
        #expect(answers == ["topics\n", "topics:Looks at topics.\n", "topics\tLooks at topics.\n"])
    }

    @Test("The installed shells can read their completion", arguments: Completion.Shell.allCases)
    func syntax(shell: Completion.Shell) throws {
        let program = ["/bin/", "/usr/bin/"].map { $0 + shell.rawValue }
            .first { FileManager.default.isExecutableFile(atPath: $0) }
        guard let program else { return }
        let status = try run(program, ["-n"], input: Completion.script(of: "sample", for: shell)).status
        #expect(status == 0)
    }

    @Test(
        "Bash completes commands, options, choices and the commands of a group",
        arguments: [
            (["sample", ""], "send"), (["sample", "to"], "topics"), (["sample", "topics", "a"], "apply"),
            (["sample", "send", "--us"], "--user"), (["sample", "send", "-o", "jsonl"], "jsonl"),
            (["sample", "send", "--output", "t"], "table"), (["sample", "topics", "plan", "--con"], "--config"),
            (["sample", "send", "--user", "x"], ""), (["sample", "send", "--pns", ""], "apns"),
            (["sample", "send", "--pns", "apns,g"], "apns,gcm"), (["sample", "send", "--output=t"], "table"),
            (["sample", "send", "--output", "=", "t"], "table"), (["sample", "send", "--output", "="], "table"),
            (["sample", "send", "--pns", "=", "wns,ap"], "wns,apns"), (["sample", "send", "--group", "st"], "status="),
            (["sample", "send", "--group", "reason", "=", "rej"], "rejected"),
            (["sample", "send", "--group", "=", "reason", "=", "rej"], "rejected"),
            (["sample", "send", "--static", "=", "f"], "false"), (["sample", "send", "--static", "--us"], "--user"),
            (["sample", "--config", "=", "x", "topics", "p"], "plan"),
        ])
    func bash(words: [String], reply: String) throws {
        // The words as they were typed: without blanks around "=".
        let typed = words.joined(separator: " ").replacing(" = ", with: "=").replacing(" =", with: "=")
            .split(separator: " ", omittingEmptySubsequences: false).map(String.init)
        let answer = Completion.answer(to: Array(typed.dropFirst()), of: SampleProgram.root, in: .bash)
        let script =
            Completion.script(of: "sample", for: .bash) + """

                sample() {
                    [[ "$*" == '\((["completion", "bash", "--"] + typed.dropFirst()).joined(separator: "\n"))' ]] || return
                    printf '%s' '\(answer)'
                }
                COMP_WORDBREAKS=$' \\t\\n"\\'><=;|&(:'
                COMP_WORDS=(\(words.map { "'\($0)'" }.joined(separator: " "))) COMP_CWORD=\(words.count - 1)
                _sample
                echo "${COMPREPLY[@]}"
                """
        let output = try run("/bin/bash", ["--norc"], input: script).output
        #expect(output.split(whereSeparator: \.isWhitespace).first.map(String.init) ?? "" == reply)
    }

    private func run(_ program: String, _ arguments: [String], input: String) throws -> (status: Int32, output: String)
    {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        try Data(input.utf8).write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        let process = Process()
        let pipe = Pipe()
        process.executableURL = URL(fileURLWithPath: program)
        process.arguments = arguments + [file.path]
        process.standardOutput = pipe
        try process.run()
        let data = pipe.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        return (process.terminationStatus, String(decoding: data, as: UTF8.self))
    }
}
