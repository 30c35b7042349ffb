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

    let settings: HubEmulator.Configuration
    var registrations: RegistrationStore
    var sends: SendLog
    var inbox: Inbox<HubDelivery>
    var installations: [String: HubInstallation] = [:]
    /// Ordered by their times.
    var scheduled: [Scheduled] = []
    var feedback = HubFeedback()
    var limits: SendLimits
    var rules: MisbehaviourRules
    private(set) var generator: SplitMix64

    init(_ configuration: HubEmulator.Configuration, seed: UInt64) {
        settings = configuration
        registrations = RegistrationStore(
            limit: configuration.registrationLimit ?? configuration.tier.registrationLimit,
            tagsIgnoreCase: configuration.guesses.tagsIgnoreCase)
        sends = SendLog(limit: configuration.sendLimit)
        inbox = Inbox(entryLimit: configuration.inboxLimit)
        limits = SendLimits(
            perMinute: configuration.sendsPerMinute, throttleStatus: configuration.throttleStatus,
            pushQuota: configuration.pushQuota ?? configuration.tier.pushQuota)
        rules = MisbehaviourRules(configuration.misbehaviour, defaultPath: "/messages")
        generator = SplitMix64(seed: seed)
    }

    func feedbackContainer(_ context: Context) -> Reply {
        settings.tier.hasTelemetry
            ? .text(context.feedbackURL, type: "text/plain; charset=utf-8")
            : .failure(403, "Feedback needs the Standard tier")
    }

    func telemetry(_ id: String, _ context: Context) -> Reply {
        guard settings.tier.hasTelemetry else { return .failure(403, "Telemetry needs the Standard tier") }
        let location = "sb" + context.hubURL.dropFirst("https".count) + "/messages/\(id)?api-version=2020-06"
        guard let send = sends[message: id], let text = send.details(settings, location: location, at: context.time)
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

    mutating func draw(_ registrations: [HubRegistration], _ count: Int) -> [HubRegistration] {
        registrations.count <= count ? registrations : Array(registrations.shuffled(using: &generator).prefix(count))
    }

    /// A device's notifications, oldest first; the digits of an Apple token may be in lower case.
    func deliveries(ofHandle handle: String) -> [HubDelivery] {
        let found = inbox.entries(of: handle)
        return found.isEmpty ? inbox.entries(of: handle.uppercased()).filter { $0.platform == .apns } : found
    }

    mutating func outcome(for registration: HubRegistration) -> String {
        for rule in settings.outcomes where rule.applies(to: registration, using: &generator) { return rule.outcome }
        return "Success"
    }
}

struct HubDelivery: Sendable {
    var platform: HubPlatform
    var headers: [HubHeader]
    var body: [UInt8]
    var at: Int64
}
