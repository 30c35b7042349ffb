import HeraldBackend
import HeraldCommandLine
import HeraldHTTP
import HeraldSettings
import HeraldText

/// `herald register`: what a mobile client does with the backend.
enum RegisterCommand: HeraldCommand {
    private static let handle = CommandOption.optional(
        "handle", .text("HANDLE"), "The device's handle: an APNs token in hex, a GCM id, a WNS channel's URL.")
    private static let platform = CommandOption.optional(
        "platform", .choice(Platform.self), "The device's push service.")
    private static let tags = CommandOption.optional(
        "tags", .commaSeparated("TAG,…"), "Tags that the device can be reached by, besides the user's own.")
    private static let installation = CommandOption.standard(
        "installation", .text("NAME"), default: "default", "Whose registration it is; each has one per backend.")
    private static let store = CommandOption.optional(
        "store", .file(), "Where registration ids are remembered; by default in the user's state folder.")
    private static let remove = CommandOption.flag("remove", "Remove the stored registration instead.")

    static let declaration = CommandDeclaration(
        "register", "Register a device with the backend, renew its registration, or remove it.",
        details:
            "The command stores the registration's id and reuses it when the handle or the user changes. If the "
            + "backend has dropped the id, it requests a new one.",
        options: [
            handle.declaration, platform.declaration, tags.declaration, installation.declaration, store.declaration,
            remove.declaration, OutputFormat.option.declaration,
        ],
        examples: [
            .init("herald register --handle 0A1B2C --platform apns --tags news", "Register a device."),
            .init("herald register --remove", "Remove it again."),
        ])
    static let heeds: HeededSettings = .backendClient + ["backend.registerPath"]

    static func run(_ invocation: Invocation) async throws -> ExitStatus {
        let parsed = invocation.parsed
        let device = try device(invocation)
        let settings = try invocation.settings(requiring: [.backend])
        let client = try BackendClient(try settings.backendConfiguration(connectionLimit: 1))
        let store = FileRegistrationStore(
            path: parsed[store] ?? FileRegistrationStore.defaultPath(environment: invocation.environment))
        let outcome: Result<ExitStatus, any Error>
        do {
            if let device {
                let id = try await client.register(
                    handle: device.handle, platform: device.platform, tags: parsed[tags] ?? [],
                    installation: parsed[installation], store: store)
                try show(id, invocation)
            } else if try await client.unregister(installation: parsed[installation], store: store) {
                invocation.console.remark("The registration is removed.")
            } else {
                invocation.console.remark("No registration is remembered: there is nothing to remove.")
            }
            outcome = .success(.done)
        } catch BackendClientError.refused(let request, .failure(let kind, let detail)) {
            outcome = .failure(CommandFailure("\(request): \(kind.rawValue): \(detail)", status: .unreachable))
        } catch BackendClientError.noToken(let trouble) {
            outcome = .failure(CommandFailure(trouble))
        } catch {
            outcome = .failure(error)
        }
        await client.close()
        return try outcome.get()
    }

    private static func device(_ invocation: Invocation) throws -> (handle: DeviceHandle, platform: Platform)? {
        let parsed = invocation.parsed
        if parsed[remove] {
            guard parsed[handle] == nil, parsed[platform] == nil, parsed[tags] == nil else {
                throw UsageError("--remove goes without --handle, --platform and --tags", command: parsed.path.name)
            }
            return nil
        }
        guard let handle = parsed[handle], let platform = parsed[platform], !handle.isEmpty else {
            throw UsageError("--handle and --platform are needed, or --remove", command: parsed.path.name)
        }
        return (DeviceHandle(handle), platform)
    }

    private static func show(_ id: String, _ invocation: Invocation) throws {
        try RecordWriter.write(
            [[.string(id)]], [.init("registration")], as: invocation.parsed[OutputFormat.option], to: invocation.console
        )
    }
}
