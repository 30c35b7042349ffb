import Testing

@Suite("Mistakes in commands on dead letters and campaigns, as processes without a broker")
struct ToolUsageTests {
    private static let nowhere = ["HERALD_KAFKA_BOOTSTRAP_SERVERS": "127.0.0.1:1"]

    @Test(
        "A mistake in the command line ends with 2 before a broker is asked, and is described",
        arguments: [
            (["dlq", "replay"], "say which: --group, --where or ids"),
            (["dlq", "replay", "--where", "stat = 1", "--yes"], "there is no field \"stat\""),
            (["dlq", "replay", "--group", "x", "--yes"], "is no group"),
            (["dlq", "replay", "--where", "status = 1", "--ramp", "all,1"], "--ramp: \"all,1\" is not allowed"),
            (["dlq", "replay", "0:0", "--only-pns", "x"], "\"x\" is none of apns, gcm, wns"),
            (["dlq", "resolve", "0:0"], "--note TEXT is missing"),
            (["dlq", "list", "--since", "yesterday"], "is neither a moment"),
            (["dlq", "list", "--partition", "x"], "\"x\" is no number"),
            (["dlq", "list", "--topic", "notifications.dead-letter"], "leave --topic out"),
            (["dlq", "replay", "0:0", "--topic", "o.DLT", "--to", "o.DLT"], "where these dead letters lie"),
            (["dlq", "replay", "0:0", "--topic", "o.DLT", "--set", "user=bob"], "does not go with --topic"),
            (["dlq", "replay", "0:0", "--to", "elsewhere"], "--to needs --topic"),
            (["campaign", "status", "two words"], "\"two words\" is not allowed"),
            (["campaign", "pause"], "NAME is missing"),
            (["campaign", "report", "spring"], "say what to write"),
            (["campaign", "status", "-o", "xml"], "\"xml\" is not allowed"),
            (["campaign", "report", "spring", "--csv", "-", "--html", "-"], "can be standard output"),
        ] as [([String], String)])
    func mistakes(words: [String], expected: String) async throws {
        let run = try await HeraldProgram.run(words, environment: Self.nowhere)
        #expect(run.status == 2 && run.error.contains(expected), "\(run.status): \(run.error)")
        #expect(run.output.isEmpty)
    }

    @Test("An unreachable cluster ends with 5", arguments: [["dlq", "list"], ["campaign", "status"]])
    func unreachable(words: [String]) async throws {
        let run = try await HeraldProgram.run(words, environment: Self.nowhere)
        #expect(run.status == 5 && run.error.contains("no broker answers"), "\(run.status): \(run.error)")
    }
}
