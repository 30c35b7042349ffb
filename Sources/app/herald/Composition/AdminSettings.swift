import HeraldAdmin
import HeraldCommandLine
import HeraldHTTP
import HeraldKafka
import HeraldSettings
import HeraldTelemetry
import HeraldText
import HeraldThreads
import HeraldWorker

extension Settings {
    /// The certificate that this process's clients will show to the brokers; `nil` when they show none.
    func clientCertificate(logger: Logger) throws -> ClientCertificate? {
        try KafkaClientSettings.common(self)["ssl.certificate.location"].flatMap {
            try ClientCertificate(file: $0, logger: logger)
        }
    }

    /// The worker's admin port; `nil` when it is off.
    ///
    /// - Throws: a ``CommandFailure`` with the status of bad settings when it cannot listen there.
    func adminServer(
        of worker: Worker, certificate: ClientCertificate? = nil, writer: LogWriter, spans: SpanQueue?
    ) throws -> AdminServer? {
        guard case .address(let host, let port) = admin.listen else { return nil }
        let facts = AdminServer.Facts(
            version: Herald.version, kafkaVersion: KafkaLibrary.version, certificate: certificate,
            droppedLogLines: { writer.droppedLineCount }, spans: { spans?.counts ?? SpanQueue.Counts() })
        do throws(SystemError) {
            return try AdminServer(host: host, port: port, token: adminToken, worker: worker, facts: facts)
        } catch {
            let remedy =
                error.isAddressInUse
                ? "another program has that port: choose another one, or 0 for a free one, or off"
                : "choose an address of this machine, or off"
            throw CommandFailure("admin.listen: \(error); \(remedy)", status: .badSettings)
        }
    }
}
