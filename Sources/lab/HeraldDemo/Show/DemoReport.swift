import HeraldCommandLine
import HeraldEvents
import HeraldSandbox
import HeraldText

/// The final report: the table of outcomes, the notifications of two devices, and the verdict.
struct DemoReport {
    /// The number of notifications shown for each device, the newest.
    private static let shownPayloads = 3

    let console: Console
    let format: OutputFormat

    /// Writes the outcomes by kind beside the expected numbers.
    func write(_ counts: OutcomeCounts) throws {
        let records: [[JSONValue]] = counts.rows.map { row in
            [
                .string(row.kind.outcome.rawValue),
                (row.kind.reason?.rawValue ?? row.kind.suppression?.rawValue).map { .string($0) } ?? .null,
                row.kind.pushService.map { .string($0) } ?? .null, row.kind.status.map { .integer($0) } ?? .null,
                .integer(row.count), .integer(row.expected),
            ]
        }
        try RecordWriter.write(
            records,
            [
                .init("outcome"), .init("reason"), .init("pns"), .init("status", isNumber: true),
                .init("count", isNumber: true), .init("expected", isNumber: true),
            ], as: format, to: console)
    }

    /// Writes the newest notifications of these devices; only beside a table, because it is for people.
    func write(_ devices: ArraySlice<DemoDevice>, _ backend: DemoBackend) throws {
        guard format == .table else { return }
        for device in devices {
            let payloads = backend.payloads(device)
            try console.print("")
            let count =
                switch payloads.count {
                case 0: "nothing"
                case 1: "1 notification:"
                default: "\(payloads.count) notifications:"
                }
            try console.print("\(device.user)'s device on \(device.pushService) received \(count)")
            if payloads.count > Self.shownPayloads { try console.print("  …") }
            for payload in payloads.suffix(Self.shownPayloads) { try console.print("  \(SafeText.escaped(payload))") }
        }
    }
}
