public import HeraldEvents
public import HeraldHTTP
public import HeraldHub
public import HeraldText

/// A notification hub: sends go to the hub itself, in the format of each push service.
public final class HubTarget: Target {
    private let sending: HubSending
    private let writer: HubRequestWriter
    /// The first half of the tracking ids of its sends; the other is the call's token.
    private let session: UInt64

    /// By the settings: a hub does not know a notification again.
    public let repeatsUnanswered: Bool
    /// Hubs of the Standard tier give ids.
    public var keepsMessageIDs: Bool { sending.keepsMessageIDs }

    /// A hub that shows no credentials yet.
    public convenience init(_ sending: HubSending, repeatsUnanswered: Bool = true) {
        self.init(sending, repeatsUnanswered, authorization: nil, session: 0)
    }

    private init(_ sending: HubSending, _ repeatsUnanswered: Bool, authorization: String?, session: UInt64) {
        self.sending = sending
        self.repeatsUnanswered = repeatsUnanswered
        self.session = session
        writer = HubRequestWriter(sending, authorization: authorization, tracking: session)
    }

    /// The same with this value of `Authorization`.
    public func showing(
        _ authorization: String?, of configuration: BackendConfiguration, session: UInt64
    ) -> HubTarget {
        HubTarget(sending, repeatsUnanswered, authorization: authorization, session: session)
    }

    /// What its format has a place for.
    public func carries(to pushService: String) -> ContentFields { writer.carries(to: pushService) }

    /// Writes the request of a call, unless its notification is larger than its push service takes.
    public func write(
        _ call: borrowing TargetCall, of event: borrowing DecodedEvent, value: RawSpan, scratch: inout [UInt8],
        begin: (_ write: (inout [UInt8]) -> Void) -> Void
    ) -> CallResult? {
        guard let service = writer.service(named: call.pushService.span.bytes) else {
            return CallResult(failure: .brokenHTTP, detail: "the hub has no format for this push service")
        }
        let options = DeliveryOptions(of: event, value: value)
        let (token, now) = (call.token, call.now)
        let oversize = writer.appendBody(
            service: service, message: event.bytes(of: event.message, value: value), content: event.content(in: value),
            options: options, now: now, to: &scratch)
        if let oversize { return CallResult(oversized: oversize) }
        let user = event.bytes(of: event.user, value: value)
        begin { output in
            writer.append(
                service: service, user: user, body: scratch, options: options, now: now, token: token, to: &output)
        }
        return nil
    }

    /// The meaning of the hub's words beside the status.
    public func verdict(on status: Int, hasRetryAfter: Bool, detail: String?) -> CallVerdict? {
        CallVerdict(readAtHub: status, hasRetryAfter: hasRetryAfter, detail: detail)
    }

    /// With the id that Microsoft's support finds the send by.
    public func detail(_ detail: String?, ofCall token: UInt64) -> String? {
        TrackingID.adding(TrackingID.text(session, token), to: detail)
    }

    /// The last part of the address.
    public func messageID(in location: String) -> String? { HubAddress.id(in: location) }

    /// Registrations at the hub itself.
    public func registrar(_ configuration: BackendConfiguration) -> HubRegistrationClient? {
        let connections = configuration.connections
        let client = HubClient(
            sending.connectionString, hub: sending.hub, timeout: configuration.timeout, proxy: connections.proxy,
            tls: connections.tls, versions: connections.versions)
        return HubRegistrationClient(client, tag: sending.tag, registersLegacyGCM: sending.registersLegacyGCM)
    }
}

extension BackendConfiguration {
    /// A notification hub in place of a backend; throws ``InvalidArgument`` with the first setting that cannot work.
    ///
    /// - Parameter repeatsUnanswered: whether a send without an answer is repeated, although the hub may have it.
    public init(
        hub: HubSending, repeatsUnanswered: Bool = true, timeout: Duration = .seconds(10),
        connectTimeout: Duration = .seconds(5), connectionLimit: Int = 64, versions: HTTPVersions = .http1,
        proxy: ProxyAddress? = nil, tls: TLSFiles = TLSFiles(), statuses: StatusTable = .usual
    ) throws(InvalidArgument) {
        try self.init(
            HubTarget(hub, repeatsUnanswered: repeatsUnanswered), url: hub.connectionString.origin, path: hub.path,
            timeout: timeout, connectTimeout: connectTimeout, connectionLimit: connectionLimit, versions: versions,
            proxy: proxy, tls: tls, credentials: .sharedAccess(hub.connectionString), statuses: statuses)
    }
}
