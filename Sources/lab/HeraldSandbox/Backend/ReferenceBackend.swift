package import HeraldHTTP
import HeraldThreads

/// The reference backend: speaks the same HTTP as the ASP.NET backend that Herald was made for.
///
/// For the demo and the tests, not for production: everything is in memory and bounded, and the password is the user
/// name. Each device keeps its newest notifications (`Configuration.inboxLimit`); calls and registrations are bounded
/// too. With a notification hub (`Configuration.hub`), the hub has the devices and notifications, as in the tutorial's
/// backend.
package final class ReferenceBackend: Sendable {
    package static let notice =
        "This is Herald's reference backend, for demonstrations and tests. It is not for production: "
        + "the password is the user name, and everything is kept in memory only."

    /// Its address, its limits and its initial misbehaviour.
    package struct Configuration: Sendable {
        /// The address to listen on, by default a free loopback port.
        package var server = HTTPServer.Configuration()
        package var inboxLimit = 1_000
        package var callLimit = 100_000
        /// The file to which each call is appended as a line of JSON.
        package var callLogPath: String?
        package var misbehaviour: [Misbehaviour] = []
        /// The record that a call with this `Idempotency-Key` is made for, where known; a call is shown once it is, or
        /// a second later.
        package var recordOfCall: (@Sendable (String) -> RecordedCall.Record?)?
        /// What users said last; `nil` for a backend without.
        package var words: (any UserWords)?
        /// The hub for devices and notifications; `nil` keeps them in memory.
        package var hub: HubBackend.Configuration?

        package init() {}
    }

    private let server: HTTPServer
    private let service: BackendService
    private let host: String
    private let scheme: String

    /// Starts the backend; it serves when this returns.
    package init(_ configuration: Configuration = Configuration()) throws {
        let serving = configuration.server
        let service = try BackendService(
            state: BackendState(configuration, prefix: String(UInt64.random(in: 1...(.max)), radix: 16)),
            callLog: try configuration.callLogPath.map { try CallLogFile(path: $0) },
            hub: try configuration.hub.map { try HubBackend($0) }, words: configuration.words,
            isLocal: serving.isLoopback)
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

    /// The newest calls, in order of arrival.
    package var calls: [RecordedCall] { service.state.withLock { $0.calls.elements } }

    package var droppedCallCount: Int { service.state.withLock { $0.calls.droppedCount } }

    /// The payloads that the device received, oldest first.
    package func payloads(ofHandle handle: String) -> [String] {
        service.state.withLock { $0.inbox.entries(of: handle).map(\.payload) }
    }

    /// Registers a user's device without a call.
    package func register(_ handle: String, platform: String, user: String) {
        service.state.withLock { state in
            guard let platform = PushPlatform(rawValue: platform), let id = state.devices.giveID(forHandle: handle)
            else { return }
            _ = state.devices.put(id, platform: platform, handle: handle, tags: [], owner: user)
        }
    }

    /// Replaces the rules; their counters start from 0, and answers held by the old ones are sent.
    package func misbehave(_ rules: [Misbehaviour]) {
        service.state.withLock { $0.rules.replace(with: rules) }
    }

    package var heldCount: Int { service.state.withLock { $0.rules.held }.count }

    /// Sends this many held answers, oldest first; the rule stays in force.
    package func release(_ count: Int) {
        service.state.withLock { $0.rules.held }.release(count)
    }

    /// Closes every connection and stops; a second call does nothing.
    package func stop() {
        server.stop()
        service.stop()
    }
}
