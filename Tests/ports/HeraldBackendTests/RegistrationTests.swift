import Foundation
import HeraldBackend
import HeraldDevices
import Testing

@Suite("Registering a device")
struct RegistrationTests {
    private func temporaryFile() -> String {
        FileManager.default.temporaryDirectory.appendingPathComponent("herald-\(UUID().uuidString)/state/ids.json").path
    }

    private func remove(_ path: String) {
        let folder = URL(fileURLWithPath: path).deletingLastPathComponent().deletingLastPathComponent()
        try? FileManager.default.removeItem(at: folder)
    }

    @Test("The first registration asks for an id, and later ones use it again, whatever the handle")
    func register() async throws {
        let backend = try FakeBackend { line, _ in
            line.hasPrefix("POST") ? FakeBackend.answer(200, #""id/1 ü""#) : FakeBackend.answer(200)
        }
        defer { backend.stop() }
        let path = temporaryFile()
        defer { remove(path) }
        let client = try backend.client()
        let store = FileRegistrationStore(path: path)
        let id = try await client.register(
            handle: DeviceHandle("https://wns.example/?t=a+b&c"), platform: .wns, tags: ["news", "a\"b"], store: store)
        #expect(id == "id/1 ü")
        // A store of its own reads the first one's file.
        let again = try await client.register(
            handle: DeviceHandle(apnsToken: [0x00, 0xAB, 0xFF]), platform: .apns,
            store: FileRegistrationStore(path: path))
        #expect(again == id)
        #expect(
            backend.lines == [
                "POST /api/register?handle=https%3A%2F%2Fwns.example%2F%3Ft%3Da%2Bb%26c",
                "PUT /api/register/id%2F1%20%C3%BC", "PUT /api/register/id%2F1%20%C3%BC",
            ])
        let bodies = backend.requests.map { $0.split(separator: "\r\n\r\n").dropFirst().joined() }
        #expect(
            bodies == [
                "", #"{"Handle":"https://wns.example/?t=a+b&c","Platform":"wns","Tags":["news","a\"b"]}"#,
                #"{"Handle":"00ABFF","Platform":"apns","Tags":[]}"#,
            ])
        let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
        #expect(mode == 0o600)
        let neighbours = try FileManager.default.contentsOfDirectory(
            atPath: URL(fileURLWithPath: path).deletingLastPathComponent().path)
        #expect(neighbours == ["ids.json"])
        await client.close()
    }

    @Test("A backend that says \"later\" is asked again, three times at most", arguments: [2, 4])
    func later(count: Int) async throws {
        let backend = try FakeBackend { line, number in
            number < count
                ? FakeBackend.answer(429, headers: "Retry-After: 0\r\n")
                : FakeBackend.answer(200, line.hasPrefix("POST") ? #""id""# : "")
        }
        defer { backend.stop() }
        let client = try backend.client()
        let id = try? await client.register(
            handle: DeviceHandle("h"), platform: .gcm, store: FileRegistrationStore(path: temporaryFile()))
        #expect(id == (count == 2 ? "id" : nil))
        #expect(backend.lines.count == 4)
        await client.close()
    }

    @Test("An id that the backend gave up is forgotten, and a new one tried once", arguments: [true, false])
    func gone(isNewOneGood: Bool) async throws {
        let backend = try FakeBackend { line, number in
            switch true {
            case line.hasPrefix("POST"): FakeBackend.answer(200, "\"id-\(number)\"")
            case line.hasPrefix("PUT /api/register/id-0 ") && number > 1: FakeBackend.answer(410)
            default: FakeBackend.answer(number > 3 && !isNewOneGood ? 410 : 200)
            }
        }
        defer { backend.stop() }
        let client = try backend.client()
        let store = MemoryStore()
        try await client.register(handle: DeviceHandle("h"), platform: .gcm, store: store)
        if isNewOneGood {
            #expect(try await client.register(handle: DeviceHandle("h"), platform: .gcm, store: store) == "id-3")
            #expect(store.ids == ["id-3"])
        } else {
            await #expect(throws: BackendClientError.self) {
                try await client.register(handle: DeviceHandle("h"), platform: .gcm, store: store)
            }
            #expect(store.ids.isEmpty)
        }
        #expect(
            backend.lines == [
                "POST /api/register?handle=h", "PUT /api/register/id-0", "PUT /api/register/id-0",
                "POST /api/register?handle=h", "PUT /api/register/id-3",
            ])
        await client.close()
    }

    @Test(
        "Only a JSON string is accepted as an id",
        arguments: [(200, "id"), (200, "\"\""), (200, "{}"), (200, ""), (403, "\"id\""), (302, "\"id\"")])
    func badIDs(status: Int, body: String) async throws {
        let backend = try FakeBackend { _, _ in FakeBackend.answer(status, body) }
        defer { backend.stop() }
        let client = try backend.client()
        let store = MemoryStore()
        await #expect(throws: BackendClientError.self) {
            try await client.register(handle: DeviceHandle("h"), platform: .gcm, store: store)
        }
        #expect(store.ids.isEmpty && backend.requests.count == 1)
        await client.close()
    }

    @Test("A refusal names the request and the reason, and keeps the id")
    func refused() async throws {
        let backend = try FakeBackend { line, _ in
            line.hasPrefix("POST")
                ? FakeBackend.answer(200, "\"id\"") : FakeBackend.answer(403, #"{"Message":"not yours"}"#)
        }
        defer { backend.stop() }
        let client = try backend.client()
        let store = MemoryStore()
        let error = await #expect(throws: BackendClientError.self) {
            try await client.register(handle: DeviceHandle("canary"), platform: .gcm, store: store)
        }
        #expect(error?.description == "putting the registration: the backend answered 403: not yours")
        #expect(store.ids == ["id"])
        await client.close()
    }

    @Test(
        "Removing forgets the id, even when the backend no longer knows it",
        arguments: [(200, true), (410, true), (500, false)])
    func unregister(status: Int, isForgotten: Bool) async throws {
        let backend = try FakeBackend { line, _ in
            switch true {
            case line.hasPrefix("POST"): FakeBackend.answer(200, "\"id\"")
            case line.hasPrefix("DELETE"): FakeBackend.answer(status)
            default: FakeBackend.answer(200)
            }
        }
        defer { backend.stop() }
        let client = try backend.client()
        let store = MemoryStore()
        #expect(try await !client.unregister(store: store))
        try await client.register(handle: DeviceHandle("h"), platform: .gcm, store: store)
        if isForgotten {
            #expect(try await client.unregister(store: store))
        } else {
            await #expect(throws: BackendClientError.self) { try await client.unregister(store: store) }
        }
        #expect(store.ids.isEmpty == isForgotten)
        #expect(backend.lines.last == "DELETE /api/register/id")
        await client.close()
    }

    @Test("Each installation and backend has its own entry, and a damaged file is an error")
    func store() throws {
        let path = temporaryFile()
        defer { remove(path) }
        let store = FileRegistrationStore(path: path)
        let keys = ["a", "b"].flatMap { backend in
            ["1", "2"].map { RegistrationKey(backend: backend, installation: $0) }
        }
        for key in keys { try store.remember("\(key.backend)\(key.installation)", for: key) }
        #expect(try keys.map { try store.registrationID(for: $0) } == ["a1", "a2", "b1", "b2"])
        try store.remember(nil, for: keys[0])
        #expect(try keys.map { try store.registrationID(for: $0) } == [nil, "a2", "b1", "b2"])
        try Data("no JSON".utf8).write(to: URL(fileURLWithPath: path))
        #expect(throws: (any Error).self) { try store.registrationID(for: keys[1]) }
    }

    @Test("The default file is in the directory for programs' state")
    func defaultPath() {
        #expect(
            FileRegistrationStore.defaultPath(environment: ["HOME": "/home/a"])
                == "/home/a/.local/state/herald/registrations.json")
        #expect(
            FileRegistrationStore.defaultPath(environment: ["HOME": "/home/a", "XDG_STATE_HOME": "/s"])
                == "/s/herald/registrations.json")
    }
}
