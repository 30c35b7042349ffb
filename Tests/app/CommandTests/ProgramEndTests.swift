import Testing

@Suite("The program's end")
struct ProgramEndTests {
    @Test("No library's handler runs at the end, where it would free memory that ending threads still use")
    func noHandlers() async throws {
        let run = try await HeraldProgram.run(["--version"], environment: ["LD_DEBUG": "files"])
        #expect(run.status == 0)
        #expect(run.error.contains("calling init: ") && run.error.contains("libcrypto.so"))
        #expect(!run.error.contains("calling fini: "))
    }
}
