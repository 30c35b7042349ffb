import HeraldDevices
import HeraldThreads

/// Remembers ids for the length of a test.
final class MemoryStore: RegistrationStore {
    private let entries = Guarded<[RegistrationKey: String]>([:])

    var ids: [String] { entries.withLock { Array($0.values) } }

    func registrationID(for key: RegistrationKey) -> String? { entries.withLock { $0[key] } }

    func remember(_ id: String?, for key: RegistrationKey) {
        entries.withLock { $0[key] = id }
    }
}
