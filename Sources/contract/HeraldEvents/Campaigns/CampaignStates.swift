public import HeraldText

/// The control of each campaign, from the records of the campaigns topic in their order.
public struct CampaignStates: Sendable {
    private var controls: [String: CampaignControl] = [:]
    private var cancellations: [String: CampaignControl] = [:]

    /// No campaigns.
    public init() {}

    /// The names of the known campaigns.
    public var names: Set<String> { Set(controls.keys).union(cancellations.keys) }

    /// The control of a campaign; `nil` without a control record.
    ///
    /// A cancellation counts, whatever was written after it.
    public func control(of campaign: String) -> CampaignControl? { cancellations[campaign] ?? controls[campaign] }

    /// Applies a record of the topic, of whichever kind.
    ///
    /// - Parameter value: `nil` withdraws the key's record.
    /// - Throws: for an invalid control record, which is ignored.
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

    /// The same of a record's copies.
    package mutating func record(key: [UInt8], value: [UInt8]?) throws(InvalidArgument) {
        guard let value else { return try record(key: key.span.bytes, value: nil) }
        try record(key: key.span.bytes, value: value.span.bytes)
    }
}
