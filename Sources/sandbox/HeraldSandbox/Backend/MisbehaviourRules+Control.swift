import HeraldHTTP
import HeraldText

extension MisbehaviourRules {
    /// Tells or changes the rules over HTTP: GET, PUT, DELETE.
    mutating func reply(to request: HTTPRequest, defaultPath: String) -> BackendReply {
        switch request.method {
        case "GET": return BackendReply(status: 200, json: Misbehaviour.json(misbehaviours))
        case "PUT":
            do throws(InputError) {
                self = Self(try Misbehaviour.rules(json: request.body), defaultPath: defaultPath)
                return .ok
            } catch {
                return .failure(400, error.description)
            }
        case "DELETE":
            self = Self([], defaultPath: defaultPath)
            return .ok
        default: return .failure(405, "\(request.method) is not possible at \(request.target.path)")
        }
    }
}
