import HeraldKernel
import Testing

@testable import HeraldCore

@Suite("The transitions of slots and push services")
struct EventTableTests {
    @Test("An event in a slot can always be given up, and an empty slot can only take one")
    func slots() {
        typealias Phase = Slot.Phase
        let table = Phase.transitions
        #expect(Phase.allCases.filter { table.allows(.free, $0) } == [.active])
        #expect(Phase.allCases.allSatisfy { table.allows($0, .free) == ($0 != .free) })
        #expect(Phase.allCases.filter { table.allows($0, .settling) } == [.behindUser, .active, .refused])
    }

    @Test("A decided push service stays so, and every other one can be decided")
    func services() {
        typealias Phase = ServiceState.Phase
        let table = Phase.transitions
        #expect(!Phase.allCases.contains { table.allows(.decided, $0) })
        #expect(Phase.allCases.allSatisfy { table.allows($0, .decided) == ($0 != .decided) })
        #expect(Phase.allCases.filter { table.allows($0, .calling) } == [.wanted])
    }

    #if DEBUG
        @Test("A transition outside of the tables stops a debug build")
        func trap() async {
            await #expect(processExitsWith: .failure) {
                var phase = ServiceState.Phase.decided
                phase.become(.wanted)
            }
        }
    #endif
}
