package import HeraldHTTP

package typealias HubResult<Value> = Result<Value, HubFailure>

extension Result where Success == SingleRequest.Response, Failure == HubFailure {
    /// The answer to a request, if it is a success.
    init(_ outcome: SingleRequest.Outcome) {
        switch outcome {
        case .failure(let kind, let detail): self = .failure(.unanswered(kind, detail: detail))
        case .response(let response) where (200..<300).contains(response.status): self = .success(response)
        case .response(let response): self = .failure(HubFailure(response))
        }
    }
}

/// The reason why a hub did not fulfil a request.
package enum HubFailure: Error, Hashable {
    /// 404: there is no such hub, or no such registration.
    case notFound(detail: String?)
    /// 410: the registration's id has expired or was deleted; a new one is to be asked for.
    case gone(detail: String?)
    /// 412: another client has changed it.
    case preconditionFailed(detail: String?)
    /// 401: no good token; 403: a right is missing, a quota used up, or too many requests; 429: too many requests; and
    /// every other status.
    case refused(status: Int, retryAfterSeconds: Int64, detail: String?)
    case unanswered(FailureKind, detail: String)
    /// The answer contradicts the service's documents.
    case unreadable(reason: String)

    init(_ response: SingleRequest.Response) {
        var detail = Self.detail(of: response.body)
        if let id = response.headers[TrackingID.header] { detail = TrackingID.adding(id, to: detail) }
        switch response.status {
        case 404: self = .notFound(detail: detail)
        case 410: self = .gone(detail: detail)
        case 412: self = .preconditionFailed(detail: detail)
        default:
            self = .refused(status: response.status, retryAfterSeconds: response.retryAfterSeconds, detail: detail)
        }
    }

    /// The answer's status; `nil` without a readable answer.
    package var status: Int? {
        switch self {
        case .notFound: 404
        case .gone: 410
        case .preconditionFailed: 412
        case .refused(let status, _, _): status
        case .unanswered, .unreadable: nil
        }
    }

    /// The explanation of the hub, or of the network; may hold any characters.
    package var detail: String? {
        switch self {
        case .notFound(let detail), .gone(let detail), .preconditionFailed(let detail), .refused(_, _, let detail):
            detail
        case .unanswered(_, let detail): detail
        case .unreadable(let reason): reason
        }
    }

    /// The text of `<Error><Code>404</Code><Detail>…</Detail></Error>`.
    private static func detail(of body: [UInt8]) -> String? {
        guard let error = try? XMLElement(document: body), let text = error["Detail"]?.text, !text.isEmpty else {
            return nil
        }
        return text
    }
}
