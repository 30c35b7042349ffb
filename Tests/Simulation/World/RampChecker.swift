import HeraldCore
import HeraldEvents
import HeraldReplay
import HeraldTime
import HeraldTools

/// Checks a replay's ramp from its offers and the results that it has heard: no offer exceeds a step before the step's
/// outcomes are known, or have been waited for, and none follows too many failures.
struct RampChecker {
    private struct Step {
        var expected = 0
        var failed = 0
        var known = 0

        var open: Int { expected - known }
    }

    /// A replay on its way.
    private struct Expected {
        var step: Int
        /// The empty name stands for an unreadable event: one result ends it.
        var services: [String]
    }

    private let options: ReplayOptions
    private var steps = [Step()]
    /// The number of offers, and the limit of the steps so far.
    private var offered = 0
    private var end: Int?
    private var expected: [String: [Expected]] = [:]
    /// The last moment at which the job stopped waiting: its last offer, or the end of its last pause.
    private var waitingSince: Int64 = 0
    /// It had waited for long enough when it was paused: the next step may have begun, and continues.
    private var wasPatientBefore = false

    init(_ options: ReplayOptions) {
        self.options = options
        end = options.ramp.size(0)
    }

    private static func name(_ origin: String, _ replays: Int) -> String { "\(origin) \(replays)" }

    private func wasPatient(_ now: Int64) -> Bool {
        .milliseconds(now - waitingSince) >= Milliseconds(options.patience)
    }

    /// Notes a new offer; returns the violation, if any.
    mutating func offers(_ headers: HeaderList, now: Int64) -> String? {
        var objection: String?
        if let end, offered >= end {
            objection = objectionToNextStep(now)
            steps.append(Step())
            self.end = options.ramp.size(steps.count - 1).map { end + $0 }
        }
        offered += 1
        let services = (headers.text(.pushServices) ?? "").split(separator: ",").map(String.init)
        let origin = headers.text(.origin) ?? ""
        let replays = headers.text(.replays).flatMap { Int($0) } ?? 0
        let event = Expected(step: steps.count - 1, services: services.isEmpty ? [""] : services)
        steps[event.step].expected += event.services.count
        expected[Self.name(origin, replays), default: []].append(event)
        waitingSince = now
        return objection
    }

    private func objectionToNextStep(_ now: Int64) -> String? {
        guard let step = steps.last else { return nil }
        if Double(step.failed) > options.stopShare * Double(step.expected) {
            return "goes on behind \(step.failed) of \(step.expected) that failed"
        }
        guard step.open > 0 else { return nil }
        if !wasPatient(now) { return "begins a batch before \(step.open) outcomes of the one before" }
        if Double(step.failed + step.open) > options.stopShare * Double(step.expected) {
            return "goes on although \(step.open) of \(step.expected) may have failed"
        }
        return nil
    }

    /// Notes a result that the job was given.
    mutating func hears(_ result: NotificationResult) {
        let origin = "\(result.origin.topic)/\(result.origin.partition)/\(result.origin.offset)"
        let name = Self.name(origin, result.replays)
        let service = result.pushService
        guard var events = expected[name],
            let index = service == nil ? 0 : events.firstIndex(where: { $0.services.contains(service ?? "") })
        else { return }
        let count = service == nil ? events[index].services.count : 1
        steps[events[index].step].known += count
        switch result.outcome {
        // Whoever has opted out, or whose event was recalled, is dealt with.
        case .delivered, .duplicate, .suppressed: break
        case .deadLettered, .expired, .cancelled: steps[events[index].step].failed += count
        }
        events[index].services.removeAll { service == nil || $0 == service }
        if events[index].services.isEmpty { events.remove(at: index) }
        expected[name] = events.isEmpty ? nil : events
    }

    mutating func pauses(now: Int64) { wasPatientBefore = wasPatient(now) }

    mutating func resumes(now: Int64) {
        if !wasPatientBefore { waitingSince = now }
    }

    /// Notes the job's end; returns the violation, if any.
    ///
    /// - Parameter open: the number of outcomes that it reports as unknown.
    func ends(_ end: PublicationEnd, open: Int, isStopping: Bool, now: Int64) -> String? {
        let all = steps.map(\.open).reduce(0, +)
        if open > all { return "says that \(open) outcomes are not known, and has heard all but \(all)" }
        let last = steps.last?.open ?? 0
        switch end {
        case .complete where !isStopping && last > 0 && !wasPatient(now):
            return "is complete before \(last) outcomes, and has not waited for them"
        case .outcomeTimeout where last == 0: return "has waited in vain for outcomes that it has heard"
        case .outcomeTimeout where !wasPatient(now): return "has not waited for outcomes for long enough"
        default: return nil
        }
    }
}
