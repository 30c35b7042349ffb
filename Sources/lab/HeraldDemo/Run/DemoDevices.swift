import HeraldBackend
import HeraldCommandLine
import HeraldDevices
import HeraldEvents
import HeraldHTTP
import HeraldHub
import HeraldSandbox
import HeraldText
import HeraldThreads

/// A device that the demo registers as its app would.
package struct DemoDevice: Sendable {
    let user: String
    let platform: Platform
    let handle: DeviceHandle

    /// The devices; the first two are shown at the end.
    static let all = [
        Self(user: "alice", platform: .apns, handle: DeviceHandle(apnsToken: [0x0A, 0x11, 0xCE, 0xFF])),
        Self(user: "grace", platform: .wns, handle: DeviceHandle("https://wns.example/?token=grace%2Btablet")),
        Self(user: "alice", platform: .gcm, handle: DeviceHandle("alice-phone")),
        Self(user: "erin", platform: .gcm, handle: DeviceHandle("erin-phone")),
    ]
    static let shownCount = 2

    /// Registers all devices with the backend.
    package static func registerAll(with backend: DemoBackend) async throws {
        switch backend {
        case .reference(let backend): try await registerAll(backendURL: backend.url)
        case .hub(let emulator, _): for device in all { try device.install(on: emulator) }
        }
    }

    /// Makes an installation, as an app does that talks to the hub itself.
    private func install(on emulator: HubEmulator) throws {
        let client = HubClient(
            try HubConnectionString(emulator.listenConnectionString), hub: emulator.hub,
            tls: TLSFiles(caFile: emulator.caFile))
        let id = "\(user)-\(platform.rawValue)"
        let document: JSONValue = [
            "installationId": .string(id), "platform": .string(platform == .gcm ? "fcmv1" : platform.rawValue),
            "pushChannel": .string(handle.text), "tags": .array([.string("username:\(user)")]),
        ]
        let outcome = client.perform(
            .other("PUT", Array(document.compact.utf8), mediaType: "application/json"), "installations/\(id)")
        guard case .response(let response) = outcome, response.status == 200 else {
            throw CommandFailure("the demo's device \(id) could not be registered: \(outcome)")
        }
    }

    /// Registers all devices with a reference backend, each with its user's own credentials.
    private static func registerAll(backendURL: String) async throws {
        let store = ForgetfulStore()
        for device in all {
            let client = try BackendClient(
                BackendConfiguration(
                    url: backendURL, connectionLimit: 1,
                    credentials: .basic(username: device.user, password: Secret(device.user))))
            do {
                try await client.register(
                    handle: device.handle, platform: device.platform, installation: device.handle.text, store: store)
            } catch {
                await client.close()
                throw error
            }
            await client.close()
        }
    }

    /// Devices that did not receive what was delivered to their users, one line each.
    static func differences(_ tracker: DemoTracker, _ backend: DemoBackend) -> [String] {
        all.compactMap { device in
            let delivered = tracker.results.count {
                $0.user == device.user && $0.pushService == device.platform.rawValue && $0.outcome == .delivered
            }
            let received = backend.payloads(of: device).count
            guard delivered != received else { return nil }
            return "\(device.user)'s device on \(device.platform.rawValue) received \(received) notifications "
                + "instead of \(delivered)"
        }
    }
}

/// Registrations of a backend that keeps nothing are remembered only as long as the process lives.
private final class ForgetfulStore: RegistrationStore {
    private let ids = Guarded<[RegistrationKey: String]>([:])

    func registrationID(for key: RegistrationKey) -> String? { ids.withLock { $0[key] } }

    func remember(_ id: String?, for key: RegistrationKey) { ids.withLock { $0[key] = id } }
}
