import Glibc
import HeraldCommandLine
import HeraldSandbox

/// The backend of the demo's worker, with the demo's devices: the reference backend or an emulated notification hub.
enum DemoBackend: Sendable {
    case reference(ReferenceBackend)
    case hub(HubEmulator, connectionStringFile: String)

    /// Starts it on a free loopback port; it misbehaves as the scenes require.
    init(isHub: Bool) throws {
        if isHub {
            var configuration = HubEmulator.Configuration()
            configuration.misbehaviour = DemoScript.hubMisbehaviour
            let emulator = try HubEmulator(configuration)
            for device in DemoDevice.all {
                let format = device.pushService == "gcm" ? "fcmv1" : device.pushService
                try emulator.register(device.handle, platform: format, user: device.user)
            }
            let path = "\(emulator.caFile).secret"
            let file = try OutputFile(path)
            try file.stream.write(emulator.connectionString)
            try file.finish()
            self = .hub(emulator, connectionStringFile: path)
        } else {
            var configuration = ReferenceBackend.Configuration()
            configuration.misbehaviour = DemoScript.misbehaviour
            let backend = try ReferenceBackend(configuration)
            for device in DemoDevice.all {
                backend.register(device.handle, platform: device.pushService, user: device.user)
            }
            self = .reference(backend)
        }
    }

    var isHub: Bool { if case .hub = self { true } else { false } }

    var url: String {
        switch self {
        case .reference(let backend): backend.url
        case .hub(let emulator, _): emulator.url
        }
    }

    var notice: String {
        switch self {
        case .reference: ReferenceBackend.notice
        case .hub: HubEmulator.notice
        }
    }

    /// The `backend` section of the worker's settings file.
    var settings: String {
        switch self {
        case .reference(let backend):
            """
            backend:
              url: \(backend.url)
              auth: {kind: basic, username: herald, password: herald}
            """
        case .hub(let emulator, let file):
            """
            backend:
              kind: azure-hub
              hub: {name: \(emulator.hub), connectionStringFile: "\(file)"}
              tls: {caFile: "\(emulator.caFile)"}
            """
        }
    }

    /// The notification calls it received; a hub's sends count as the calls they stand for.
    var calls: [RecordedCall] {
        switch self {
        case .reference(let backend): backend.calls
        case .hub(let emulator, _): emulator.sends.map { RecordedCall($0) }
        }
    }

    /// The payloads that the device received, oldest first.
    func payloads(of device: DemoDevice) -> [String] {
        switch self {
        case .reference(let backend): backend.payloads(ofHandle: device.handle)
        case .hub(let emulator, _): emulator.payloads(ofHandle: device.handle)
        }
    }

    /// Stops it and deletes its files.
    func stop() {
        switch self {
        case .reference(let backend): backend.stop()
        case .hub(let emulator, let file):
            emulator.stop()
            unlink(file)
        }
    }
}

extension RecordedCall {
    /// A send as a call; the number in the demo's messages replaces the missing idempotency key.
    init(_ send: HubSend) {
        let pushService = DemoScript.hubFormats.first { $0.format == send.format }?.pushService
        let user = send.tags.map { $0.replacing("username:", with: "") }
        let key = DemoEvent.number(inMessage: send.text).map { number in
            DemoEvent.idempotencyKey(number: number, user: user ?? "", pushService: pushService ?? "")
        }
        self.init(send, idempotencyKey: key, pns: pushService, user: user)
    }
}
