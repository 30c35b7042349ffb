import HeraldHTTP
import HeraldText

extension MisbehaviourRules {
    /// Tells or changes the rules over HTTP: GET, PUT, DELETE.
    mutating func reply(to request: HTTPRequest) -> BackendReply {
        switch request.method {
        case "GET": return BackendReply(status: 200, json: Misbehaviour.json(misbehaviours))
        case "PUT":
            do throws(InputError) {
                replace(with: try Misbehaviour.rules(json: request.body))
                return .ok
            } catch {
                return .failure(400, error.description)
            }
        case "DELETE":
            replace(with: [])
            return .ok
        default: return .failure(405, "\(request.method) is not possible at \(request.target.path)")
        }
    }
}
