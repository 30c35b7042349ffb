import HeraldThreads
import Testing

@testable import HeraldDoctor

@Suite("The order of an examination")
struct ExaminationTests {
    /// An examiner that fails as told, and remembers the stages.
    private struct Scripted: Examiner {
        var failing: Set<Stage>
        let asked: Guarded<[Stage]>

        mutating func examine(_ stage: Stage) -> StageReport {
            asked.withLock { $0.append(stage) }
            return StageReport([Check(stage.rawValue, "", failing.contains(stage) ? .failed : .passed, "")])
        }
    }

    private func run(failing: Set<Stage>) -> (checks: [Check], asked: [Stage]) {
        let asked = Guarded<[Stage]>([])
        let examination = Examination(
            broker: { Scripted(failing: failing, asked: asked) }, backend: { Scripted(failing: failing, asked: asked) })
        var checks: [Check] = []
        examination.run { checks.append($1) }
        return (checks, asked.withLock { $0 })
    }

    @Test("Every stage is examined once and reported in the table's order")
    func all() {
        let (checks, asked) = run(failing: [])
        #expect(checks.map(\.name) == Stage.allCases.map(\.rawValue))
        #expect(checks.allSatisfy { $0.verdict == .passed })
        #expect(Set(asked) == Set(Stage.allCases) && asked.count == Stage.allCases.count)
    }

    @Test("Each stage needs only earlier stages of its own half")
    func table() {
        for (index, stage) in Stage.allCases.enumerated() {
            for need in stage.needs {
                #expect(Stage.allCases.prefix(index).contains(need), "\(stage) needs \(need)")
                #expect(need.isBackend == stage.isBackend)
            }
        }
    }

    @Test("Stages that depend on a failure are skipped with its first cause, and the other half continues")
    func skipping() {
        let (checks, asked) = run(failing: [.brokerLogin])
        let skipped = checks.filter { $0.verdict == .skipped }
        #expect(
            skipped.map(\.name) == [
                "broker advertised", "topic", "read", "group", "transactional id", "write", "transaction",
                "publishers", "preferences", "clocks",
            ])
        #expect(skipped.allSatisfy { $0.detail == "because of broker login" })
        #expect(!asked.contains(.topics) && asked.contains(.clock))
        #expect(checks.count { $0.verdict == .failed } == 1)
    }

    @Test("An unwanted half is not examined")
    func half() {
        let asked = Guarded<[Stage]>([])
        var checks: [Check] = []
        Examination(broker: nil, backend: { Scripted(failing: [], asked: asked) }).run { checks.append($1) }
        #expect(checks.map(\.name) == Stage.allCases.filter(\.isBackend).map(\.rawValue))
    }

    @Test("When some stages are wanted only those are examined, and each check comes with its stage")
    func some() {
        let asked = Guarded<[Stage]>([])
        var stages: [Stage] = []
        let examination = Examination(
            broker: { Scripted(failing: [.brokerTLS], asked: asked) },
            backend: { Scripted(failing: [], asked: asked) })
        examination.run([.brokerNames, .brokerPorts, .brokerTLS, .brokerLogin, .backendName]) { stage, check in
            #expect(check.name == stage.rawValue)
            stages.append(stage)
        }
        #expect(stages == [.brokerNames, .brokerPorts, .brokerTLS, .brokerLogin, .backendName])
        #expect(Set(asked.withLock { $0 }) == [.brokerNames, .brokerPorts, .brokerTLS, .backendName])
    }

    @Test("A stage that passed in part does not stop dependent ones")
    func part() {
        let checks = [Check("topic", "a", .failed, ""), Check("topic", "b", .passed, "")]
        #expect(!StageReport(checks).isDeadEnd)
        #expect(StageReport([checks[0]]).isDeadEnd)
        #expect(!StageReport([]).isDeadEnd)
    }
}

@Suite("Addresses of an examination")
struct EndpointTests {
    @Test(
        "Host and port are read from every form of an address",
        arguments: [
            ("kafka-1", "kafka-1", 9_092), ("kafka-1:9093", "kafka-1", 9_093), ("[::1]:9093", "::1", 9_093),
            ("[::1]", "::1", 9_092), ("https://api.example.org/base", "api.example.org", 9_092),
            ("http://api.example.org:8080/a:b", "api.example.org", 8_080), ("socks5h://p:1", "p", 1),
        ])
    func reading(text: String, host: String, port: Int) {
        #expect(Endpoint(text, standardPort: 9_092) == Endpoint(host: host, port: port))
    }
}
