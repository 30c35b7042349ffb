package import HeraldHTTP
import HeraldThreads

/// The reference backend: speaks the same HTTP as the ASP.NET backend that Herald was made for.
///
/// For the demo and the tests, not for production: everything is in memory and bounded, and the password is the user
/// name. Of each device the newest notifications are kept and older ones dropped (`Configuration.inboxLimit`); calls
/// and registrations are bounded too. With a notification hub (`Configuration.hub`) devices and notifications are the
/// hub's, as the tutorial's backend has it.
package final class ReferenceBackend: Sendable {
    package static let notice =
        "This is Herald's reference backend, for demonstrations and tests. It is not for production: "
        + "the password is the user name, and everything is kept in memory only."

    /// Where it listens, its limits, and how it misbehaves from the start.
    package struct Configuration: Sendable {
        /// Where to listen, by default a free port on loopback.
        package var server = HTTPServer.Configuration()
        /// Of each device so many notifications are kept.
        package var inboxLimit = 1_000
        /// So many calls are kept in memory.
        package var callLimit = 100_000
        /// A file that each call is appended to as a line of JSON.
        package var callLogPath: String?
        package var misbehaviour: [Misbehaviour] = []
        /// Which record a call with this `Idempotency-Key` is made for, where that is known; a call is shown when it is, or
        /// a second later.
        package var recordOfCall: (@Sendable (String) -> RecordedCall.Record?)?
        /// Where devices are registered and notifications sent; `nil` keeps them in memory.
        package var hub: HubBackend.Configuration?

        package init() {}
    }

    private let server: HTTPServer
    private let service: BackendService
    private let host: String
    private let scheme: String

    /// Starts the backend; it serves when this returns.
    package init(_ configuration: Configuration = Configuration()) throws {
        let file: CallLogFile?
        if let path = configuration.callLogPath { file = try CallLogFile(path: path) } else { file = nil }
        let state = BackendState(
            prefix: String(UInt64.random(in: 1...(.max)), radix: 16), inboxLimit: configuration.inboxLimit,
            callLimit: configuration.callLimit, misbehaviour: configuration.misbehaviour,
            recordOfCall: configuration.recordOfCall)
        let hub = try configuration.hub.map { try HubBackend($0) }
        let serving = configuration.server
        let service = BackendService(state: state, callLog: file, hub: hub, isLocal: serving.isLoopback)
        server = try HTTPServer(serving) { service.answer(to: $0) }
        self.service = service
        host = serving.host
        scheme = serving.identity == nil ? "http" : "https"
    }

    package var port: UInt16 { server.port }

    /// Its address without a path, for the setting `backend.url`.
    package var url: String {
        let name = host == "0.0.0.0" || host == "::" ? "localhost" : host
        return name.contains(":") ? "\(scheme)://[\(name)]:\(port)" : "\(scheme)://\(name):\(port)"
    }

    /// The newest calls, in the order of their arrival.
    package var calls: [RecordedCall] { service.state.withLock { $0.calls.elements } }

    /// How many older calls were dropped from ``calls``.
    package var droppedCallCount: Int { service.state.withLock { $0.calls.droppedCount } }

    /// The payloads that the device received, oldest first.
    package func payloads(ofHandle handle: String) -> [String] {
        service.state.withLock { $0.inbox.entries(of: handle).map(\.payload) }
    }

    /// Registers a device of a user without a call.
    package func register(_ handle: String, platform: String, user: String) {
        service.state.withLock { state in
            guard let platform = PushPlatform(rawValue: platform), let id = state.devices.giveID(forHandle: handle)
            else { return }
            _ = state.devices.put(id, platform: platform, handle: handle, tags: [], owner: user)
        }
    }

    /// Replaces the rules; their counters start from 0, and what the former ones kept back is answered.
    package func misbehave(_ rules: [Misbehaviour]) {
        service.state.withLock { $0.rules.replace(with: rules) }
    }

    /// How many answers a rule keeps back.
    package var heldCount: Int { service.state.withLock { $0.rules.held }.count }

    /// Sends so many of the answers that a rule keeps back, the oldest first; the rule stays in force.
    package func release(_ count: Int) {
        service.state.withLock { $0.rules.held }.release(count)
    }

    /// Closes every connection and ends; a second call does nothing.
    package func stop() {
        server.stop()
        service.stop()
    }
}
