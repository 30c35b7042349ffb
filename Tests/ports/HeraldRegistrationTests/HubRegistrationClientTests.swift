import HeraldBackend
import HeraldDevices
import HeraldEvents
import HeraldHTTP
import HeraldHub
import HeraldSandbox
import HeraldText
import HeraldThreads
import HeraldTime
import TestSupport
import Testing

@Suite("Registering with a hub itself")
struct HubRegistrationClientTests {
    private final class Store: RegistrationStore {
        private let entries = Guarded<[RegistrationKey: String]>([:])

        var ids: [String] { entries.withLock { Array($0.values) } }
        func registrationID(for key: RegistrationKey) -> String? { entries.withLock { $0[key] } }
        func remember(_ id: String?, for key: RegistrationKey) { entries.withLock { $0[key] = id } }
    }

    private func client(_ emulator: HubEmulator, rule: String? = nil) throws -> HubClient {
        HubClient(
            try HubConnectionString(rule ?? emulator.connectionString), hub: emulator.hub, timeout: .minutes(1),
            tls: TLSFiles(caFile: emulator.caFile))
    }

    private func tagged(_ tag: String, _ client: HubClient) async throws -> [HubRegistration] {
        try await Blocking.run {
            guard case .success(let list) = client.registrations(ofTag: tag) else { return [] }
            return list
        }
    }

    @Test("A device gets its user's tag, is found by its handle, and needs the right Listen only")
    func register() async throws {
        let emulator = try HubEmulator()
        defer { emulator.stop() }
        let manager = try client(emulator)
        let devices = try HubRegistrationClient(try client(emulator, rule: emulator.listenConnectionString))
        let store = Store()
        let id = try await devices.register(
            handle: DeviceHandle("0aff"), platform: .apns, user: "alice", tags: ["news"], store: store)
        #expect(store.ids == [id])
        var found = try await tagged("username:alice", manager)
        #expect(found.map(\.id) == [id])
        #expect(found.first?.device == .apple(token: "0AFF"))
        // Found by the handle, without the remembered id.
        try await devices.register(handle: DeviceHandle("0AFF"), platform: .apns, user: "alice", store: Store())
        found = try await tagged("username:alice", manager)
        #expect(found.map(\.id) == [id] && found.first?.tags == ["username:alice"])
        // Another user of the device, found by the remembered id: the same registration, with another tag.
        try await devices.register(handle: DeviceHandle("0AFF"), platform: .apns, user: "bob", store: store)
        found = try await tagged("username:bob", manager)
        #expect(found.map(\.id) == [id] && found.first?.tags == ["username:bob"])
        #expect(try await tagged("username:alice", manager).isEmpty)
        #expect(try await devices.unregister(store: store))
        #expect(try await !devices.unregister(store: store))
        #expect(try await tagged("username:bob", manager).isEmpty)
    }

    @Test("The user's own doubles of a handle are deleted; another user's registration stays, and is reported")
    func doubles() async throws {
        let emulator = try HubEmulator()
        defer { emulator.stop() }
        let hub = try client(emulator)
        let handle = "https://wns.example/?t='1'&a=b"
        for (id, tags) in [("1-1", ["other"]), ("2-2", ["carl-devices", "vip"]), ("3-3", ["carl-devices"])] {
            let registration = try HubRegistration(.windows(channel: handle), tags: tags)
            guard case .success = try await Blocking.run({ hub.put(registration, at: id) }) else {
                Issue.record("the hub refuses \(id)")
                return
            }
        }
        let told = Guarded<[OtherRegistration]>([])
        let id = try await HubRegistrationClient(hub, tag: "{user}-devices").register(
            handle: DeviceHandle(handle), platform: .wns, user: "carl", store: Store(),
            others: { others in told.withLock { $0 = others } })
        #expect(["2-2", "3-3"].contains(id))
        #expect(try await tagged("carl-devices", hub).map(\.id) == [id])
        #expect(try await tagged("other", hub).map(\.id) == ["1-1"])
        #expect(told.withLock { $0.map(\.id) } == ["1-1"])
        #expect(told.withLock { $0.first?.tags } == ["other"])
    }

    @Test("Devices of gcm are registered for FCM v1, or for the legacy interface on request", arguments: [true, false])
    func google(isLegacy: Bool) async throws {
        let emulator = try HubEmulator()
        defer { emulator.stop() }
        let hub = try client(emulator)
        try await HubRegistrationClient(hub, registersLegacyGCM: isLegacy).register(
            handle: DeviceHandle("token"), platform: .gcm, user: "dora", store: Store())
        #expect(
            try await tagged("username:dora", hub).map(\.device)
                == [isLegacy ? .gcm(token: "token") : .fcmV1(token: "token")])
    }

    @Test("A wrong key and an absent hub are distinguished, and an invalid registration sends no request")
    func refused() async throws {
        let emulator = try HubEmulator()
        defer { emulator.stop() }
        let rule =
            emulator.connectionString.prefix { $0 != ";" } + ";SharedAccessKeyName=DefaultFullSharedAccessSignature"
        let stranger = try HubRegistrationClient(
            try client(emulator, rule: rule + ";SharedAccessKey=wrong"))
        let store = Store()
        var error = await #expect(throws: BackendClientError.self) {
            try await stranger.register(handle: DeviceHandle("h"), platform: .gcm, user: "a", store: store)
        }
        guard case .refused("asking for a registration", let answer)? = error, answer.status == 401 else {
            Issue.record("another error: \(String(describing: error))")
            return
        }
        let devices = try HubRegistrationClient(try client(emulator))
        for (handle, user) in [("xyz", "a"), ("0aff", ""), ("0aff", "a||b")] {
            await #expect(throws: InvalidArgument.self) {
                try await devices.register(handle: DeviceHandle(handle), platform: .apns, user: user, store: store)
            }
        }
        emulator.stop()
        error = await #expect(throws: BackendClientError.self) {
            try await devices.register(handle: DeviceHandle("h"), platform: .gcm, user: "a", store: store)
        }
        guard error?.isUnreachable == true, store.ids.isEmpty else {
            Issue.record("another error: \(String(describing: error))")
            return
        }
    }
}
