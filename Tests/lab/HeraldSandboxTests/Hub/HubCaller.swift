import Foundation
import HeraldHTTP
import HeraldHub
import HeraldSandbox
import HeraldText
import HeraldTime
import Testing

/// A caller of an emulated hub over TLS, which signs as azure-sdk-for-js does by default.
struct HubCaller {
    static let names = [
        "Location", "Content-Location", "ETag", "Content-Type", "Content-Length", "TrackingId", "Retry-After",
        "x-ms-continuationtoken", "x-ms-correlation-request-id",
    ]

    let emulator: HubEmulator
    var string: String
    /// Replaces the valid token; empty text sends none.
    var authorization: String?

    /// A hub and a caller with all rights.
    static func start(_ change: (inout HubEmulator.Configuration) -> Void = { _ in }) throws -> HubCaller {
        var configuration = HubEmulator.Configuration()
        change(&configuration)
        let emulator = try HubEmulator(configuration)
        return HubCaller(emulator: emulator, string: emulator.connectionString)
    }

    /// A caller that may only register devices.
    var listener: HubCaller {
        HubCaller(emulator: emulator, string: emulator.listenConnectionString)
    }

    var connection: HubConnectionString { get throws { try HubConnectionString(string) } }

    /// A token for an audience, percent-encoded, signed with this caller's key.
    func token(_ audience: String, expiresIn seconds: Int64 = 3_600) throws -> String {
        SharedAccessSignature(
            encodedAudience: audience, expiresAt: Int64(Date().timeIntervalSince1970) + seconds,
            keyName: try connection.keyName, key: try connection.key
        ).authorization
    }

    func with(authorization: String) -> HubCaller {
        var caller = self
        caller.authorization = authorization
        return caller
    }

    /// Makes a request below the hub; the path includes its query, without a version.
    func call(
        _ method: String, _ path: String, headers: [String: String] = [:], body: String = "", type: String? = nil,
        hub: String? = nil
    ) throws -> SingleRequest.Response {
        let separator = path.contains("?") ? "&" : "?"
        let url = "\(emulator.url)/\(hub ?? emulator.hub)/\(path)\(separator)api-version=2020-06"
        return try request(method, url: url, headers: headers, body: body, type: type)
    }

    func request(
        _ method: String, url: String, headers: [String: String] = [:], body: String = "", type: String? = nil
    ) throws -> SingleRequest.Response {
        let proper = try token("https%3A%2F%2F\(connection.authority.replacing(":", with: "%3A"))%2F")
        let authorization = authorization ?? proper
        let outcome = SingleRequest(
            .other(method, Array(body.utf8), mediaType: type), url: url,
            authorization: authorization.isEmpty ? nil : authorization,
            headers: headers.map { SingleRequest.Header(name: $0.key, value: $0.value) }, wantedHeaders: Self.names,
            timeout: .minutes(1), proxy: nil, tls: TLSFiles(caFile: emulator.caFile)
        ).perform()
        guard case .response(let response) = outcome else { throw Failure(description: "\(outcome)") }
        return response
    }

    struct Failure: Error, CustomStringConvertible { let description: String }

    /// Sends native JSON.
    func send(
        _ format: String, tags: String? = nil, _ body: String = #"{"aps":{"alert":"hi"}}"#,
        headers: [String: String] = [:], path: String = "messages", type: String = "application/json;charset=utf-8"
    ) throws -> SingleRequest.Response {
        var all = headers
        all["ServiceBusNotification-Format"] = format
        if let tags { all["ServiceBusNotification-Tags"] = tags }
        return try call("POST", path, headers: all, body: body, type: type)
    }

    /// The message id of a send, the last segment of its location.
    func message(_ response: SingleRequest.Response) throws -> String {
        let location = try #require(response.headers["Location"].flatMap { URL(string: $0) })
        return location.lastPathComponent
    }

    /// A registration's entry in the Java SDK's form.
    static func entry(_ name: String, _ fields: String, tags: String? = nil) -> String {
        let tags = tags.map { "<Tags>\($0)</Tags>" } ?? ""
        return #"<?xml version="1.0" encoding="utf-8"?><entry xmlns="http://www.w3.org/2005/Atom">"#
            + #"<content type="application/xml"><\#(name) xmlns:i="http://www.w3.org/2001/XMLSchema-instance" "#
            + #"xmlns="http://schemas.microsoft.com/netservices/2010/10/servicebus/connect">"#
            + "\(tags)\(fields)</\(name)></content></entry>"
    }

    func put(_ id: String, _ entry: String, headers: [String: String] = [:]) throws -> SingleRequest.Response {
        try call(
            "PUT", "registrations/\(id)", headers: headers, body: entry,
            type: "application/atom+xml;type=entry;charset=utf-8")
    }

    /// Registers an Apple device with tags under its own id.
    @discardableResult
    func registerApple(_ id: String, _ token: String, tags: String) throws -> SingleRequest.Response {
        let response = try put(
            id, Self.entry("AppleRegistrationDescription", "<DeviceToken>\(token)</DeviceToken>", tags: tags))
        #expect(response.status == 200)
        return response
    }
}

extension SingleRequest.Response {
    var text: String { String(decoding: body, as: UTF8.self) }
    func xml() throws -> XMLElement { try XMLElement(document: body) }
}
