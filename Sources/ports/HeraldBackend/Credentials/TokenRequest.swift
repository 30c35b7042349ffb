internal import Foundation
internal import HeraldBytes
internal import HeraldHTTP
internal import HeraldText
import HeraldTime

/// A token request and what its answer says (RFC 6749 §4.4.2, §5).
struct TokenRequest {
    enum Outcome: Equatable {
        case token(Secret, lifetimeSeconds: Int64?)
        case none(TokenTrouble)
    }

    /// A token is never longer than this, or no header would take it.
    static let tokenLimit = 32 * 1_024

    private let client: ClientCredentials

    init(_ client: ClientCredentials) {
        self.client = client
    }

    /// Asks the endpoint.
    ///
    /// Blocks.
    func perform(
        timeout: Milliseconds, proxy: ProxyAddress?, tls: TLSFiles, versions: HTTPVersions,
        isCancelled: @escaping @Sendable () -> Bool
    ) -> Outcome {
        var tls = tls
        if let caFile = client.caFile { tls.caFile = caFile }
        let request = SingleRequest(
            .post(form: Array(form.utf8)), url: client.tokenURL, authorization: authorization,
            timeout: timeout, proxy: proxy, tls: tls, versions: versions.undemanding)
        return outcome(of: request.perform(isCancelled: isCancelled))
    }

    // MARK: The request

    var form: String {
        var fields = [("grant_type", "client_credentials")]
        if let scope = client.scope { fields.append(("scope", scope)) }
        if client.authentication == .post {
            fields += [("client_id", client.clientID), ("client_secret", client.clientSecret.reveal())]
        }
        return fields.map { "\($0)=\(Self.encoded($1))" }.joined(separator: "&")
    }

    /// The value of the `Authorization` header; the id and the secret are encoded as in a form before Base64 is.
    var authorization: String? {
        guard client.authentication == .basic else { return nil }
        let pair = "\(Self.encoded(client.clientID)):\(Self.encoded(client.clientSecret.reveal()))"
        return "Basic " + Data(pair.utf8).base64EncodedString()
    }

    /// As `application/x-www-form-urlencoded` has it.
    private static func encoded(_ text: String) -> String {
        PercentEncoding.encoded(text).replacing("%20", with: "+")
    }

    // MARK: The answer

    func outcome(of answer: SingleRequest.Outcome) -> Outcome {
        switch answer {
        case .failure(let kind, let detail): .none(.unreachable(kind, safe(detail)))
        case .response(let response) where response.status == 200: token(response.body)
        case .response(let response):
            .none(
                .refused(
                    status: response.status, error: self.answer(response.body)?["error"] as? String,
                    detail: detail(of: response.body),
                    retryAfterSeconds: response.retryAfterSeconds))
        }
    }

    private func token(_ body: [UInt8]) -> Outcome {
        guard let answer = answer(body), let token = answer["access_token"] as? String else {
            return .none(.noToken("the answer is no JSON with an access_token"))
        }
        if let type = answer["token_type"] as? String, type.lowercased() != "bearer" {
            return .none(.noToken("the token's type is not Bearer"))
        }
        let secret = Secret(token)
        guard Credentials.bearer(token: secret).mistake == nil, token.utf8.count <= Self.tokenLimit else {
            return .none(.noToken("the token is empty, too long, or not printable ASCII"))
        }
        // Some endpoints write the number as a string.
        let seconds = answer["expires_in"] as? Double ?? (answer["expires_in"] as? String).flatMap { Double($0) }
        let lifetime = seconds.flatMap { $0.isFinite ? Int64(min(max($0, 0), 1e9)) : nil }
        return .token(secret, lifetimeSeconds: lifetime)
    }

    /// The members of RFC 6749 §5.1 and §5.2; one of another type counts as absent.
    private func answer(_ body: [UInt8]) -> [String: Any]? {
        (try? JSONSerialization.jsonObject(with: Data(body))) as? [String: Any]
    }

    /// The text of a refusal; a token in it is never shown.
    private func detail(of body: [UInt8]) -> String? {
        if Self.tokenNames.contains(where: { body.firstRange(of: Array($0.utf8)) != nil }) {
            return "its answer holds a token, which is not shown"
        }
        return ErrorBody.line(body.span.bytes).map(safe)
    }

    private static let tokenNames = ["access_token", "refresh_token", "id_token"]

    /// A line from outside without the secret, should it be in there.
    private func safe(_ line: String) -> String {
        let secret = client.clientSecret.reveal()
        let clean = [secret, Self.encoded(secret)].reduce(line) { Redaction.hiding(secret: $1, in: $0) }
        return clean.count > 300 ? clean.prefix(300) + "…" : clean
    }
}
