import HeraldTime
import Testing

@testable import HeraldConsole
@testable import HeraldTools

@Suite("Workers that vanished")
struct DepartedWorkersTests {
    private static func at(_ second: Int64) -> WallTime { WallTime(milliseconds: 1_700_000_000_000 + second * 1_000) }

    private static func workers(_ states: [String: Bool]) -> [WorkerObservation] {
        states.map { address, answers in
            WorkerObservation(
                address: address,
                state: answers ? .answered(WorkerStatus()) : .silent(.init(reason: "refused", isOlder: false)),
                at: .init(nanoseconds: 0))
        }
    }

    /// What is told after these looks, each with its second.
    private static func told(_ looks: [(second: Int64, states: [String: Bool])]) -> [DepartedWorkers.Departure] {
        var departed = DepartedWorkers()
        for look in looks { departed.look(workers(look.states), now: at(look.second)) }
        return departed.departures
    }

    private static let killed: [(Int64, [String: Bool])] = [
        (0, ["a": true, "b": true]), (2, ["a": true, "b": false]), (10, ["a": true, "b": false]), (12, ["a": true]),
    ]

    @Test("are those that stayed members without an answer, and then were none")
    func vanished() {
        #expect(Self.told(Self.killed) == [.init(address: "b", at: Self.at(2), workers: 2)])
        #expect(Self.told([(0, ["a": true]), (2, ["a": false]), (22, [:])]).map(\.address) == ["a"])
    }

    @Test("are none that left the group at once, that answer again, or that never answered")
    func farewell() {
        #expect(Self.told([(0, ["a": true, "b": true]), (3, ["a": true])]).isEmpty)
        #expect(Self.told([(0, ["a": true, "b": true]), (2, ["a": true, "b": false]), (4, ["a": true])]).isEmpty)
        #expect(Self.told([(0, ["b": true]), (2, ["b": false]), (9, ["b": true]), (12, [:])]).isEmpty)
        #expect(Self.told([(0, ["a": true, "b": false]), (20, ["a": true])]).isEmpty)
    }

    @Test("are forgotten when they or others take their place, and after ten minutes")
    func replaced() {
        #expect(Self.told(Self.killed + [(30, ["a": true, "b": true])]).isEmpty)
        #expect(Self.told(Self.killed + [(30, ["a": true, "c": true])]).isEmpty)
        #expect(Self.told(Self.killed + [(30, ["a": true, "c": false])]).count == 1)
        #expect(Self.told(Self.killed + [(590, ["a": true])]).count == 1)
        #expect(Self.told(Self.killed + [(700, ["a": true])]).isEmpty)
    }
}
