internal import HeraldBytes
import HeraldHTTP
import HeraldTime

/// The state of the emulated hub, as a value; time is an argument, randomness comes from a seed.
struct HubState: Sendable {
    /// The address and time of a request.
    struct Context {
        /// The hub's address as the client used it: `https://host:port/HUB`.
        let hubURL: String
        /// The address of the feedback container, with its signature.
        let feedbackURL: String
        /// Milliseconds of Unix time.
        let time: Int64
        let now: MonotonicTime
    }

    /// The settings, constant while the hub runs.
    struct Settings: Sendable {
        var tier: HubTier
        var guesses: HubGuesses
        var timing: NotificationDetails.Timing
    }

    let settings: Settings
    var registrations: RegistrationStore
    var sends: SendLog
    var inbox: Inbox<HubDelivery>
    var installations: [String: HubInstallation] = [:]
    /// Ordered by their times.
    var scheduled: [Scheduled] = []
    var feedback = HubFeedback()
    var limits: SendLimits
    var rules: MisbehaviourRules
    let outcomes: [HubOutcomeRule]
    private(set) var generator: SplitMix64

    init(_ configuration: HubEmulator.Configuration, seed: UInt64) {
        let tier = configuration.tier
        settings = Settings(
            tier: tier, guesses: configuration.guesses,
            timing: .init(
                unknownTime: configuration.unknownTime,
                processingTime: configuration.processingTime))
        registrations = RegistrationStore(
            limit: configuration.registrationLimit ?? tier.registrationLimit,
            tagsIgnoreCase: configuration.guesses.tagsIgnoreCase)
        sends = SendLog(limit: configuration.sendLimit)
        inbox = Inbox(entryLimit: configuration.inboxLimit)
        limits = SendLimits(
            perMinute: configuration.sendsPerMinute, throttleStatus: configuration.throttleStatus,
            pushQuota: configuration.pushQuota ?? tier.pushQuota)
        rules = MisbehaviourRules(configuration.misbehaviour, defaultPath: HubService.defaultPath)
        outcomes = configuration.outcomes
        generator = SplitMix64(seed: seed)
    }

    /// Carries out an operation; notes a send in `record`.
    mutating func reply(to operation: HubOperation, record: inout HubSend?, _ context: Context) -> HubReply {
        switch operation {
        case .send(let notification, let kind):
            send(notification, kind, record: &record, context)
        case .telemetry(let id): telemetry(id, context)
        case .giveID: giveID(context)
        case .create(let registration): create(registration, context)
        case .put(let registration, let id, let ifMatch): put(registration, id: id, ifMatch: ifMatch, context)
        case .get(let id): get(id, context)
        case .delete(let id, let ifMatch): delete(id, ifMatch: ifMatch)
        case .list(let query): list(query, context)
        case .cancel(let id): cancel(id)
        case .putInstallation(let installation): put(installation, context)
        case .patchInstallation(let id, let changes): patch(id, changes, context)
        case .getInstallation(let id): installation(id, context)
        case .deleteInstallation(let id): deleteInstallation(id)
        case .feedbackContainer:
            settings.tier.hasTelemetry
                ? .text(context.feedbackURL, type: "text/plain; charset=utf-8")
                : .failure(403, "Feedback needs the Standard tier")
        }
    }

    private func telemetry(_ id: String, _ context: Context) -> HubReply {
        guard settings.tier.hasTelemetry else { return .failure(403, "Telemetry needs the Standard tier") }
        let details = NotificationDetails(timing: settings.timing, guesses: settings.guesses)
        let location = "sb" + context.hubURL.dropFirst("https".count) + "/messages/\(id)?api-version=2020-06"
        guard let send = sends[message: id],
            case .details(let text) = details.answer(for: send, location: location, at: context.time)
        else { return .failure(404, "The message \(id) is not known") }
        return .xml(text)
    }

    /// A registration id in the service's form.
    mutating func newID() -> String {
        "\(generator.next() >> 1)-\(generator.next() >> 1)-\(1 + generator.next() % 9)"
    }

    /// A message id in the service's form: `NH-20221214202418813-<32 hex>-06`.
    mutating func newMessageID(at time: Int64) -> String {
        let digits = HubTime.text(time).filter(\.isNumber)
        let hex = [generator.next(), generator.next()].map { number in
            let text = String(number, radix: 16)
            return String(repeating: "0", count: 16 - text.count) + text
        }
        return "NH-\(digits)-\(hex.joined())-06"
    }

    /// A random choice of this many registrations.
    mutating func draw(_ registrations: [HubRegistration], _ count: Int) -> [HubRegistration] {
        registrations.count <= count ? registrations : Array(registrations.shuffled(using: &generator).prefix(count))
    }

    /// A device's notifications, oldest first; the digits of an Apple token may be in lower case.
    func deliveries(ofHandle handle: String) -> [HubDelivery] {
        let found = inbox.entries(of: handle)
        return found.isEmpty ? inbox.entries(of: handle.uppercased()).filter { $0.platform == .apns } : found
    }

    /// The push service's answer for a device.
    mutating func outcome(for registration: HubRegistration) -> String {
        for rule in outcomes where rule.applies(to: registration, using: &generator) { return rule.outcome }
        return "Success"
    }
}

/// A notification that a device received.
struct HubDelivery: Sendable {
    var platform: HubPlatform
    var headers: [HubHeader]
    var body: [UInt8]
    var at: Int64
}
