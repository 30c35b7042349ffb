import HeraldEvents
import HeraldText
import HeraldTime
import Testing

@Suite("The states of campaigns")
struct CampaignStatesTests {
    private static func control(_ state: CampaignControl.State) -> CampaignControl {
        CampaignControl(state: state, at: WallTime(milliseconds: 1), by: "anna")
    }

    private static func take(
        _ states: inout CampaignStates, _ key: [UInt8], _ state: CampaignControl.State?
    ) throws {
        if let state {
            let value = control(state).encoded()
            try states.record(key: key.span.bytes, value: value.span.bytes)
        } else {
            try states.record(key: key.span.bytes, value: nil)
        }
    }

    @Test("The last record counts, and a cancellation overrides every later one")
    func order() throws {
        var states = CampaignStates()
        let (key, end) = (CampaignControl.key(of: "a"), CampaignControl.cancellationKey(of: "a"))
        #expect(states.control(of: "a") == nil)
        try Self.take(&states, key, .paused)
        try Self.take(&states, key, .running)
        #expect(states.control(of: "a") == Self.control(.running))
        try Self.take(&states, end, .cancelled)
        try Self.take(&states, key, .paused)
        #expect(states.control(of: "a") == Self.control(.cancelled))
        #expect(states.names == ["a"])
    }

    @Test("A deleted state is unknown")
    func deleted() throws {
        var states = CampaignStates()
        try Self.take(&states, CampaignControl.key(of: "a"), .paused)
        try Self.take(&states, CampaignControl.key(of: "a"), nil)
        #expect(states.control(of: "a") == nil && states.names.isEmpty)
    }

    @Test("Records of other kinds and damaged ones are ignored")
    func others() throws {
        var states = CampaignStates()
        try Self.take(&states, CampaignControl.key(of: "a"), .paused)
        let (definition, broken) = (Array("a/definition".utf8), Array("{".utf8))
        try states.record(key: definition.span.bytes, value: broken.span.bytes)
        let key = CampaignControl.key(of: "a")
        #expect(throws: InvalidArgument.self) { try states.record(key: key.span.bytes, value: broken.span.bytes) }
        #expect(states.control(of: "a") == Self.control(.paused))
    }
}
