import HeraldCommandLine
import HeraldDoctor
import HeraldText

/// Writes checks as they come: a line each for people, records for programs.
struct DoctorOutput {
    private let console: Console
    private var records: RecordWriter?
    private var counts: [Verdict: Int] = [:]

    init(_ format: OutputFormat, _ console: Console) {
        self.console = console
        guard format != .table else { return }
        records = RecordWriter(
            format,
            columns: [.init("check"), .init("subject"), .init("verdict"), .init("detail"), .init("fix")],
            console: console)
    }

    func count(_ verdict: Verdict) -> Int { counts[verdict] ?? 0 }

    mutating func write(_ check: Check) throws {
        counts[check.verdict, default: 0] += 1
        guard records != nil else { return try console.print(check.line(for: console, on: console.output)) }
        try records?.write([
            .string(check.name), check.subject.isEmpty ? .null : .string(check.subject),
            .string(check.verdict.rawValue), .string(check.detail), check.fix.map { .string($0) } ?? .null,
        ])
    }

    mutating func finish() throws { try records?.finish() }

    var summary: String {
        Verdict.allCases.map { "\(count($0)) \($0.words)" }.joined(separator: ", ")
    }
}

extension Check {
    private static let nameWidth = Stage.allCases.map(\.rawValue.count).max() ?? 0

    /// The check for people: mark, name, observation and fix.
    func line(for console: Console, on stream: Console.Stream) -> String {
        let mark = verdict.style.map { console.styled(verdict.mark, $0, on: stream) } ?? verdict.mark
        let name = name + String(repeating: " ", count: max(0, Self.nameWidth - name.count))
        let subject = subject.isEmpty ? "" : SafeText.escaped(subject) + ": "
        let fix = fix.map { " → " + SafeText.escaped($0) } ?? ""
        return "\(mark) \(name)  \(subject)\(SafeText.escaped(detail))\(fix)"
    }
}

extension Verdict {
    fileprivate var style: Style? {
        switch self {
        case .passed: .green
        case .warning: .yellow
        case .failed: .red
        case .skipped: .dim
        }
    }

    fileprivate var words: String {
        switch self {
        case .passed: "well"
        case .warning: "need a look"
        case .failed: "to be fixed"
        case .skipped: "not checked"
        }
    }
}
