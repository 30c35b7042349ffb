import Foundation
import HeraldCommandLine
import Testing

@Suite("Help, manual page and completion")
struct GeneratedTextTests {
    private let paths = CommandPath(root: SampleProgram.root).all

    @Test("Help names every command, argument and option, and keeps to its width", arguments: [40, 80, 200])
    func help(width: Int) {
        for path in paths {
            let page = HelpPage.render(path, width: width)
            for option in path.options {
                #expect(page.contains("--\(option.name)"))
                #expect(words(page).contains(words(option.summary)))
            }
            for command in path.command.subcommands { #expect(page.contains("  \(command.name) ")) }
            for argument in path.command.arguments { #expect(page.contains(argument.value.placeholder)) }
            // A name or an example is never broken; everything else is.
            for line in page.split(separator: "\n") where line.count > width {
                #expect(line.hasPrefix("  ") && !line.dropFirst(2).contains("   "), "\(line)")
            }
        }
    }

    private func words(_ text: String) -> String {
        text.split(whereSeparator: \.isWhitespace).joined(separator: " ")
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

    @Test("A completion script names every command and option", arguments: CompletionScript.Shell.allCases)
    func completion(shell: CompletionScript.Shell) {
        let script = CompletionScript.render(SampleProgram.root, for: shell)
        for path in paths {
            #expect(script.contains("\"\(path.name)\""))
            for option in path.options {
                #expect(script.contains(shell == .fish ? "-l \(option.name)" : "--\(option.name)"))
            }
        }
    }

    @Test("The shells that are installed can read their completion", arguments: CompletionScript.Shell.allCases)
    func syntax(shell: CompletionScript.Shell) throws {
        let program = ["/bin/", "/usr/bin/"].map { $0 + shell.rawValue }
            .first { FileManager.default.isExecutableFile(atPath: $0) }
        guard let program else { return }
        let status = try run(program, ["-n"], input: CompletionScript.render(SampleProgram.root, for: shell)).status
        #expect(status == 0)
    }

    @Test(
        "Bash completes commands, options, choices and the commands of a group",
        arguments: [
            (["sample", ""], "send"), (["sample", "to"], "topics"), (["sample", "topics", "a"], "apply"),
            (["sample", "send", "--us"], "--user"), (["sample", "send", "-o", "jsonl"], "jsonl"),
            (["sample", "send", "--output", "t"], "table"), (["sample", "topics", "plan", "--con"], "--config"),
            (["sample", "send", "--user", "x"], ""),
        ])
    func bash(words: [String], reply: String) throws {
        let script =
            CompletionScript.render(SampleProgram.root, for: .bash) + """

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
