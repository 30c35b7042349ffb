internal import Foundation

package struct RegistrationRequest: Sendable {
    package let method: String
    /// The part after the address of registrations, encoded.
    package let target: String
    package let json: String?
    /// Its purpose in words, without handles and ids.
    package let purpose: String
    /// The texts that must not be shown, and their replacements.
    package let secrets: [(text: String, name: String)]
}

/// An answer to a ``RegistrationRequest``.
package struct RegistrationReply: Sendable {
    package let status: Int
    /// An error's text as one line.
    package let detail: String?
    package let body: [UInt8]

    package init(status: Int, detail: String?, body: [UInt8]) {
        self.status = status
        self.detail = detail
        self.body = body
    }
}

/// Carries requests to a backend, and makes the errors for unusable answers.
package protocol RegistrationTransport: Sendable {
    /// The address of the backend's registrations: scheme, host, port and path.
    var address: String { get }
    /// Makes a request; throws when there is no answer.
    func send(_ request: RegistrationRequest) async throws -> RegistrationReply
    func refusal(of request: RegistrationRequest, _ reply: RegistrationReply) -> any Error
    /// The error for an answer that violates the contract.
    func mistake(in request: RegistrationRequest, _ reason: String) -> any Error
}

/// A backend's registrations according to its contract: `POST ?handle=`, `PUT /ID`, `DELETE /ID`.
package struct BackendRegistrations<Transport: RegistrationTransport>: RegistrationService {
    private static var idLimit: Int { 1_024 }
    private static var putting: String { "putting the registration" }

    private let transport: Transport

    package init(_ transport: Transport) {
        self.transport = transport
    }

    package var address: String { transport.address }

    package func makeID(for handle: DeviceHandle) async throws -> String {
        let request = RegistrationRequest(
            method: "POST", target: "?handle=" + Self.encoded(handle.text), json: nil,
            purpose: "asking for a registration", secrets: [(handle.text, "(the handle)")])
        let reply = try await transport.send(request)
        guard reply.isSuccess else { throw transport.refusal(of: request, reply) }
        guard let id = try? JSONDecoder().decode(String.self, from: Data(reply.body)), !id.isEmpty,
            id.utf8.count <= Self.idLimit
        else { throw transport.mistake(in: request, "the answer is not an id as a JSON string") }
        return id
    }

    package func put(_ device: RegisteredDevice, at id: String) async throws -> Bool {
        let request = RegistrationRequest(
            method: "PUT", target: "/" + Self.encoded(id), json: try Self.json(of: device), purpose: Self.putting,
            secrets: [(device.handle.text, "(the handle)"), (id, "(the registration)")])
        let reply = try await transport.send(request)
        if reply.status == 410 { return false }
        guard reply.isSuccess else { throw transport.refusal(of: request, reply) }
        return true
    }

    package func remove(_ id: String) async throws {
        let request = RegistrationRequest(
            method: "DELETE", target: "/" + Self.encoded(id), json: nil, purpose: "removing the registration",
            secrets: [(id, "(the registration)")])
        let reply = try await transport.send(request)
        guard reply.isSuccess || reply.status == 404 || reply.status == 410 else {
            throw transport.refusal(of: request, reply)
        }
    }

    package func goneAtOnce() -> any Error {
        let request = RegistrationRequest(method: "PUT", target: "", json: nil, purpose: Self.putting, secrets: [])
        let gone = RegistrationReply(status: 410, detail: "the backend gave the new id up at once", body: [])
        return transport.refusal(of: request, gone)
    }

    /// The members have the names of ASP.NET's model.
    private static func json(of device: RegisteredDevice) throws -> String {
        let body: [String: Any] = [
            "Platform": device.platform.rawValue, "Handle": device.handle.text, "Tags": device.tags,
        ]
        let json = try JSONSerialization.data(withJSONObject: body, options: [.sortedKeys, .withoutEscapingSlashes])
        return String(decoding: json, as: UTF8.self)
    }

    /// Encodes all but the characters that RFC 3986 calls unreserved.
    private static func encoded(_ text: String) -> String {
        let unreserved = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~"
        return text.addingPercentEncoding(withAllowedCharacters: CharacterSet(charactersIn: unreserved)) ?? ""
    }
}

extension RegistrationReply {
    fileprivate var isSuccess: Bool { (200..<300).contains(status) }
}
