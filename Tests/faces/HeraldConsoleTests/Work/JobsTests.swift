import Glibc
import HeraldText
import HeraldThreads
import HeraldTools
import TestSupport
import Testing

@testable import HeraldConsole

@Suite("Jobs of the console")
struct JobsTests {
    private static func description(_ subject: String? = nil, canPause: Bool = false) -> JobDescription {
        JobDescription(kind: "test", name: "a test", owner: "ann", subject: subject, canPause: canPause)
    }

    private static func waitUntilStopped(_ control: JobControl) {
        while !control.isStopping { OneMoment.pass() }
    }

    private static func state(_ id: String, _ jobs: Jobs) -> JSONValue? { jobs.object(id)?["state"] }

    @Test("A job is listed while it runs and after it, with its progress and its report")
    func listed() async throws {
        let news = Guarded<[JSONValue]>([])
        let jobs = Jobs { value in news.withLock { $0.append(value) } }
        let id = try jobs.begin(Self.description()) { control in
            control.report(["replayed": 3])
            Self.waitUntilStopped(control)
            return JobEnd(.stopped, "three of ten", report: ["replayed": 3])
        }
        #expect(try await eventually { jobs.object(id)?["progress"]?["replayed"] == 3 })
        #expect(Self.state(id, jobs) == "running")
        try jobs.ask(.stop, of: id, by: "bob")
        #expect(try await eventually { Self.state(id, jobs) == "stopped" })
        #expect(jobs.object(id)?["sentence"] == "three of ten")
        #expect(jobs.object(id)?["report"]?["replayed"] == 3)
        #expect(jobs.object(id)?["owner"] == "ann")
        #expect(try await eventually { news.withLock { $0.last } == jobs.list })
    }

    @Test("A second job on one subject is refused with the first one's owner, and may begin after its end")
    func exclusive() async throws {
        let jobs = Jobs { _ in }
        let id = try jobs.begin(Self.description("letters")) { control in
            Self.waitUntilStopped(control)
            return JobEnd(.done, "")
        }
        let refused = #expect(throws: ToolFailure.self) {
            try jobs.begin(Self.description("letters")) { _ in JobEnd(.done, "") }
        }
        #expect(refused?.description.contains("ann") == true)
        try jobs.begin(Self.description("others")) { _ in JobEnd(.done, "") }
        try jobs.ask(.stop, of: id, by: "bob")
        #expect(try await eventually { Self.state(id, jobs) == "done" })
        try jobs.begin(Self.description("letters")) { _ in JobEnd(.done, "") }
    }

    @Test("A job's error is the sentence of its failure")
    func failed() async throws {
        let jobs = Jobs { _ in }
        let id = try jobs.begin(Self.description()) { _ in throw ToolFailure("no broker answers") }
        #expect(try await eventually { Self.state(id, jobs) == "failed" })
        #expect(jobs.object(id)?["sentence"] == "no broker answers")
    }

    @Test("A paused job is shown as paused, and one that cannot be paused is not")
    func paused() async throws {
        let jobs = Jobs { _ in }
        let work: @Sendable (JobControl) -> JobEnd = { control in
            Self.waitUntilStopped(control)
            return JobEnd(.stopped, control.pause != nil ? "paused" : "stopped")
        }
        let id = try jobs.begin(Self.description(canPause: true), work)
        try jobs.ask(.pause, of: id, by: "bob")
        #expect(Self.state(id, jobs) == "paused")
        try jobs.ask(.resume, of: id, by: "bob")
        #expect(Self.state(id, jobs) == "running")
        try jobs.ask(.pause, of: id, by: "bob")
        try jobs.ask(.stop, of: id, by: "bob")
        #expect(try await eventually { jobs.object(id)?["sentence"] == "stopped" })
        let other = try jobs.begin(Self.description(), work)
        #expect(throws: ToolFailure.self) { try jobs.ask(.pause, of: other, by: "bob") }
        #expect(throws: ToolFailure.self) { try jobs.ask(.stop, of: id, by: "bob") }
        #expect(throws: ToolFailure.self) { try jobs.ask(.stop, of: "nobody's", by: "bob") }
        try jobs.ask(.stop, of: other, by: "bob")
    }

    @Test("The end of the console asks every job to stop, waits for it, and refuses new ones")
    func stop() async throws {
        let jobs = Jobs { _ in }
        let id = try jobs.begin(Self.description()) { control in
            Self.waitUntilStopped(control)
            return JobEnd(.stopped, "asked to")
        }
        try await Blocking.run { jobs.stop() }
        #expect(Self.state(id, jobs) == "stopped")
        #expect(throws: ToolFailure.self) { try jobs.begin(Self.description()) { _ in JobEnd(.done, "") } }
    }

    @Test("The newest fifty of a thousand ended jobs are kept, and texts from outside are made safe")
    func bounded() async throws {
        let jobs = Jobs { _ in }
        for number in 0..<200 {
            let id = try jobs.begin(JobDescription(kind: "t", name: "\(number)\u{202E}", owner: "ann")) { _ in
                JobEnd(.done, "\u{1B}[31m")
            }
            #expect(try await eventually { Self.state(id, jobs) == "done" })
        }
        guard case .array(let list) = jobs.list else { return #expect(Bool(false), "no list") }
        #expect(list.count <= 51 && list.first?["name"] == "199\\u{202E}", "\(list.first ?? .null)")
    }
}

/// A job that polls for its stop.
private enum OneMoment {
    static func pass() { usleep(1_000) }
}
