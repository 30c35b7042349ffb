import HeraldHTTP
import HeraldText

/// What a request asks the hub for, read without the hub's state.
struct HubOperation: Sendable {
    typealias Work = @Sendable (inout HubState, inout HubSend?, HubState.Context) -> Reply

    let notification: HubNotification?
    /// Carries the operation out, and notes a send in its record.
    let work: Work

    private init(_ work: @escaping Work) { (notification, self.work) = (nil, work) }

    private init(_ notification: HubNotification, _ kind: HubSend.Kind) {
        self.notification = notification
        work = { $0.send(notification, kind, record: &$1, $2) }
    }

    /// Reads an operation from a permitted request; throws a description of its fault.
    ///
    /// - Parameter time: milliseconds of Unix time.
    init(_ route: HubRoute, _ request: HTTPRequest, at time: Int64) throws(InvalidArgument) {
        let ifMatch = request.headers["If-Match"]
        switch (route, request.method) {
        case (.messages, _):
            let kind = route.sendKind(request.target) ?? .tags
            self.init(try HubNotification(request, isDirect: kind == .direct), kind)
        case (.message(let id), _): self.init { state, _, context in state.telemetry(id, context) }
        case (.registrationIDs, _): self.init { state, _, context in state.giveID(context) }
        case (.registrations, "POST"):
            let registration = try HubRegistration(entry: request.body)
            self.init { state, _, context in state.create(registration, context) }
        case (.registrations, _):
            let query = try RegistrationQuery(request.target)
            self.init { state, _, context in state.list(query, context) }
        case (.registrationsOfTag(let tag), _):
            let query = try RegistrationQuery(request.target, tag: tag)
            self.init { state, _, context in state.list(query, context) }
        case (.registration(let id), "PUT"):
            let registration = try HubRegistration(entry: request.body)
            self.init { state, _, context in state.put(registration, id: id, ifMatch: ifMatch, context) }
        case (.registration(let id), "DELETE"):
            guard let ifMatch else { throw InvalidArgument("the header If-Match is missing") }
            self.init { state, _, _ in state.delete(id, ifMatch: ifMatch) }
        case (.registration(let id), _): self.init { state, _, context in state.get(id, context) }
        case (.batch, _): self.init(try HubNotification(batch: request), .batch)
        case (.schedule, _): self.init(try HubNotification(scheduled: request, at: time), .scheduled)
        case (.scheduled(let id), _): self.init { state, _, _ in state.cancel(id) }
        case (.installation(let id), "PUT"):
            let installation = try HubInstallation(id: id, JSONValue(document: request.body))
            self.init { state, _, context in state.put(installation, context) }
        case (.installation(let id), "PATCH"):
            let changes = try JSONValue(document: request.body)
            self.init { state, _, context in state.patch(id, changes, context) }
        case (.installation(let id), "DELETE"): self.init { state, _, _ in state.deleteInstallation(id) }
        case (.installation(let id), _): self.init { state, _, context in state.installation(id, context) }
        case (.feedbackContainer, _): self.init { state, _, context in state.feedbackContainer(context) }
        case (.unknown, _): throw InvalidArgument("\(request.method) is not possible at \(request.target.path)")
        }
    }
}
