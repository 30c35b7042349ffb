import Foundation
import TestSupport
import Testing

@Suite("Starting a campaign, as a process without a broker", .realTime)
struct CampaignStartCommandTests {
    private let directory = FileManager.default.temporaryDirectory.appending(path: "start-\(UUID().uuidString)")

    private func inDirectory(_ body: (URL) async throws -> Void) async throws {
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: directory) }
        try await body(directory)
    }

    private func words(_ directory: URL, _ more: [String], message: String? = "Hi {{first_name}}") -> [String] {
        ["campaign", "start", "--name", "spring", "--pns", "apns,gcm"]
            + ["--invalid-file", directory.appending(path: "invalid.csv").path]
            + (message.map { ["--message", $0] } ?? []) + more
    }

    @Test("A dry run needs neither settings nor a broker, and shows the consequences, harmless to a terminal")
    func dryRun() async throws {
        try await inDirectory { directory in
            let input = "user,first_name\nann,Ann\nbob,\u{1B}[31m\u{202E}Bob\nann,again\na b,=1+1\n"
            let run = try await HeraldProgram.run(
                words(
                    directory,
                    ["--audience", "-", "--dry-run", "--rate", "30/m", "--ramp", "1,10", "--max-invalid", "25%"]),
                input: input)
            #expect(run.status == 0 && run.error.isEmpty, "\(run.error)")
            #expect(
                run.output.hasPrefix(
                    "Campaign spring: 2 recipients, 1 repeat, 1 invalid line\n"
                        + "  read as CSV with commas, users in the column \"user\"\n  line 5: user holds"))
            #expect(run.output.contains("to notifications.bulk, for apns and gcm: 4 notifications"))
            #expect(run.output.contains("takes at least 2 s at 0.5/s") && run.output.contains("begins with 1, 10,"))
            #expect(run.output.contains("bob: Hi \\u{1B}[31m\\u{202E}Bob") && !run.output.contains("\u{1B}"))
            let invalid = try String(contentsOf: directory.appending(path: "invalid.csv"), encoding: .utf8)
            #expect(invalid.hasPrefix("user,first_name,invalid_line,invalid_row,invalid_why\r\na b,'=1+1,5,5,"))

            let json = try await HeraldProgram.run(
                words(directory, ["--audience", "-", "--dry-run", "-o", "jsonl", "--format", "jsonl"]),
                input: #"{"user":"ann","first_name":"Ann"}"#)
            let record = try #require(json.records.first)
            #expect(record["recipients"] as? Int == 1 && record["invalid"] as? Int == 0 && json.records.count == 1)
            #expect((record["samples"] as? [[String: String]])?.first == ["user": "ann", "message": "Hi Ann"])
        }
    }

    @Test("An editor's additions to a message are not sent, and another tool's filter is refused")
    func editors() async throws {
        try await inDirectory { directory in
            let file = directory.appending(path: "message.txt")
            try "\u{FEFF}Hi\r\n{{user}}\r\n".write(to: file, atomically: true, encoding: .utf8)
            let base = ["--audience", "-", "--dry-run", "-o", "jsonl"]
            let run = try await HeraldProgram.run(
                words(directory, base + ["--message-file", file.path], message: nil), input: "user\nann\n")
            let sample = (run.records.first?["samples"] as? [[String: String]])?.first
            #expect(sample?["message"] == "Hi\nann", "\(run.error)")
            let filter = try await HeraldProgram.run(
                words(directory, base, message: "Hi {{user|upper}}"), input: "user\nann\n")
            #expect(filter.status == 2 && filter.error.contains("looks like a filter"), "\(filter.error)")
        }
    }

    @Test("Each recipient's own message comes from a column, and the preview shows the longest and the emptiest")
    func messageColumn() async throws {
        try await inDirectory { directory in
            let audience = "user;text;city\nann;Hi Ann;Ulm\nbob;Привет, Боб;\ncid;;Bonn\n"
            let base = ["--audience", "-", "--dry-run", "--message-column", "text"]
            let run = try await HeraldProgram.run(
                words(directory, base + ["--title", "{{city|Here}}", "--max-invalid", "50%"], message: nil),
                input: audience)
            #expect(run.output.contains("2 recipients, 0 repeats, 1 invalid line"), "\(run.error)\(run.output)")
            #expect(run.output.contains("line 4: the message is empty"), "\(run.output)")
            #expect(run.output.contains("  ann: Hi Ann\n    title: Ulm\n"), "\(run.output)")
            #expect(
                run.output.contains("  the longest, with 15 characters, is that of bob: Привет, Боб\n"), "\(run.output)"
            )
            #expect(run.output.contains("  the emptiest, without city, is that of bob: Привет, Боб\n"), "\(run.output)")
            let both = try await HeraldProgram.run(words(directory, base, message: "Hi"), input: audience)
            #expect(both.status == 2 && both.error.contains("only one can be given"), "\(both.error)")
            let braces = try await HeraldProgram.run(
                words(directory, ["--audience", "-", "--dry-run", "--message-column", "a}"], message: nil),
                input: audience)
            #expect(braces.status == 2 && braces.error.contains("rename the column"), "\(braces.error)")
        }
    }

    @Test("A spreadsheet's file is read as it is, and too many invalid lines stop it with the reason")
    func spreadsheet() async throws {
        try await inDirectory { directory in
            let file = directory.appending(path: "users.csv")
            let few = "\u{FEFF}sep=;\r\nE-Mail;first_name\r\nann@x.org;Ann\r\nb b;Bob\r\n"
            try (few + (0..<18).map { "\($0) x;Bob\r\n" }.joined())
                .write(to: file, atomically: true, encoding: .utf8)
            let base = ["--audience", file.path, "--dry-run"]
            let unnamed = try await HeraldProgram.run(words(directory, base))
            #expect(unnamed.status == 1 && unnamed.error.contains("its columns are \"E-Mail\", \"first_name\""))
            let stopped = try await HeraldProgram.run(words(directory, base + ["--user-column", "E-Mail"]))
            #expect(
                stopped.status == 1 && stopped.error.contains("19 of 20 lines are invalid (95.0%)"), "\(stopped.error)")
            #expect(stopped.output.contains("read as CSV with semicolons, users in the column \"E-Mail\""))
            let allowed = try await HeraldProgram.run(
                words(directory, base + ["--user-column", "E-Mail", "--max-invalid", "95%"]))
            #expect(allowed.status == 0 && allowed.output.contains("ann@x.org: Hi Ann"), "\(allowed.error)")
            try few.write(to: file, atomically: true, encoding: .utf8)
            let short = try await HeraldProgram.run(words(directory, base + ["--user-column", "E-Mail"]))
            #expect(short.status == 0 && short.output.contains("1 invalid line"), "a share of two lines says nothing")
            let strict = try await HeraldProgram.run(
                words(directory, base + ["--user-column", "E-Mail", "--max-invalid", "0%"]))
            #expect(strict.status == 1 && strict.error.contains("1 of 2 lines is invalid"), "\(strict.error)")
            let wrong = try await HeraldProgram.run(words(directory, base + ["--delimiter", "x"]))
            #expect(wrong.status == 2 && wrong.error.contains("semicolon"), "\(wrong.error)")
        }
    }

    @Test(
        "An empty audience is not a success, and blank lines are counted", arguments: ["", ";;\r\n ; \r\n"])
    func nobody(rows: String) async throws {
        try await inDirectory { directory in
            let run = try await HeraldProgram.run(
                words(directory, ["--audience", "-", "--dry-run"]), input: "user;first_name\r\n\(rows)")
            #expect(run.status == 1 && run.error.contains("the audience has no recipients"), "\(run.error)")
            #expect(run.output.contains("2 empty lines") == !rows.isEmpty, "\(run.output)")
            let json = try await HeraldProgram.run(
                words(directory, ["--audience", "-", "--dry-run", "-o", "jsonl"]),
                input: "user;first_name\r\n\(rows)ann;Ann\r\n")
            #expect(json.status == 0 && json.records.first?["emptyLines"] as? Int == (rows.isEmpty ? 0 : 2))
        }
    }

    @Test("Empty fields and single braces draw a warning, and one recipient takes a moment")
    func warnings() async throws {
        try await inDirectory { directory in
            let message = "Hi {{first_name}}, {{first_name}}! {last_name} {not this} {}"
            let run = try await HeraldProgram.run(
                words(directory, ["--audience", "-", "--dry-run", "--rate", "200/s"], message: message),
                input: "user,first_name\nann,Ann\nbob,\ncid,\nbob,\n")
            #expect(run.status == 0, "\(run.error)")
            #expect(
                run.output.contains(
                    "  warning: 2 recipients have nothing for {{first_name}}, the first in line 3: \"Hi , ! {last_name}"
                ),
                "\(run.output)")
            #expect(
                run.output.contains(
                    "warning: {last_name} stands as it is in the message; a field has two braces: {{last_"))
            #expect(run.output.components(separatedBy: "warning").count == 3)
            let friends = try await HeraldProgram.run(
                words(
                    directory, ["--audience", "-", "--dry-run", "-o", "jsonl"], message: "Hi {{first_name|friend}} %x%"),
                input: "user,first_name\nann,Ann\nbob,\n")
            #expect(friends.output.contains(#""message":"Hi friend %x%""#), "\(friends.output)")
            #expect(
                friends.records.first?["warnings"] as? [String]
                    == ["%x% stands as it is in the message; a field has two braces: {{x}}"])

            let plain = try await HeraldProgram.run(
                words(directory, ["--audience", "-", "--dry-run", "--rate", "200/s", "-o", "jsonl"]),
                input: "user,first_name\nann,Ann\n")
            #expect(plain.records.first?["warnings"] == nil)
            let one = try await HeraldProgram.run(
                words(directory, ["--audience", "-", "--dry-run", "--rate", "200/s"]),
                input: "user,first_name\nann,Ann\n")
            #expect(
                one.output.contains("takes a moment\n") && !one.output.contains("takes at least 0"), "\(one.output)")
            let json = try await HeraldProgram.run(
                words(directory, ["--audience", "-", "--dry-run", "-o", "jsonl"], message: message),
                input: "user,first_name\nann,\n")
            #expect((json.records.first?["warnings"] as? [String])?.count == 2, "\(json.output)")
        }
    }

    @Test("A message from a file loses its last line end")
    func messageFileEnd() async throws {
        try await inDirectory { directory in
            let file = directory.appending(path: "message.txt")
            try "Hi {{first_name}},\nbye\r\n".write(to: file, atomically: true, encoding: .utf8)
            let run = try await HeraldProgram.run(
                words(directory, ["--audience", "-", "--dry-run", "--message-file", file.path], message: nil),
                input: "user,first_name\nann,Ann\n")
            #expect(run.status == 0 && run.output.contains("ann: Hi Ann,⏎bye\n"), "\(run.error)")
        }
    }

    @Test(
        "Missing or wrong options are named before anything is read",
        arguments: [
            (["--audience", "-"], "Hi {{#name}}", "the message, column 6: a section cannot be used", 2),
            (["--audience", "-"], nil, "--message, --message-file or --message-column is needed", 2),
            (["--audience", "-", "--message-file", "x"], "Hi", "only one can be given", 2),
            (["--audience", "-"], "", "the message is empty", 2),
            ([], "Hi", "--name, --audience, --pns", 2),
            (["--audience", "-", "--ramp", "1,all,2"], "Hi", "--ramp", 2),
            (["--audience", "-", "--rate", "0/s"], "Hi", "--rate", 2),
            (["--audience", "-", "--pause-if-failures", "0%"], "Hi", "has to be above 0%", 2),
            (["--audience", "-", "--pause-if-failures", "5"], "Hi", "--pause-if-failures", 2),
            (["--audience", "-", "--dry-run", "--topic", "other"], "Hi", "is not in topics.requests", 2),
            (["--audience", "/no/such/file", "--dry-run"], "Hi", "cannot open /no/such/file", 1),
            (["--audience", "-"], "Hi", "kafka.bootstrapServers", 78),
        ] as [([String], String?, String, Int32)])
    func mistakes(more: [String], message: String?, expected: String, status: Int32) async throws {
        try await inDirectory { directory in
            let run = try await HeraldProgram.run(words(directory, more, message: message), input: "user\nann\n")
            #expect(run.status == status && run.error.contains(expected), "\(run.status): \(run.error)")
            #expect(run.output.isEmpty)
        }
    }

    @Test("An unknown field, a wrong push service, and an audience that is its own invalid file are refused")
    func fields() async throws {
        try await inDirectory { directory in
            let file = directory.appending(path: "users.csv")
            try "user,first_name\nann,Ann\n".write(to: file, atomically: true, encoding: .utf8)
            let field = try await HeraldProgram.run(
                words(directory, ["--audience", file.path, "--dry-run"], message: "Hi {{frst_name}}"))
            #expect(field.status == 1 && field.error.contains("did you mean \"first_name\"?"), "\(field.error)")
            let service = try await HeraldProgram.run([
                "campaign", "start", "--name", "spring", "--audience", file.path, "--message", "x", "--pns", "fax",
                "--dry-run",
            ])
            #expect(service.status == 2 && service.error.contains("\"fax\" is none of apns, gcm, wns"))
            let same = try await HeraldProgram.run([
                "campaign", "start", "--name", "spring", "--audience", file.path, "--message", "x", "--pns", "apns",
                "--invalid-file", file.path, "--dry-run",
            ])
            #expect(same.status == 2 && same.error.contains("the audience itself"))
            #expect(try String(contentsOf: file, encoding: .utf8).hasSuffix("Ann\n"))
        }
    }

    @Test("Standard input cannot be both the audience and the answer, and an unreachable cluster ends with 5")
    func withoutBroker() async throws {
        try await inDirectory { directory in
            let nowhere = ["HERALD_KAFKA_BOOTSTRAP_SERVERS": "127.0.0.1:1"]
            let asked = try await HeraldProgram.run(
                words(directory, ["--audience", "-"], message: "Hi"), environment: nowhere, input: "user\nann\n")
            #expect(asked.status == 4 && asked.error.contains("add --yes"))
            let run = try await HeraldProgram.run(
                words(directory, ["--audience", "-", "--yes"], message: "Hi"), environment: nowhere,
                input: "user\nann\n")
            #expect(run.status == 5 && run.error.contains("no broker answers"), "\(run.error)")
        }
    }

    @Test("A dry run counts whom a file leaves out without a broker, and needs one for what was delivered")
    func exclusions() async throws {
        try await inDirectory { directory in
            let staff = directory.appending(path: "staff.csv")
            try "user\nbob\nzoe\n".write(to: staff, atomically: true, encoding: .utf8)
            let words = words(directory, ["--audience", "-", "--dry-run", "--exclude", staff.path], message: "Hi")
            let run = try await HeraldProgram.run(words, input: "user\nann\nbob\nann\n")
            #expect(
                run.output.contains("  3 lines = 1 recipient + 1 excluded by staff.csv + 1 repeat\n"),
                "\(run.output)\(run.error)")
            let nobody = try await HeraldProgram.run(words, input: "user\nbob\n")
            #expect(nobody.status == 1 && nobody.error.contains("nobody remains: the only person"), "\(nobody.error)")
            let delivered = try await HeraldProgram.run(
                words + ["--exclude-delivered", "7d"],
                environment: ["HERALD_KAFKA_BOOTSTRAP_SERVERS": "127.0.0.1:1"], input: "user\nann\n")
            #expect(delivered.status == 5, "\(delivered.error)")
        }
    }

    @Test("A test names its users, and says what its texts lack")
    func sentFirst() async throws {
        func run(_ words: String...) async throws -> (status: Int32, error: String) {
            let run = try await HeraldProgram.run(
                ["campaign", "test", "--pns", "apns"] + words,
                environment: ["HERALD_KAFKA_BOOTSTRAP_SERVERS": "127.0.0.1:1"])
            return (run.status, run.error)
        }
        let unnamed = try await run("--message", "Hi")
        #expect(unnamed.status == 2 && unnamed.error.contains("--to, --pns and --message"), "\(unnamed.error)")
        let many = try await run("--message", "Hi", "--to", (0...20).map { "u\($0)" }.joined(separator: ","))
        #expect(many.status == 2 && many.error.contains("20 users at most"), "\(many.error)")
        let field = try await run("--message", "Hi {{name}}", "--to", "me")
        #expect(field.status == 1 && field.error.contains("without --audience"), "\(field.error)")
        let unreachable = try await run("--message", "Hi", "--to", "me")
        #expect(unreachable.status == 5, "\(unreachable.error)")
    }
}
