import HeraldCommandLine
import HeraldEvents
import HeraldHub
import HeraldText
import HeraldTime
import HeraldTools

/// The check before publishing: it names every mistake and every warning, and throws when there is a mistake.
///
/// With `--check` and `-o json` or `jsonl` it prints a record for each event.
struct PublishCheck {
    /// The maximum number of warnings shown, each once; mistakes are all shown.
    private static let shownWarnings = 100

    private(set) var goodCount = 0
    private var badCount = 0
    private var warningCount = 0
    private var shownWarnings: [String] = []
    /// The number of further lines with each warning.
    private var repetitions: [String: Int] = [:]
    private var cloudEventCount = 0
    private var check: EventCheck
    private let longestLine: Int
    private let console: Console
    private let isSingle: Bool
    private let isCheck: Bool
    private var writer: RecordWriter?

    /// - Parameter formats: in which a hub takes notifications, by push service; empty for another backend.
    init(
        isSingle: Bool, isCheck: Bool, _ decoder: RecordDecoder, formats: [String: NotificationFormat],
        _ invocation: Invocation
    ) {
        let (now, names) = (SystemClock.wall(), decoder.pushServices.names)
        check = EventCheck(decoder: decoder, now: now) { event, value in
            event.pushServices.compactMap { service in
                formats[names[Int(service)]]?.oversize(of: event, value: value.span.bytes, now: now).map {
                    "\(names[Int(service)]) would not get it: \($0)"
                }
            }
        }
        longestLine = decoder.maxEventBytes
        console = invocation.console
        (self.isSingle, self.isCheck) = (isSingle, isCheck)
        let format = invocation.format
        guard isCheck, format != .table else { return }
        writer = RecordWriter(
            format,
            columns: [
                .init("line", isNumber: true), .init("id"), .init("user"), .init("verdict"), .init("mistakes"),
                .init("warnings"), .init("headers"),
            ], console: console)
    }

    /// The last line of `--check` without mistakes.
    var summary: String {
        let warnings = warningCount == 0 ? "" : ", \(TopicsTool.counted(warningCount, "warning"))"
        return "\(TopicsTool.counted(goodCount, "event")) checked: no mistakes\(warnings); nothing was published."
    }

    mutating func look(at file: LineFile) throws {
        try file.forEachLine(longest: longestLine) { line in try note(check.look(at: line)) }
        try writer?.finish()
        if isCheck, goodCount + badCount == 0 { throw CommandFailure("there is no event to check", status: .usage) }
        // This command sets the header; a file cannot show whether another producer does.
        if isCheck, cloudEventCount > 0 {
            console.remark(
                "\(TopicsTool.counted(cloudEventCount, "structured CloudEvent")): \(cloudEventCount == 1 ? "its" : "their") producer has to set the header "
                    + "content-type: \(EventPreparation.cloudEventType)")
        }
        concludeWarnings()
        guard badCount == 0 else {
            throw CommandFailure(
                "\(badCount) of \(TopicsTool.counted(goodCount + badCount, "event")) cannot be sent; nothing was published",
                status: .usage)
        }
    }

    /// Prints the number of repetitions of each warning, and the number of warnings not shown.
    private func concludeWarnings() {
        for warning in shownWarnings {
            guard let count = repetitions[warning], count > 0 else { continue }
            console.complain(SafeText.escaped("\(TopicsTool.counted(count, "line")) more: warning: \(warning)"))
        }
        let hidden = warningCount - shownWarnings.count - repetitions.values.reduce(0, +)
        if hidden > 0 { console.complain("and \(TopicsTool.counted(hidden, "warning")) more") }
    }

    private mutating func note(warning: String, at place: String) {
        warningCount += 1
        if let count = repetitions[warning] {
            repetitions[warning] = count + 1
        } else if shownWarnings.count < Self.shownWarnings {
            shownWarnings.append(warning)
            repetitions[warning] = 0
            console.complain(SafeText.escaped("\(place)warning: \(warning)"))
        }
    }

    mutating func look(at event: NotificationEvent) throws {
        let findings = check.look(at: event.json, line: 1)
        try note(findings)
        try writer?.finish()
        guard findings.mistakes.isEmpty else {
            throw CommandFailure("the event cannot be sent; nothing was published", status: .usage)
        }
    }

    private mutating func note(_ findings: EventFindings) throws {
        if findings.mistakes.isEmpty { goodCount += 1 } else { badCount += 1 }
        if !findings.headers.isEmpty { cloudEventCount += 1 }
        let place = isSingle ? "" : "line \(findings.line): "
        for mistake in findings.mistakes {
            console.complain(SafeText.escaped(isSingle ? "the event is \(mistake)" : place + mistake))
        }
        for warning in findings.warnings { note(warning: warning, at: place) }
        try writer?.write([
            .integer(findings.line), .text(findings.id), .text(findings.user),
            .string(findings.mistakes.isEmpty ? findings.warnings.isEmpty ? "good" : "warned" : "refused"),
            .array(findings.mistakes.map { .string($0) }), .array(findings.warnings.map { .string($0) }),
            .array(findings.headers.map { .string($0) }),
        ])
    }
}
