public import HeraldText

/// What each campaign is to do, from the control records of the campaigns topic in the order of the topic.
public struct CampaignStates: Sendable {
    private var controls: [String: CampaignControl] = [:]
    private var cancellations: [String: CampaignControl] = [:]

    /// No campaigns.
    public init() {}

    /// The names of the campaigns that something is known of.
    public var names: Set<String> { Set(controls.keys).union(cancellations.keys) }

    /// What a campaign is to do; `nil` without a control record.
    ///
    /// A cancellation counts, whatever was written after it.
    public func control(of campaign: String) -> CampaignControl? { cancellations[campaign] ?? controls[campaign] }

    /// Records what a record of the topic says, of whichever kind.
    ///
    /// - Parameter value: `nil` takes back what the key has said.
    /// - Throws: when it should be a control record and is none: as if it were not there.
    public mutating func record(key: RawSpan, value: RawSpan?) throws(InvalidArgument) {
        guard let name = CampaignControl.campaign(ofKey: key) else { return }
        var control: CampaignControl?
        if let value { control = try CampaignControl(decoding: value) }
        if key.byteCount > name.utf8.count {
            cancellations[name] = control
        } else {
            controls[name] = control
        }
    }
}
