import Glibc
import HeraldCommandLine
import HeraldSandbox

/// The backend of the demo's worker, with the demo's devices: the reference backend or an emulated notification hub.
struct DemoBackend: Sendable {
    let isHub: Bool
    let url: String
    let notice: String
    /// The `backend` section of the worker's settings file.
    let settings: String
    /// The notification calls it received; a hub's sends count as the calls they stand for.
    let calls: @Sendable () -> [RecordedCall]
    /// The payloads that the device received, oldest first.
    let payloads: @Sendable (DemoDevice) -> [String]
    /// Stops it and deletes its files.
    let stop: @Sendable () -> Void

    /// Starts it on a free loopback port; it misbehaves as the scenes require.
    init(isHub: Bool) throws {
        self.isHub = isHub
        guard isHub else {
            var configuration = ReferenceBackend.Configuration()
            configuration.misbehaviour = DemoScript.misbehaviour
            let backend = try ReferenceBackend(configuration)
            for device in DemoDevice.all {
                backend.register(device.handle, platform: device.pushService, user: device.user)
            }
            url = backend.url
            notice = ReferenceBackend.notice
            settings = """
                backend:
                  url: \(backend.url)
                  body: object
                  auth: {kind: basic, username: herald, password: herald}
                """
            calls = { backend.calls }
            payloads = { backend.payloads(ofHandle: $0.handle) }
            stop = { backend.stop() }
            return
        }
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
        url = emulator.url
        notice = HubEmulator.notice
        settings = """
            backend:
              kind: azure-hub
              hub: {name: \(emulator.hub), connectionStringFile: "\(path)"}
              tls: {caFile: "\(emulator.caFile)"}
            """
        calls = { emulator.sends.map { RecordedCall($0) } }
        payloads = { emulator.payloads(ofHandle: $0.handle) }
        stop = {
            emulator.stop()
            unlink(path)
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
