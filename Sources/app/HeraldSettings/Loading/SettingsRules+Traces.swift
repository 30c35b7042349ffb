import HeraldText

/// The rules of `traces.*`.
extension SettingsRules {
    mutating func checkTraces() {
        guard let address = values.valid(table.traces.url) ?? nil, values.isWritten(table.traces.headersFile) else {
            return
        }
        if !address.isTLS, !address.isLoopback {
            warn(table.traces.url, "the headers of traces.headersFile go to \(address.host) unencrypted; use https://")
        }
    }

    /// What would cost a worker every span is said at its start.
    mutating func checkTraceFiles() {
        guard values.valid(table.traces.url) ?? nil != nil else { return }
        requireReadable([table.traces.caFile])
        guard let path = values.valid(table.traces.headersFile) ?? nil else { return }
        do throws(InputError) {
            _ = try HeaderFile.read(path)
        } catch {
            refuse(table.traces.headersFile, "\(SafeText.quoted(path, limit: 200)) \(error)")
        }
    }
}
