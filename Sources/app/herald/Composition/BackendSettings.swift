import HeraldBackend
import HeraldCommandLine
import HeraldHTTP
import HeraldHub
import HeraldSettings
import HeraldText

extension Settings {
    /// The backend's client as the settings describe it.
    ///
    /// - Parameter connectionLimit: connections at most.
    /// - Throws: a ``CommandFailure`` when a secret can't be read, or a value that only the client knows to be wrong.
    func backendConfiguration(connectionLimit: Int) throws -> BackendConfiguration {
        if backend.kind == .azureHub { return try hubConfiguration(connectionLimit: connectionLimit) }
        return try BackendConfiguration(
            url: backend.url?.description ?? "", path: backend.path, registerPath: backend.registerPath,
            timeout: backend.timeout, connectTimeout: backend.connectTimeout, connectionLimit: connectionLimit,
            versions: backendVersions, proxy: backendProxy(), tls: backendTLSFiles, credentials: credentials(),
            statuses: statusTable, users: backend.users)
    }

    /// Gives the closure a client of the backend, and closes it behind.
    func withBackendClient<Answer>(
        connectionLimit: Int, _ body: (BackendClient) async throws -> Answer
    ) async throws -> Answer {
        let client = try BackendClient(backendConfiguration(connectionLimit: connectionLimit))
        do {
            let answer = try await body(client)
            await client.close()
            return answer
        } catch {
            await client.close()
            throw error
        }
    }

    /// Which HTTP may be spoken to the backend.
    var backendVersions: HTTPVersions {
        switch backend.http {
        case .auto: .agreed
        case .http1: .http1
        case .http2: .http2
        }
    }

    /// The files of TLS on the way to the backend.
    var backendTLSFiles: TLSFiles {
        TLSFiles(caFile: backend.tls.caFile, certificateFile: backend.tls.certificateFile, keyFile: backend.tls.keyFile)
    }

    /// Reads the secrets again and gives the backend's configuration with them; `nil` when none is in a file.
    ///
    /// - Parameter connectionLimit: connections at most.
    func readingBackendAgain(connectionLimit: Int) -> (@Sendable () throws -> BackendConfiguration)? {
        guard hasSecretFiles else { return nil }
        guard backend.kind == .azureHub else {
            return { try self.backendConfiguration(connectionLimit: connectionLimit) }
        }
        let first = try? hubConnectionString()
        return {
            let fresh = try self.backendConfiguration(connectionLimit: connectionLimit)
            // Connections go where they went at the start.
            let place = fresh.hub.map { ($0.connectionString.authority, $0.connectionString.basePath) }
            if let first, let place, place != (first.authority, first.basePath) {
                throw InvalidArgument(
                    "backend.hub.connectionStringFile names another namespace, \(place.0): that needs a restart")
            }
            return fresh
        }
    }

    /// Whether a secret is in a file, so that it may change.
    private var hasSecretFiles: Bool {
        if backend.proxyPasswordFile != nil || backend.kind == .azureHub { return true }
        switch backend.authentication {
        case .basic(_, let secret), .bearer(let secret): return secret.isFile
        case .oauth2(let client): return client.clientSecret.isFile
        case nil, .some(.none): return false
        }
    }

    /// The proxy on the way to the backend.
    func backendProxy() throws -> ProxyAddress? {
        guard let text = backend.proxy?.reveal() else { return nil }
        return ProxyAddress(
            text, password: try backend.proxyPasswordFile.map { try SecretSource.file($0).current().reveal() })
    }

    private func credentials() throws -> Credentials {
        switch backend.authentication {
        case nil, .some(.none): .none
        case .basic(let username, let password):
            .basic(username: username, password: try password.current())
        case .bearer(let token): .bearer(token: try token.current())
        case .oauth2(let client):
            .oauth2(try client.clientCredentials())
        }
    }
}

extension Authentication.OAuth2 {
    /// The client with its secret as it is now.
    func clientCredentials() throws -> ClientCredentials {
        ClientCredentials(
            tokenURL: tokenURL, clientID: clientID, clientSecret: try clientSecret.current(), scope: scope,
            authentication: clientAuthentication == .basic ? .basic : .post, caFile: caFile)
    }
}

extension SecretSource {
    fileprivate var isFile: Bool { if case .file = self { true } else { false } }
}

extension CommandFailure {
    init(_ trouble: TokenTrouble) {
        self.init(
            "there is no access token: \(SafeText.escaped(trouble.description))",
            status: trouble.isUnreachable ? .unreachable : .failed)
    }
}
