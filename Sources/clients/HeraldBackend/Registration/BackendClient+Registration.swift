internal import Foundation
internal import HeraldBytes

extension BackendClient {
    private static let putting = "putting the registration"
    private static let registrationIDLimit = 1_024

    /// Registers a device, or renews its registration: asks for an id unless one is remembered, and puts the device
    /// there.
    ///
    /// An id that the backend gave up (410) is forgotten, and a new one tried once.
    ///
    /// - Parameters:
    ///   - tags: what the device can be reached by, besides the user's own tag, which the backend adds.
    ///   - installation: the caller's name for the device or program; each has one remembered id per backend.
    /// - Returns: the registration's id.
    /// - Throws: ``BackendClientError``, `CancellationError`, or what the store throws.
    @discardableResult
    public func register(
        handle: DeviceHandle, platform: Platform, tags: [String] = [], installation: String = "default",
        store: any RegistrationStore
    ) async throws -> String {
        let key = registrationKey(installation)
        if let known = try store.registrationID(for: key) {
            if try await put(known, handle: handle, platform: platform, tags: tags) { return known }
            try store.remember(nil, for: key)
        }
        return try await registerAnew(handle: handle, platform: platform, tags: tags, key: key, store: store)
    }

    /// Removes the installation's registration from the backend and forgets its id.
    ///
    /// - Returns: false when no id is remembered, so that there is nothing to remove.
    @discardableResult
    public func unregister(installation: String = "default", store: any RegistrationStore) async throws -> Bool {
        let key = registrationKey(installation)
        guard let id = try store.registrationID(for: key) else { return false }
        let answer = try await request("DELETE", registrationTarget(id), json: nil).answer
        switch answer {
        case .status(let status, _, _) where (200..<300).contains(status) || status == 404 || status == 410:
            // What is gone already need not be removed.
            try store.remember(nil, for: key)
            return true
        case .status, .failure:
            throw BackendClientError.refused(
                request: "removing the registration", answer: answer.hiding(id, as: "(the registration)"))
        }
    }

    private func registerAnew(
        handle: DeviceHandle, platform: Platform, tags: [String], key: RegistrationKey, store: any RegistrationStore
    ) async throws -> String {
        let purpose = "asking for a registration"
        let target = configuration.registerPath + "?handle=" + encoded(handle.text)
        let reply = try await request("POST", target, json: nil)
        guard reply.answer.isSuccess else {
            throw BackendClientError.refused(
                request: purpose, answer: reply.answer.hiding(handle.text, as: "(the handle)"))
        }
        guard let id = try? JSONDecoder().decode(String.self, from: Data(reply.body)), !id.isEmpty,
            id.utf8.count <= Self.registrationIDLimit
        else {
            throw BackendClientError.unexpected(request: purpose, reason: "the answer is not an id as a JSON string")
        }
        try store.remember(id, for: key)
        if try await put(id, handle: handle, platform: platform, tags: tags) { return id }
        try store.remember(nil, for: key)
        let gone = Answer.status(410, retryAfter: nil, detail: "the backend gave the new id up at once")
        throw BackendClientError.refused(request: Self.putting, answer: gone)
    }

    /// Puts the device at the id; false when the backend gave the id up (410).
    private func put(
        _ id: String, handle: DeviceHandle, platform: Platform, tags: [String]
    ) async throws -> Bool {
        let json = registrationJSON(handle: handle, platform: platform, tags: tags)
        let answer = try await request("PUT", registrationTarget(id), json: json).answer
        if answer.isSuccess { return true }
        if case .status(410, _, _) = answer { return false }
        throw BackendClientError.refused(
            request: Self.putting,
            answer: answer.hiding(handle.text, as: "(the handle)").hiding(id, as: "(the registration)"))
    }

    private func registrationJSON(handle: DeviceHandle, platform: Platform, tags: [String]) -> String {
        var json: [UInt8] = []
        json.append(text: "{\"Platform\":")
        JSONText.appendString(Array(platform.rawValue.utf8).span.bytes, to: &json)
        json.append(text: ",\"Handle\":")
        JSONText.appendString(Array(handle.text.utf8).span.bytes, to: &json)
        json.append(text: ",\"Tags\":[")
        for (index, tag) in tags.enumerated() {
            if index > 0 { json.append(UInt8(ascii: ",")) }
            JSONText.appendString(Array(tag.utf8).span.bytes, to: &json)
        }
        json.append(text: "]}")
        return String(decoding: json, as: UTF8.self)
    }

    private func registrationKey(_ installation: String) -> RegistrationKey {
        RegistrationKey(
            backend: configuration.address.origin + configuration.registerPath, installation: installation)
    }

    private func registrationTarget(_ id: String) -> String {
        configuration.registerPath + "/" + encoded(id)
    }

    private func encoded(_ text: String) -> String {
        var bytes: [UInt8] = []
        PercentEncoding.append(Array(text.utf8).span.bytes, to: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }
}
