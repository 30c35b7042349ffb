import HeraldHTTP
import HeraldText

/// The operation that a request asks for, read without the hub's state.
enum HubOperation: Sendable {
    case send(HubNotification, HubSend.Kind)
    case telemetry(id: String)
    case giveID
    case create(HubRegistration)
    case put(HubRegistration, id: String, ifMatch: String?)
    case get(id: String)
    case delete(id: String, ifMatch: String)
    case list(RegistrationQuery)
    case cancel(id: String)
    case putInstallation(HubInstallation)
    case patchInstallation(id: String, HubJSON)
    case getInstallation(id: String)
    case deleteInstallation(id: String)
    case feedbackContainer

    /// Reads an operation from a permitted request; throws a description of its fault.
    ///
    /// - Parameter time: milliseconds of Unix time.
    init(_ route: HubRoute, _ request: HTTPRequest, at time: Int64) throws(InvalidArgument) {
        let ifMatch = request.headers["If-Match"]
        switch (route, request.method) {
        case (.messages, _):
            let kind = route.sendKind(request.target) ?? .tags
            self = .send(try HubNotification(request, isDirect: kind == .direct), kind)
        case (.message(let id), _): self = .telemetry(id: id)
        case (.registrationIDs, _): self = .giveID
        case (.registrations, "POST"): self = .create(try HubRegistration(entry: request.body))
        case (.registrations, _): self = .list(try RegistrationQuery(request.target))
        case (.registrationsOfTag(let tag), _): self = .list(try RegistrationQuery(request.target, tag: tag))
        case (.registration(let id), "PUT"):
            self = .put(try HubRegistration(entry: request.body), id: id, ifMatch: ifMatch)
        case (.registration(let id), "DELETE"):
            guard let ifMatch else { throw InvalidArgument("the header If-Match is missing") }
            self = .delete(id: id, ifMatch: ifMatch)
        case (.registration(let id), _): self = .get(id: id)
        case (.batch, _): self = .send(try HubNotification(batch: request), .batch)
        case (.schedule, _): self = .send(try HubNotification(scheduled: request, at: time), .scheduled)
        case (.scheduled(let id), _): self = .cancel(id: id)
        case (.installation(let id), "PUT"):
            self = .putInstallation(try HubInstallation(id: id, HubJSON.parse(request.body)))
        case (.installation(let id), "PATCH"): self = .patchInstallation(id: id, try HubJSON.parse(request.body))
        case (.installation(let id), "DELETE"): self = .deleteInstallation(id: id)
        case (.installation(let id), _): self = .getInstallation(id: id)
        case (.feedbackContainer, _): self = .feedbackContainer
        case (.unknown, _): throw InvalidArgument("\(request.method) is not possible at \(request.target.path)")
        }
    }
}
