import HeraldText

/// The rules of `traces.*`: what would cost every span is said at the start.
extension SettingsRules {
    mutating func checkTraces() {
        guard let address = values.valid(table.traces.url) ?? nil else { return }
        requireReadable([table.traces.caFile])
        guard let path = values.valid(table.traces.headersFile) ?? nil else { return }
        do throws(InputError) {
            _ = try HeaderFile.read(path)
        } catch {
            refuse(table.traces.headersFile, "\(SafeText.quoted(path, limit: 200)) \(error)")
        }
        if !address.isTLS, !address.isLoopback {
            warn(table.traces.url, "the headers of traces.headersFile go to \(address.host) unencrypted; use https://")
        }
    }
}
