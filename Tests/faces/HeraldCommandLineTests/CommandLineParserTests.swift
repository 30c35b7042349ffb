import HeraldCommandLine
import Testing

@Suite("Parsing the command line")
struct CommandLineParserTests {
    private func parsed(_ words: String...) throws -> ParsedCommand {
        guard case .run(let parsed) = try CommandLineParser.parse(words, root: SampleProgram.root) else {
            throw UsageError("no command", command: "")
        }
        return parsed
    }

    @Test("Options and arguments are understood in every form and order")
    func everything() throws {
        let parsed = try parsed(
            "--config", "c.yaml", "send", "-n", "5", "file", "--user=--odd", "-1", "--pns", "apns,gcm", "-ta", "--tag",
            "b", "-t=c", "--wait", "30s", "-ojson", "--", "table", "jsonl")
        #expect(parsed.path.words == ["send"])
        #expect(parsed[SampleProgram.config] == "c.yaml")
        #expect(parsed[SampleProgram.count] == 5)
        #expect(parsed[SampleProgram.user] == "--odd")
        #expect(parsed[SampleProgram.once])
        #expect(parsed[SampleProgram.services] == ["apns", "gcm"])
        #expect(parsed[SampleProgram.tags] == ["a", "b", "c"])
        #expect(parsed[SampleProgram.wait] == .seconds(30))
        #expect(parsed[OutputFormat.option] == .json)
        #expect(parsed[SampleProgram.file] == "file")
        #expect(parsed[SampleProgram.others] == [.table, .jsonl])
    }

    @Test("An option that is not given is absent or has its default")
    func absent() throws {
        let parsed = try parsed("send", "--user", "u", "-")
        #expect(parsed[SampleProgram.count] == 3)
        #expect(parsed[SampleProgram.services] == nil)
        #expect(parsed[SampleProgram.wait] == nil)
        #expect(!parsed[SampleProgram.once])
        #expect(parsed[SampleProgram.tags] == [])
        #expect(parsed[OutputFormat.option] == .table)
        #expect(parsed[SampleProgram.file] == "-")
        #expect(parsed[SampleProgram.others] == [])
    }

    @Test(
        "A toggle is true by itself, and takes true or false",
        arguments: [
            (["--static"], "true"), (["--static", "false"], "false"), (["--static=false"], "false"),
            (["--static=odd"], "odd"),
        ])
    func toggle(words: [String], value: String) throws {
        let request = try CommandLineParser.parse(["send", "--user", "u", "f"] + words, root: SampleProgram.root)
        guard case .run(let parsed) = request else { throw UsageError("no command", command: "") }
        #expect(parsed.options["static"] == [value])
        #expect(parsed[SampleProgram.file] == "f")
    }

    @Test(
        "A mistake is explained, with a suggestion when one is near",
        arguments: [
            (["send", "--recipient", "x"], "unknown option --recipient; did you mean --user?"),
            (["send", "--pms", "x"], "unknown option --pms; did you mean --pns?"),
            (["send", "--usr=CANARY"], "unknown option --usr; did you mean --user?"),
            (["sned"], "unknown command \"sned\"; did you mean send?"), (["topics", "aply"], "did you mean apply?"),
            (["topics"], "a command is missing; one of plan, apply"), ([], "a command is missing"),
            (["send", "-x"], "unknown option -x"), (["send", "--user"], "--user needs a value: USER"),
            (["send", "--user", "--once"], "one that begins with a dash is written --user=…"),
            (["send", "--once=yes"], "--once takes no value"), (["send", "f"], "--user USER is missing"),
            (["send", "--user", "u"], "FILE is missing"),
            (["send", "--user", "u", "--user", "v"], "--user is given twice"),
            (["send", "-n", "10"], "-n: \"10\" is not allowed; allowed: 1 to 9"),
            (["send", "-n", "-1"], "allowed: 1 to 9"),
            (["send", "--wait", "5x"], "allowed: a duration such as"),
            (["send", "--pns", "a,,b"], "separated by commas"),
            (["send", "-o", "jason"], "allowed: table, json, jsonl; did you mean json?"),
            (["send", "--user", "u", "f", "tabel"], "did you mean table?"),
            (["topics", "plan", "surplus\u{1B}"], "unexpected argument \"surplus\\u{1B}\""),
            (["topics", "plan", "--user", "u"], "unknown option --user"),
            (["--colour\n"], "unknown option --colour\\n"),
        ])
    func mistakes(words: [String], message: String) {
        let mistake = SampleProgram.mistake(words)
        #expect(mistake?.contains(message) == true, "\(mistake ?? "understood")")
        #expect(mistake?.contains("CANARY") != true)
    }

    @Test("Help is available at every level, even beside missing arguments; the version only at the top")
    func help() throws {
        for (words, name) in [
            (["--help"], "sample"), (["send", "-h"], "sample send"), (["topics", "--help"], "sample topics"),
            (["--help", "topics", "plan"], "sample topics plan"),
        ] {
            guard case .help(let path, _) = try CommandLineParser.parse(words, root: SampleProgram.root) else {
                Issue.record("\(words) is no request for help")
                continue
            }
            #expect(path.name == name)
        }
        guard case .version = try SampleProgram.parse("--version") else {
            Issue.record("--version is no request for the version")
            return
        }
        #expect(SampleProgram.mistake(["send", "--version"])?.contains("unknown option --version") == true)
    }
}
