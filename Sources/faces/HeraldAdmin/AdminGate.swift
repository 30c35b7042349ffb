import HeraldHTTP
import HeraldText

/// Which clients may see more than health, status and metrics.
///
/// | listening on | without a token set | with one |
/// |---|---|---|
/// | loopback | all local clients, but no web page that has moved its own name to 127.0.0.1 | clients that show it |
/// | another address | none | clients that show it |
struct AdminGate: Sendable {
    private let isLoopback: Bool
    private let token: AdminServer.Token?

    init(listensOn host: String, token: AdminServer.Token?) {
        isLoopback = HTTPServer.isLoopback(host)
        self.token = token
    }

    func refusal(of request: HTTPRequest) -> HTTPResponse? {
        guard let token else {
            guard isLoopback else {
                return .text(
                    "set admin.token: without one only health, status and metrics are served here\n", status: 401)
            }
            return Self.hostRefusal(of: request)
        }
        let wanted: String
        do {
            wanted = try token()
        } catch {
            return .text("the token can't be read\n", status: 500)
        }
        guard let shown = request.bearerToken, Secret.isSame(shown, wanted) else {
            var response = HTTPResponse.text("show the token of admin.token: Authorization: Bearer …\n", status: 401)
            response.headers.append(name: "WWW-Authenticate", value: "Bearer realm=\"herald\"")
            return response
        }
        return nil
    }

    /// A page of another site that makes its own name lead to this machine is told by that name (DNS rebinding).
    ///
    /// On another address than loopback any name may be right, and the token tells the client.
    func numbersRefusal(of request: HTTPRequest) -> HTTPResponse? {
        isLoopback ? Self.hostRefusal(of: request) : nil
    }

    private static func hostRefusal(of request: HTTPRequest) -> HTTPResponse? {
        request.namesThisMachine ? nil : .text("ask for 127.0.0.1, [::1] or localhost\n", status: 403)
    }
}
