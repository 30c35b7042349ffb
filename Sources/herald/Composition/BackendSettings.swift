import HeraldBackend
import HeraldHTTP
import HeraldSettings

extension Settings {
    /// The backend's client as the settings describe it.
    ///
    /// - Parameter connectionLimit: connections at most.
    /// - Throws: a ``CommandFailure`` when a secret can't be read, or a value that only the client knows to be wrong.
    func backendConfiguration(connectionLimit: Int) throws -> BackendConfiguration {
        try BackendConfiguration(
            url: backend.url?.description ?? "", path: backend.path, registerPath: backend.registerPath,
            timeout: backend.timeout, connectionLimit: connectionLimit, proxy: backend.proxy?.reveal(),
            tls: TLSFiles(
                caFile: backend.tls.caFile, certificateFile: backend.tls.certificateFile, keyFile: backend.tls.keyFile),
            credentials: credentials())
    }

    /// Whether a secret of the backend is in a file, so that it may change.
    var hasSecretFiles: Bool {
        switch backend.authentication {
        case .basic(_, .file), .bearer(.file): true
        case nil, .some(.none), .basic(_, .literal), .bearer(.literal): false
        }
    }

    private func credentials() throws -> Credentials {
        switch backend.authentication {
        case nil, .some(.none): .none
        case .basic(let username, let password):
            .basic(username: username, password: Secret(try password.current().reveal()))
        case .bearer(let token): .bearer(token: Secret(try token.current().reveal()))
        }
    }
}
