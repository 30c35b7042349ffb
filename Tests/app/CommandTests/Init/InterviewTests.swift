import HeraldCommandLine
import HeraldDoctor
import HeraldSettings
import Testing

@testable import herald

@Suite("The interview of herald init")
struct InterviewTests {
    private func interview(
        _ flags: [String: [String]] = [:], isAttended: Bool = true, presentFiles: [String: String] = [:]
    ) throws -> Interview {
        let loaded = try Settings.load(SettingsSources(flags: flags))
        return Interview(
            Answers(loaded, directory: "/here"), isAttended: isAttended, presentFiles: presentFiles)
    }

    private static let well = Interview.Findings()

    /// Gives answers in a row; the tests between them succeed, and every question must be the next one.
    private func walk(
        _ interview: inout Interview, _ answers: [(Interview.Question, String)],
        listener: ListenerSecurity = .plaintext
    ) {
        for (question, text) in answers {
            while case .examine(let part) = interview.step {
                interview.take(Interview.Findings(listener: part == .brokers ? listener : nil))
            }
            #expect(interview.step == .ask(question))
            #expect(interview.answer(text, to: question) == nil)
        }
    }

    @Test("Five parts are asked in order, and all but the push services are tested")
    func order() throws {
        var interview = try interview()
        var asked: [Interview.Question] = []
        var examined: [Interview.Part] = []
        while interview.step != .done {
            switch interview.step {
            case .ask(let question):
                asked.append(question)
                let answer = question == .setting("backend.auth.kind") ? "none" : ""
                #expect(interview.answer(answer, to: question) == nil)
            case .examine(let part):
                if interview.canTry { examined.append(part) }
                interview.take(Self.well)
            case .decide, .done: Issue.record("nothing failed")
            }
        }
        #expect(
            asked == [
                .setting("kafka.bootstrapServers"), .setting("kafka.auth.kind"), .backend,
                .setting("backend.auth.kind"),
                .setting("backend.pushServices"), .setting("kafka.group"),
            ])
        #expect(examined == [.brokers, .login, .backend, .group])
        #expect(
            interview.answers.flags == [
                "kafka-bootstrap-servers": ["localhost:9092"], "kafka-auth-kind": ["none"], "backend-kind": ["http"],
                "backend-url": ["http://localhost:8080"], "backend-auth-kind": ["none"],
                "backend-push-services": ["apns,gcm,wns"], "kafka-group": ["herald"],
            ])
    }

    @Test(
        "A kind of login asks for its needs, and for a secret where no file is named",
        arguments: [
            ("plain", ["username", "passwordFile", "!passwordFile"]),
            ("scram-sha-512", ["username", "passwordFile", "!passwordFile"]),
            ("oauthbearer", ["tokenURL", "clientID", "clientSecretFile", "!clientSecretFile", "scope"]),
            ("certificate", ["certificateFile", "keyFile"]), ("none", []),
        ])
    func kinds(kind: String, expected: [String]) throws {
        var interview = try interview(["kafka-bootstrap-servers": ["k"]])
        walk(&interview, [(.setting("kafka.auth.kind"), kind)], listener: .tls)
        var asked: [String] = []
        while case .ask(let question) = interview.step {
            switch question {
            case .setting("kafka.auth.passwordFile"), .setting("kafka.auth.clientSecretFile"),
                .setting("kafka.auth.scope"):
                #expect(interview.answer("", to: question) == nil)
            case .secret:
                #expect(interview.answer("", to: question) == "an answer is needed")
                #expect(interview.answer("/proc/self/fd/9", to: question) == nil)
            default: #expect(interview.answer("https://x", to: question) == nil)
            }
            switch question {
            case .setting(let path): asked.append(String(path.dropFirst("kafka.auth.".count)))
            case .secret(let path): asked.append("!" + path.dropFirst("kafka.auth.".count))
            default: Issue.record("\(question)")
            }
        }
        #expect(asked == expected && interview.step == .examine(.login))
    }

    @Test("A value that the settings refuse is explained in their words, and asked for again")
    func refused() throws {
        var interview = try interview()
        let mistake = interview.answer("http://k", to: .setting("kafka.bootstrapServers"))
        #expect(mistake == "\"http://k\" is not the address of a broker; allowed: a host and a port (kafka:9092)")
        #expect(interview.step == .ask(.setting("kafka.bootstrapServers")) && interview.answers.flags.isEmpty)
        let hub = ["backend-kind": ["azure-hub"]]
        var push = try self.interview(hub)
        #expect(push.answer("apns,tamtam", to: .setting("backend.pushServices"))?.contains("has no format") == true)
    }

    @Test("Failing answers are asked for again, and are no defaults; or they are kept")
    func decision() throws {
        var interview = try interview()
        walk(&interview, [(.setting("kafka.bootstrapServers"), "k:1")])
        interview.take(Interview.Findings(failed: [.brokerPorts]))
        #expect(interview.step == .decide(.brokers))
        interview.askAgain()
        #expect(interview.step == .ask(.setting("kafka.bootstrapServers")))
        #expect(interview.standard(of: .setting("kafka.bootstrapServers")) == nil)
        #expect(interview.suggestion(of: .setting("kafka.bootstrapServers")) == "localhost:9092")
        walk(&interview, [(.setting("kafka.bootstrapServers"), "k:1")])
        interview.take(Interview.Findings(failed: [.brokerPorts]))
        interview.keep()
        // Without brokers neither login nor group can be tested.
        walk(&interview, [(.setting("kafka.auth.kind"), "")])
        #expect(interview.step == .examine(.login) && !interview.canTry)
        walk(&interview, [(.backend, ""), (.setting("backend.auth.kind"), "none")])
        #expect(interview.step == .examine(.backend) && interview.canTry)
        walk(&interview, [(.setting("backend.pushServices"), ""), (.setting("kafka.group"), "")])
        #expect(interview.step == .examine(.group) && !interview.canTry)
        interview.take(Self.well)
        #expect(interview.step == .done)
        #expect(interview.answers.flags["kafka-bootstrap-servers"] == ["k:1"])
    }

    @Test("Given values are not asked for, until they fail")
    func given() throws {
        var interview = try interview(["kafka-bootstrap-servers": ["k:1"], "kafka-auth-kind": ["none"]])
        #expect(interview.step == .examine(.brokers))
        interview.take(Self.well)
        #expect(interview.step == .examine(.login))
        interview.take(Interview.Findings(failed: [.brokerLogin]))
        interview.askAgain()
        #expect(interview.step == .ask(.setting("kafka.auth.kind")))
        walk(&interview, [(.setting("kafka.auth.kind"), "")])
        #expect(interview.step == .examine(.login))
        let file = try self.interview(["backend-tls-ca-file": ["ca.pem"]])
        #expect(file.answers.flags == ["backend-tls-ca-file": ["/here/ca.pem"]])
    }

    @Test("Brokers that speak TLS get it without a login; a given protocol stays unchanged")
    func encryption() throws {
        var interview = try interview(["kafka-bootstrap-servers": ["k"], "kafka-properties": ["client.id=a\\,b"]])
        walk(&interview, [(.setting("kafka.auth.kind"), "none")], listener: .tls)
        #expect(interview.answers.flags["kafka-properties"] == ["client.id=a\\,b", "security.protocol=ssl"])
        var told = try self.interview([
            "kafka-bootstrap-servers": ["k"], "kafka-properties": ["security.protocol=plaintext"],
        ])
        walk(&told, [(.setting("kafka.auth.kind"), "none")], listener: .tls)
        #expect(told.answers.flags["kafka-properties"] == nil)
    }

    @Test("A login goes to brokers without TLS only on request; otherwise another one is asked for")
    func unencrypted() throws {
        let kind = Interview.Question.setting("kafka.auth.kind")
        var interview = try interview(["kafka-bootstrap-servers": ["k"]])
        walk(&interview, [(kind, "plain"), (.unencrypted, "")])
        #expect(interview.step == .ask(kind) && interview.answers.flags["kafka-properties"] == nil)
        walk(&interview, [(kind, ""), (.unencrypted, "y"), (.setting("kafka.auth.username"), "u")])
        #expect(interview.answers.flags["kafka-properties"] == ["security.protocol=sasl_plaintext"])
        var unattended = try self.interview(
            [
                "kafka-bootstrap-servers": ["k"], "kafka-auth-kind": ["plain"], "kafka-auth-username": ["u"],
                "kafka-auth-password-file": ["/p"],
            ], isAttended: false)
        unattended.take(Interview.Findings(listener: .plaintext))
        #expect(unattended.step == .examine(.login) && unattended.answers.flags["kafka-properties"] == nil)
    }

    @Test("An untrusted certificate asks for its authorities, once")
    func authorities() throws {
        var interview = try interview(["kafka-bootstrap-servers": ["k"]])
        walk(&interview, [(.setting("kafka.auth.kind"), "none")], listener: .tls)
        interview.take(Interview.Findings(failed: [.brokerTLS]))
        walk(&interview, [(.authorities, "ca.pem")])
        #expect(
            interview.answers.flags["kafka-properties"] == ["ssl.ca.location=/here/ca.pem", "security.protocol=ssl"])
        interview.take(Interview.Findings(failed: [.brokerTLS]))
        #expect(interview.step == .decide(.login))
        interview.askAgain()
        walk(&interview, [(.setting("kafka.auth.kind"), "none"), (.authorities, "")])
        #expect(interview.answers.authorities == nil)
    }

    @Test("A hub needs its connection string and its name, and no answers for an earlier backend")
    func hub() throws {
        var interview = try interview(["kafka-bootstrap-servers": ["k"], "kafka-auth-kind": ["none"]])
        walk(
            &interview,
            [
                (.backend, "http://b"), (.setting("backend.auth.kind"), "basic"),
                (.setting("backend.auth.username"), "u"), (.setting("backend.auth.passwordFile"), "p"),
            ])
        #expect(interview.answers.flags["backend-auth-password-file"] == ["/here/p"])
        interview.take(Interview.Findings(failed: [.backendLogin]))
        interview.askAgain()
        walk(
            &interview,
            [
                (.backend, "azure-hub"), (.setting("backend.hub.connectionStringFile"), ""),
                (.secret("backend.hub.connectionStringFile"), "/proc/self/fd/9"), (.setting("backend.hub.name"), "h"),
            ])
        let flags = interview.answers.flags.filter { $0.key.hasPrefix("backend-") }
        #expect(
            flags == [
                "backend-kind": ["azure-hub"], "backend-hub-connection-string-file": ["/proc/self/fd/9"],
                "backend-hub-name": ["h"],
            ])
        #expect(interview.answers.isTyped("backend.hub.connectionStringFile"))
    }

    @Test("A typed secret is no default, and an existing file of its name is one")
    func typed() throws {
        let file = "kafka.auth.passwordFile"
        var interview = try interview(["kafka-bootstrap-servers": ["k"]])
        walk(
            &interview,
            [
                (.setting("kafka.auth.kind"), "plain"), (.setting("kafka.auth.username"), "u"), (.setting(file), ""),
                (.secret(file), "/proc/self/fd/9"),
            ], listener: .tls)
        #expect(interview.standard(of: .setting(file)) == nil)
        interview.take(Interview.Findings(failed: [.brokerLogin]))
        interview.askAgain()
        walk(
            &interview,
            [
                (.setting("kafka.auth.kind"), ""), (.setting("kafka.auth.username"), ""), (.setting(file), ""),
                (.secret(file), "/proc/self/fd/10"),
            ])
        #expect(interview.answers[file] == "/proc/self/fd/10")
        let present = try self.interview(presentFiles: [file: "/here/herald.kafka-password"])
        #expect(present.suggestion(of: .setting(file)) == "/here/herald.kafka-password")
    }

    @Test("Unattended, all settings without a default are reported missing at once; nothing is guessed")
    func missing() throws {
        #expect(
            try interview(isAttended: false).missingFlags == [
                "--kafka-bootstrap-servers", "--backend-url", "--backend-auth-username", "--backend-auth-password-file",
            ])
        let hub = [
            "kafka-bootstrap-servers": ["k"], "kafka-auth-kind": ["certificate"], "backend-kind": ["azure-hub"],
            "backend-hub-name": ["h"],
        ]
        #expect(
            try interview(hub, isAttended: false).missingFlags == [
                "--kafka-auth-certificate-file", "--kafka-auth-key-file", "--backend-hub-connection-string-file",
            ])
        let whole = [
            "kafka-bootstrap-servers": ["k"], "backend-url": ["http://b"], "backend-auth-kind": ["none"],
        ]
        #expect(try interview(whole, isAttended: false).missingFlags.isEmpty)
    }
}

@Suite("The next step after herald init")
struct NextCommandTests {
    private func next(_ checks: Check...) -> NextCommand {
        checks.reduce(into: NextCommand()) { $0.note($1) }
    }

    @Test("Missing topics are created, all other failures are corrected first, and then a worker starts")
    func commands() {
        let well = Check(.topics, "a", .passed, "6 partitions")
        let missing = Check(.topics, "b", .failed, "it is missing", fix: BrokerExaminer.applying)
        let other = Check(.topics, "c", .warning, "few", fix: "\(BrokerExaminer.applying); look after the brokers")
        let refused = Check(.backendLogin, "", .failed, "refused", fix: "check backend.auth")
        #expect(next(well).sentence(for: "herald.yaml") == "Next: herald worker --config herald.yaml")
        #expect(next(well).status == .done)
        for check in [missing, other] {
            #expect(next(well, check).sentence(for: "a/b.yaml") == "Next: herald topics apply --config a/b.yaml")
            #expect(next(well, check).status == .done)
        }
        #expect(
            next(refused, missing).sentence(for: "it's.yaml")
                == #"Correct what ✗ names, then: herald doctor --config 'it'\''s.yaml'"#)
        #expect(next(refused, missing).status == .partlyDone)
    }
}
