import HeraldHTTP

/// The addresses of a notification hub, with or without a trailing slash; words are case-insensitive.
enum HubRoute: Equatable {
    case messages
    case batch
    case message(id: String)
    case schedule
    case scheduled(id: String)
    case registrationIDs
    case registrations
    case registration(id: String)
    case registrationsOfTag(String)
    case installation(id: String)
    case feedbackContainer
    /// Another hub, or a path that the hub does not have.
    case unknown

    /// The route of a path, from its segments below the hub.
    init(_ segments: [String]) {
        let names = segments.map { $0.lowercased() }
        switch (names.first, segments.count) {
        case ("messages", 1): self = .messages
        case ("messages", 2): self = names[1] == "$batch" ? .batch : .message(id: segments[1])
        case ("schedulednotifications", 1): self = .schedule
        case ("schedulednotifications", 2): self = .scheduled(id: segments[1])
        case ("registrationids", 1): self = .registrationIDs
        case ("registrations", 1): self = .registrations
        case ("registrations", 2): self = .registration(id: segments[1])
        case ("tags", 3) where names[2] == "registrations": self = .registrationsOfTag(segments[1])
        case ("installations", 2): self = .installation(id: segments[1])
        case ("feedbackcontainer", 1): self = .feedbackContainer
        default: self = .unknown
        }
    }

    /// The rights of which one suffices; `nil` when the method is not allowed here.
    func rights(_ request: HTTPRequest) -> Set<HubRight>? {
        switch (self, request.method) {
        case (.messages, "POST"), (.batch, "POST"), (.schedule, "POST"), (.scheduled, "DELETE"): [.send]
        // The documents do not name the right that telemetry needs.
        case (.message, "GET"), (.feedbackContainer, "GET"): [.send, .manage]
        case (.registrationIDs, "POST"), (.registrations, "POST"), (.registration, "GET"), (.registration, "PUT"),
            (.registration, "DELETE"), (.installation, "GET"), (.installation, "PUT"), (.installation, "PATCH"),
            (.installation, "DELETE"):
            [.listen, .manage]
        // A single handle's registrations are the device's own.
        case (.registrations, "GET"): request.target.values(of: "$filter").isEmpty ? [.manage] : [.listen, .manage]
        case (.registrationsOfTag, "GET"): [.manage]
        default: nil
        }
    }

    /// The kind of a send to this route; `nil` for other requests, which are not recorded.
    func sendKind(_ target: HTTPTarget) -> HubSend.Kind? {
        switch self {
        case .messages: target.parameters.contains { $0.name.lowercased() == "direct" } ? .direct : .tags
        case .batch: .batch
        case .schedule: .scheduled
        case .message, .scheduled, .registrationIDs, .registrations, .registration, .registrationsOfTag, .installation,
            .feedbackContainer, .unknown:
            nil
        }
    }
}
