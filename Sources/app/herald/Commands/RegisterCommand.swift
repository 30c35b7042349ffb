import HeraldBackend
import HeraldCampaigns
import HeraldCommandLine
import HeraldDevices
import HeraldHTTP
import HeraldSettings
import HeraldText

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
    private static let installation = CommandOption.optional(
        "installation", .text("NAME"),
        "The device's name here, under which another handle or user takes the place of the former one; without it each "
            + "handle of each user is a device of its own.")
    private static let store = CommandOption.optional(
        "store", .file(), "Where registration ids are remembered; by default in the user's state folder.")
    private static let remove = CommandOption.flag("remove", "Remove the stored registration of the device instead.")

    static let declaration = CommandDeclaration(
        "register", "Register a device with the backend, renew its registration, or remove it.",
        details:
            "The command stores the registration's id and renews it when it is called again. If the backend has "
            + "dropped the id, it requests a new one. With --installation the id stays when the handle or the user "
            + "changes: what was registered under that name before is replaced. --remove needs no device where one alone "
            + "is stored.\n\n"
            + "If backend.kind is azure-hub, the device is registered with the hub itself, with the tag of --user by "
            + "backend.hub.tag. A registration of the same handle with that tag is used again, and its doubles are deleted. "
            + "Others of the handle stay, and are named: templates, those of an installation, those of other users.",
        options: [handle, platform, user, tags, installation, store, remove, OutputFormat.option],
        examples: [
            .init("herald register --handle 0A1B2C --platform apns --tags news", "Register a device."),
            .init(
                "herald register --handle 0A1B2C --platform apns --user alice",
                "Register a device of alice with the hub (backend.kind: azure-hub)."),
            .init("herald register --remove --handle 0A1B2C --platform apns", "Remove it again."),
        ])
    static let usedSettings: UsedSettings = .backendClient + ["backend.registerPath"]

    static func run(_ invocation: Invocation) async throws -> ExitStatus {
        let (parsed, console) = (invocation.parsed, invocation.console)
        let device = try device(parsed)
        let settings = try invocation.settings(requiring: [.backend])
        let registersUsers = settings.target.registersUsers
        guard registersUsers || parsed[user] == nil else {
            throw parsed.mistake("--user needs backend.kind azure-hub")
        }
        guard !registersUsers || device == nil || parsed[user] != nil else {
            throw parsed.mistake("--user is needed: backend.kind is azure-hub")
        }
        let store = FileRegistrationStore(
            path: parsed[store] ?? FileRegistrationStore.defaultPath(environment: invocation.environment))
        let owner = parsed[user] ?? settings.backend.auth.username
        let named = parsed[installation] ?? device.map { name(of: $0, owner) }
        do {
            try await settings.withBackendClient(connectionLimit: 1) { client in
                guard let device, !parsed[remove] else {
                    var isRemoved = false
                    if let name = try named ?? onlyInstallation(client, store) {
                        isRemoved = try await client.unregister(installation: name, store: store)
                    }
                    return console.remark(
                        isRemoved
                            ? "The registration is removed."
                            : "No registration is remembered: there is nothing to remove.")
                }
                let id = try await client.register(
                    handle: device.handle, platform: device.platform, user: parsed[user], tags: parsed[tags] ?? [],
                    installation: named ?? "", store: store, others: { name($0, console) })
                try invocation.write([[.string(id)]], [.init("registration")])
            }
        } catch let error as BackendClientError where error.isUnreachable {
            throw CommandFailure("\(error)", status: .unreachable)
        } catch BackendClientError.noToken(let trouble) {
            throw CommandFailure(trouble)
        }
        return .done
    }

    private typealias Device = (handle: DeviceHandle, platform: Platform)

    /// The device to register or remove; `nil` to remove the one that is named, or the only one.
    private static func device(_ parsed: ParsedCommand) throws -> Device? {
        if parsed[remove] {
            guard parsed[tags] == nil else { throw parsed.mistake("--remove goes without --tags") }
            if parsed[handle] == nil, parsed[platform] == nil, parsed[user] == nil { return nil }
        }
        guard let handle = parsed[handle], let platform = parsed[platform], !handle.isEmpty else {
            throw parsed.mistake("--handle and --platform are needed, or --remove")
        }
        return (DeviceHandle(handle), platform)
    }

    /// The name of an unnamed device: another handle or user makes another device.
    ///
    /// The handle itself is neither shown nor stored.
    private static func name(of device: Device, _ owner: String?) -> String {
        let digest = SHA256.hex(of: Array(device.handle.text.utf8)).prefix(16)
        return [device.platform.rawValue, owner, String(digest)].compactMap(\.self).joined(separator: " ")
    }

    /// The only remembered device of the backend; `nil` when there is none.
    private static func onlyInstallation(
        _ client: BackendClient, _ store: FileRegistrationStore
    ) throws -> String? {
        let names = try store.installations(of: client.registrationAddress)
        guard names.count > 1 else { return names.first }
        let shown = names.prefix(10).map { SafeText.quoted($0, limit: 60) }.joined(separator: ", ")
        throw CommandFailure(
            "\(names.count) devices are remembered (\(shown)): say which one, with --handle and --platform (and --user), "
                + "or with --installation", status: .usage)
    }

    /// Prints the registrations that stay unchanged.
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
}
