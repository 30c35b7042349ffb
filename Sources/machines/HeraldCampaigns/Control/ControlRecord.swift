package import HeraldEvents
package import HeraldTime
internal import HeraldTools

/// What an order writes: another state, or that the campaign goes on behind a hold.
package enum ControlRecord: Equatable, Sendable {
    case state(CampaignControl)
    case go(CampaignGo)

    package var state: CampaignControl.State {
        switch self {
        case .state(let control): control.state
        case .go: .running
        }
    }

    package var at: WallTime {
        switch self {
        case .state(let control): control.at
        case .go(let go): WallTime(milliseconds: go.at)
        }
    }

    package var by: String {
        switch self {
        case .state(let control): control.by
        case .go(let go): go.by
        }
    }

    package var reason: String? { if case .state(let control) = self { control.reason } else { nil } }

    /// Its record in the campaigns topic.
    package func record(_ order: ControlOrder, of campaign: String) -> (key: [UInt8], value: [UInt8]) {
        switch self {
        case .state(let control): (order.key(of: campaign), control.encoded())
        case .go(let go): (Array(CampaignGo.key(of: campaign).utf8), RecordJSON.encoded(go))
        }
    }
}
