import HeraldCommandLine
import HeraldReplay
import HeraldText
import HeraldTime
import HeraldTools

/// Records of which a narrow terminal gets fewer columns and shorter times; files, pipes and JSON get everything.
struct FittedTable {
    private static let wideColumns = 150

    let isNarrow: Bool
    private let isShown: [Bool]
    private var writer: RecordWriter

    init(
        _ format: OutputFormat, columns: [RecordWriter.Column], whenWide: Set<String>, console: Console
    ) {
        let isNarrow = format == .table && console.output.isTerminal && console.output.width < Self.wideColumns
        self.isNarrow = isNarrow
        isShown = columns.map { !isNarrow || !whenWide.contains($0.name) }
        writer = RecordWriter(
            format, columns: zip(columns, isShown).filter { $1 }.map { $0.0 }, console: console)
    }

    /// A moment; on a narrow terminal month, day, hour and minute.
    func time(_ moment: WallTime) -> JSONValue {
        guard isNarrow else { return .string(moment.text) }
        return .string(String(moment.text.dropFirst(5).prefix(11)).replacing("T", with: " "))
    }

    mutating func write(_ values: [JSONValue]) throws {
        try writer.write(zip(values, isShown).filter { $1 }.map { $0.0 })
    }

    mutating func finish() throws { try writer.finish() }
}
