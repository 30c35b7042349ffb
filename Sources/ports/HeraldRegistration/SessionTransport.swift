internal import Foundation
internal import HeraldDevices

#if canImport(FoundationNetworking)
    internal import FoundationNetworking
#endif

/// Sends requests for registrations over URLSession.
struct SessionTransport: RegistrationTransport {
    private static let detailLimit = 200

    let address: String
    private let authorization: String
    private let timeout: TimeInterval
    private let session: URLSession

    init(address: String, authorization: String, timeout: TimeInterval, configuration: URLSessionConfiguration) {
        self.address = address
        self.authorization = authorization
        self.timeout = timeout
        configuration.httpCookieStorage = nil
        configuration.urlCache = nil
        session = URLSession(configuration: configuration, delegate: SessionRules(), delegateQueue: nil)
    }

    /// Ends the session, which keeps its delegate until then; pending requests finish.
    func close() { session.finishTasksAndInvalidate() }

    func send(_ request: RegistrationRequest) async throws -> RegistrationReply {
        guard let url = URL(string: address + request.target) else {
            throw RegistrationError.invalid(reason: "the address of registrations is no URL: \(address)")
        }
        var message = URLRequest(url: url, cachePolicy: .reloadIgnoringLocalCacheData, timeoutInterval: timeout)
        message.httpMethod = request.method
        message.setValue(authorization, forHTTPHeaderField: "Authorization")
        if let json = request.json {
            message.setValue("application/json; charset=utf-8", forHTTPHeaderField: "Content-Type")
            message.httpBody = Data(json.utf8)
        }
        guard let (body, response) = try await data(for: message, request) else {
            return RegistrationReply(status: 401, detail: nil, body: [])
        }
        guard let answer = response as? HTTPURLResponse else { throw mistake(in: request, "the answer is not HTTP") }
        return RegistrationReply(status: answer.statusCode, detail: Self.detail(of: body), body: Array(body))
    }

    /// `nil` stands for a 401 without a body.
    private func data(for message: URLRequest, _ request: RegistrationRequest) async throws -> (Data, URLResponse)? {
        do {
            return try await session.data(for: message)
        } catch let error as URLError where error.code == .cancelled {
            // If no task of ours was cancelled, it means in FoundationNetworking that ``SessionRules`` did not log in.
            try Task.checkCancellation()
            return nil
        } catch let error as URLError {
            throw RegistrationError.unreachable(request: request.purpose, reason: error.localizedDescription)
        }
    }

    func refusal(of request: RegistrationRequest, _ reply: RegistrationReply) -> any Error {
        let detail = reply.detail.map { detail in
            request.secrets.reduce(detail) { $0.replacingOccurrences(of: $1.text, with: $1.name) }
        }
        return RegistrationError.refused(request: request.purpose, status: reply.status, detail: detail)
    }

    func mistake(in request: RegistrationRequest, _ reason: String) -> any Error {
        RegistrationError.unexpected(request: request.purpose, reason: reason)
    }

    /// The text of ASP.NET's errors, `{"Message":"…"}`; `nil` for any other body.
    private static func detail(of body: Data) -> String? {
        guard let members = try? JSONDecoder().decode([String: String].self, from: body),
            let text = members.first(where: { $0.key.lowercased() == "message" })?.value
        else { return nil }
        let line = text.unicodeScalars.prefix(detailLimit).map { scalar in
            scalar.properties.generalCategory == .control ? " " : Character(scalar)
        }
        return line.isEmpty ? nil : String(line)
    }
}

/// Disables the session's automatic behaviour.
private final class SessionRules: NSObject, URLSessionTaskDelegate {
    /// A redirect counts as the answer: it is not followed, least of all with credentials.
    func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        completionHandler(nil)
    }

    /// A 401 counts as the answer too.
    ///
    /// Without this method, FoundationNetworking never ends a task with a 401.
    func urlSession(
        _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        let method = challenge.protectionSpace.authenticationMethod
        let isLogin = method == NSURLAuthenticationMethodHTTPBasic || method == NSURLAuthenticationMethodHTTPDigest
        completionHandler(isLogin ? .rejectProtectionSpace : .performDefaultHandling, nil)
    }
}
