import HeraldBackend
import HeraldCommandLine
import HeraldHTTP
import HeraldHub
import HeraldSettings
import HeraldText

extension Settings {
    /// Gives the closure a client of the backend, and closes it behind.
    func withBackendClient<Answer>(
        connectionLimit: Int, _ body: (BackendClient) async throws -> Answer
    ) async throws -> Answer {
        let client = try BackendClient(target.configuration(connectionLimit: connectionLimit))
        do {
            let answer = try await body(client)
            await client.close()
            return answer
        } catch {
            await client.close()
            throw error
        }
    }

    var backendTLSFiles: TLSFiles {
        TLSFiles(caFile: backend.tls.caFile, certificateFile: backend.tls.certificateFile, keyFile: backend.tls.keyFile)
    }

    /// Reads the secrets again and gives the backend's configuration with them; `nil` when none is in a file.
    func readingBackendAgain(connectionLimit: Int) -> (@Sendable () throws -> BackendConfiguration)? {
        let target = target
        guard backend.proxyPasswordFile != nil || target.hasSecretFiles else { return nil }
        let first = try? target.configuration(connectionLimit: connectionLimit)
        return {
            let fresh = try target.configuration(connectionLimit: connectionLimit)
            // Connections go where they went at the start.
            if let first, (fresh.address.origin, fresh.path) != (first.address.origin, first.path) {
                throw InvalidArgument(
                    "backend.hub.connectionStringFile names another namespace, \(fresh.address.authority): that needs a restart"
                )
            }
            return fresh
        }
    }

    func backendProxy() throws -> ProxyAddress? {
        guard let text = backend.proxy?.reveal() else { return nil }
        return ProxyAddress(
            text, password: try backend.proxyPasswordFile.map { try SecretSource.file($0).current().reveal() })
    }
}

extension CommandFailure {
    init(_ trouble: TokenTrouble) {
        self.init(
            "there is no access token: \(SafeText.escaped(trouble.description))",
            status: trouble.isUnreachable ? .unreachable : .failed)
    }
}
