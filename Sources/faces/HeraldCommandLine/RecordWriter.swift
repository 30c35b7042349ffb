package import HeraldText

package enum OutputFormat: String, Sendable, CaseIterable {
    case table
    case json
    /// One JSON object per line, as soon as it is known.
    case jsonl

    /// `-o`, `--output`, the same for every command that writes data.
    package static let option = CommandOption.standard(
        "output", short: "o", .choice(Self.self), default: "table", "The format of the output.")

    /// Writes one object: its members for programs, or these lines for people.
    package func write(_ members: [JSONValue.Member], lines: [String], to console: Console) throws {
        try write(.object(members), lines: lines, to: console)
    }

    /// The same on one line in either form of JSON, for programs that read a line.
    package func writeLine(_ members: [JSONValue.Member], lines: [String], to console: Console) throws {
        try (self == .table ? self : .jsonl).write(members, lines: lines, to: console)
    }

    /// The same for one value, without null members.
    package func write(_ value: JSONValue, lines: @autoclosure () -> [String], to console: Console) throws {
        switch self {
        case .table: for line in lines() { try console.print(line) }
        case .json: try console.print(value.withoutNulls.pretty)
        case .jsonl: try console.print(value.withoutNulls.compact)
        }
    }

    /// Writes these objects: an array, one on each line, or these lines for people.
    package func writeAll(_ objects: [JSONValue], lines: @autoclosure () -> [String], to console: Console) throws {
        switch self {
        case .table: for line in lines() { try console.print(line) }
        case .json: try console.print(JSONValue.array(objects).pretty)
        case .jsonl: for object in objects { try console.print(object.compact) }
        }
    }
}

extension JSONValue {
    /// An object without its null members; other values unchanged.
    fileprivate var withoutNulls: Self {
        guard case .object(let members) = self else { return self }
        return .object(members.filter { $0.value != .null })
    }
}

