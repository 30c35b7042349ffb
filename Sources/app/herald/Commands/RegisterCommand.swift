import HeraldBackend
import HeraldCommandLine
import HeraldDevices
import HeraldHTTP
import HeraldSettings
import HeraldText

/// `herald register`: what a mobile client does with the backend.
enum RegisterCommand: HeraldCommand {
    private static let handle = CommandOption.optional(
        "handle", .text("HANDLE"), "The device's handle: an APNs token in hex, a GCM id, a WNS channel's URL.")
    private static let platform = CommandOption.optional(
        "platform", .choice(Platform.self), "The device's push service.")
    private static let user = CommandOption.optional(
        "user", .text("USER"),
        "Whose device it is, if backend.kind is azure-hub; another backend knows it by the credentials.")
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
            + "backend has dropped the id, it requests a new one.\n\n"
            + "If backend.kind is azure-hub, the device is registered with the hub itself, with the tag of --user by "
            + "backend.hub.tag. A registration of the same handle with that tag is used again, and its doubles are deleted. "
            + "Others of the handle stay, and are named: templates, those of an installation, those of other users.",
        options: [handle, platform, user, tags, installation, store, remove, OutputFormat.option],
        examples: [
            .init("herald register --handle 0A1B2C --platform apns --tags news", "Register a device."),
            .init(
                "herald register --handle 0A1B2C --platform apns --user alice",
                "Register a device of alice with the hub (backend.kind: azure-hub)."),
            .init("herald register --remove", "Remove it again."),
        ])
    static let usedSettings: UsedSettings = .backendClient + ["backend.registerPath"]

    static func run(_ invocation: Invocation) async throws -> ExitStatus {
        let parsed = invocation.parsed
        let device = try device(invocation)
        let settings = try invocation.settings(requiring: [.backend])
        let store = FileRegistrationStore(
            path: parsed[store] ?? FileRegistrationStore.defaultPath(environment: invocation.environment))
        do {
            try show(await outcome(device, settings, parsed, store, invocation.console), invocation)
        } catch BackendClientError.refused(let request, .failure(let kind, let detail)) {
            throw CommandFailure("\(request): \(kind.rawValue): \(detail)", status: .unreachable)
        } catch BackendClientError.noToken(let trouble) {
            throw CommandFailure(trouble)
        }
        return .done
    }

    private enum Outcome {
        case registered(id: String)
        case removed
        case nothingToRemove
    }

    private static func outcome(
        _ device: Device?, _ settings: Settings, _ parsed: ParsedCommand, _ store: FileRegistrationStore,
        _ console: Console
    ) async throws -> Outcome {
        let isHub = settings.backend.kind == .azureHub
        guard isHub || parsed[user] == nil else {
            throw parsed.mistake("--user needs backend.kind azure-hub")
        }
        guard !isHub || device == nil || parsed[user] != nil else {
            throw parsed.mistake("--user is needed: backend.kind is azure-hub")
        }
        return try await settings.withBackendClient(connectionLimit: 1) { client in
            guard let device else {
                let isRemoved = try await client.unregister(installation: parsed[installation], store: store)
                return isRemoved ? .removed : .nothingToRemove
            }
            let id = try await client.register(
                handle: device.handle, platform: device.platform, user: parsed[user], tags: parsed[tags] ?? [],
                installation: parsed[installation], store: store, others: { name($0, console) })
            return .registered(id: id)
        }
    }

    /// Says what stays as it is.
    private static func name(_ others: [OtherRegistration], _ console: Console) {
        for other in others {
            let kind = other.isNative ? "" : "template or installation, "
            let tags = other.tags.isEmpty ? "no tags" : "tags \(other.tags.joined(separator: ","))"
            console.complain(
                SafeText.escaped(
                    "The handle has another registration, which stays as it is: \(other.id) (\(kind)\(tags)). "
                        + "The device gets what is sent to it, too."))
        }
    }

    private typealias Device = (handle: DeviceHandle, platform: Platform)

    private static func device(_ invocation: Invocation) throws -> Device? {
        let parsed = invocation.parsed
        if parsed[remove] {
            guard parsed[handle] == nil, parsed[platform] == nil, parsed[user] == nil, parsed[tags] == nil else {
                throw parsed.mistake("--remove goes without --handle, --platform, --user and --tags")
            }
            return nil
        }
        guard let handle = parsed[handle], let platform = parsed[platform], !handle.isEmpty else {
            throw parsed.mistake("--handle and --platform are needed, or --remove")
        }
        return (DeviceHandle(handle), platform)
    }

    private static func show(_ outcome: Outcome, _ invocation: Invocation) throws {
        switch outcome {
        case .registered(let id):
            try RecordWriter.write(
                [[.string(id)]], [.init("registration")], as: invocation.parsed[OutputFormat.option],
                to: invocation.console)
        case .removed: invocation.console.remark("The registration is removed.")
        case .nothingToRemove:
            invocation.console.remark("No registration is remembered: there is nothing to remove.")
        }
    }
}
