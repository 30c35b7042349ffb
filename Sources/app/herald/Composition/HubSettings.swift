import HeraldBackend
import HeraldHTTP
import HeraldHub
import HeraldSettings
import HeraldText
import HeraldTime

extension Settings {
    /// The backend's client when the backend is a notification hub.
    ///
    /// - Parameter connectionLimit: connections at most.
    func hubConfiguration(connectionLimit: Int) throws -> BackendConfiguration {
        let sending = try HubSending(
            try hubConnectionString(), hub: backend.hub.name ?? "", tag: backend.hub.tag,
            formats: backend.hubFormats.compactMapValues { NotificationFormat(rawValue: $0.rawValue) },
            keepsMessageIDs: backend.hub.telemetry)
        return try BackendConfiguration(
            hub: sending, timeout: backend.timeout, connectTimeout: backend.connectTimeout,
            connectionLimit: connectionLimit, versions: backendVersions, proxy: backendProxy(), tls: backendTLSFiles,
            statuses: statusTable)
    }

    /// The hub's connection string as its file holds it now.
    func hubConnectionString() throws -> HubConnectionString {
        guard let path = backend.hub.connectionStringFile else {
            throw InvalidArgument("backend.hub.connectionStringFile is not set")
        }
        let text = try SecretSource.file(path).current().reveal()
        do throws(InvalidArgument) {
            return try HubConnectionString(text)
        } catch {
            throw InvalidArgument("backend.hub.connectionStringFile: \(error)")
        }
    }

    /// Single requests to the hub, with the connection string as its file holds it now.
    func hubClient() throws -> HubClient {
        guard let name = backend.hub.name else { throw InvalidArgument("backend.hub.name is not set") }
        return HubClient(
            try hubConnectionString(), hub: name, timeout: max(.milliseconds(1), Milliseconds(backend.timeout)),
            proxy: try backendProxy(), tls: backendTLSFiles, versions: backendVersions)
    }

    /// Where the hub is and how it is reached, for what asks without credentials.
    func hubNetwork(_ string: HubConnectionString, path: String) throws -> BackendConfiguration {
        try BackendConfiguration(
            url: string.origin, path: path, timeout: backend.timeout, connectTimeout: backend.connectTimeout,
            connectionLimit: 1, versions: backendVersions, proxy: backendProxy(), tls: backendTLSFiles,
            credentials: .none)
    }
}