/// Writes records of the same columns as a table, a JSON array, or JSON lines, in bounded memory; call ``finish()`` at
/// the end, even of an incomplete list.
package struct RecordWriter {
    /// One column: its name in JSON, its heading in a table.
    package struct Column: Sendable {
        package let name: String
        package let heading: String
        /// Whether a table aligns it on the right, like numbers.
        package let isNumber: Bool
        /// Whether a table on a terminal gives it the remaining room, or omits it when that is too little; it stands
        /// last.
        package let isElastic: Bool
        /// Whether a narrow terminal omits it; files, pipes and JSON include it.
        package let isForWide: Bool
        /// The maximum width in a table; longer values continue on the next line, broken at a comma if possible.
        package let limit: Int?
        /// The table's text for a missing value.
        package let absence: String

        /// A column; its default heading is the name in capitals.
        package init(
            _ name: String, heading: String? = nil, isNumber: Bool = false, isElastic: Bool = false,
            isForWide: Bool = false, limit: Int? = nil, absence: String = ""
        ) {
            self.isElastic = isElastic
            self.isForWide = isForWide
            self.name = name
            self.heading = heading ?? name.uppercased()
            self.isNumber = isNumber
            self.limit = limit
            self.absence = absence
        }
    }

    private let format: OutputFormat
    private let columns: [Column]
    /// Whether each of the requested columns is shown.
    private let isShown: [Bool]
    /// Whether a narrow terminal gets fewer columns.
    package let isNarrow: Bool
    /// The width that all columns of a wide table need.
    private static let wideColumns = 150
    private let console: Console
    /// The number of rows that decide a table's column widths, so that memory is bounded.
    private static let tableSampleCount = 1_000

    /// The minimum room (columns) in which an elastic column is useful.
    private static let leastRoom = 16

    /// The rows that a table collects before its first line.
    private var rows: [[JSONValue]] = []
    /// A table's column widths, once decided.
    private var widths: [Int]?
    private var count = 0

    package init(_ format: OutputFormat, columns: [Column], console: Console) {
        self.format = format
        isNarrow =
            format == .table && console.output.isTerminal && console.output.width < Self.wideColumns
            && columns.contains(where: \.isForWide)
        isShown = columns.map { [isNarrow] in !isNarrow || !$0.isForWide }
        self.columns = zip(columns, isShown).filter { $1 }.map { $0.0 }
        self.console = console
    }

    /// Takes one record, a value for each column; JSON omits `null`.
    package mutating func write(_ values: [JSONValue]) throws {
        precondition(values.count == isShown.count, "a record has one value for each column")
        let values = zip(values, isShown).filter { $1 }.map { $0.0 }
        count += 1
        switch format {
        case .table:
            rows.append(values)
            if rows.count == Self.tableSampleCount { try writeTable() }
        case .json:
            let text = object(values).pretty.replacing("\n", with: "\n  ")
            try console.output.write((count == 1 ? "[\n  " : ",\n  ") + text)
        case .jsonl: try console.print(object(values).compact)
        }
    }

    /// Writes the collected rows and the end; nothing may be written afterwards.
    package mutating func finish() throws {
        switch format {
        case .table: if !rows.isEmpty || widths == nil { try writeTable() }
        case .json: try console.print(count == 0 ? "[]" : "\n]")
        case .jsonl: break
        }
    }

    package static func write(
        _ records: [[JSONValue]], _ columns: [Column], as format: OutputFormat, to console: Console
    ) throws {
        var writer = Self(format, columns: columns, console: console)
        for record in records { try writer.write(record) }
        try writer.finish()
    }

    private func object(_ values: [JSONValue]) -> JSONValue {
        JSONValue.object(zip(columns, values).map { JSONValue.Member($0.name, $1) }).withoutNulls
    }

    private mutating func writeTable() throws {
        let cells = rows.flatMap { row in
            broken(zip(row, columns).map { $0 == .null ? $1.absence : Self.cell($0) })
        }
        rows = []
        var text = ""
        let widths =
            widths
            ?? columns.indices.map { index in
                max(columns[index].heading.displayWidth, cells.map { $0[index].displayWidth }.max() ?? 0)
            }
        let shown = shownColumns(widths)
        func line(_ cells: [String]) -> String { self.line(cells, shown) }
        if self.widths == nil {
            text = console.styled(line(columns.map(\.heading)), .bold, on: console.output) + "\n"
            self.widths = widths
        }
        for row in cells { text += line(row) + "\n" }
        try console.output.write(text)
    }

    /// The column widths on this output, without an elastic one that has no room.
    private func shownColumns(_ widths: [Int]) -> [Int] {
        guard console.output.isTerminal, columns.last?.isElastic ?? false, let wanted = widths.last else {
            return widths
        }
        let others = widths.dropLast().reduce(0) { $0 + $1 + 2 }
        let room = console.output.width - 1 - others
        return widths.dropLast() + (room >= min(wanted, Self.leastRoom) ? [min(wanted, room)] : [])
    }

    /// The lines of a row: one, or more when a column has a limit.
    private func broken(_ cells: [String]) -> [[String]] {
        let pieces = zip(cells, columns).map { cell, column in
            column.limit.map { Wrapping.pieces(cell, width: $0) } ?? [cell]
        }
        let count = pieces.map(\.count).max() ?? 1
        return (0..<count).map { line in pieces.map { $0.indices.contains(line) ? $0[line] : "" } }
    }

    private func line(_ cells: [String], _ widths: [Int]) -> String {
        var text = ""
        for (index, whole) in cells.prefix(widths.count).enumerated() {
            let cell =
                whole.displayWidth > widths[index] && columns[index].isElastic
                ? whole.fitted(toColumns: widths[index]) : whole
            let padding = String(repeating: " ", count: max(0, widths[index] - cell.displayWidth))
            text += (index > 0 ? "  " : "") + (columns[index].isNumber ? padding + cell : cell + padding)
        }
        while text.last == " " { text.removeLast() }
        return text
    }

    /// A value in a cell: text is escaped, lists have commas, objects are `k=v`.
    private static func cell(_ value: JSONValue) -> String {
        switch value {
        case .null: ""
        case .string(let text): SafeText.escaped(text)
        case .array(let values): values.map(cell).joined(separator: ",")
        case .object(let members):
            members.map { "\(SafeText.escaped($0.name))=\(cell($0.value))" }.joined(separator: ",")
        case .bool, .integer, .number: value.compact
        }
    }
}
