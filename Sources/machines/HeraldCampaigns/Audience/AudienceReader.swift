internal import HeraldBytes
internal import HeraldEvents
internal import HeraldText
internal import HeraldTools

/// Goes through an audience's records, and lends the fields that are asked for.
struct AudienceReader {
    enum Record {
        /// A record; its fields can be had until the next one.
        case good
        /// It is none; why.
        case wrong(String)
        case end
    }

    /// The most bytes that one record has.
    static let recordLimit = 65_536

    private let form: AudienceForm
    /// How the audience is read, as far as that was said or recognised.
    private(set) var reading: AudienceReading
    private var format: AudienceFormat { reading.format }
    private let names: [String]
    /// Of each name whether a record of JSON lines may lack it.
    private let isOptional: [Bool]
    /// The text in which a name stands, for people.
    private let place: @Sendable (String) -> String
    private var window: ByteWindow
    private var csv = CSVScanner()
    private var json: JSONFields
    /// The record's bytes.
    private var record = 0..<0
    /// For each name the number of its column, or of its member of JSON lines.
    private var columns: [Int] = []
    private var columnCount: Int { columnNames.count }
    /// What the columns are called; of JSON lines the fields that are asked for.
    private(set) var columnNames: [String]
    private var nextLine = 1
    private var isFieldSeen: [Bool]
    /// Whether the next record is the first behind the header.
    private var isBehindHeader = false
    /// Whether a line of dashes came below the header.
    private var isRuled = false
    /// How many lines were empty, or had nothing but delimiters and spaces.
    private(set) var emptyLines = 0
    /// Whether the record's fields stand in the header's columns, of CSV.
    private var isRow = false
    /// The beginning of a line that was too long to be kept.
    private var givenUp: [UInt8] = []
    /// The columns of the header that are kept in lists, as they are written; empty for JSON lines.
    private(set) var heading: [UInt8] = []
    /// How many of the columns they are.
    private(set) var keptColumns = 0
    /// The number of the record's first line, from 1.
    private(set) var line = 0
    /// The number of the record, from 1, the header's included: the row that a spreadsheet shows it in.
    private(set) var row = 0
    /// Where it stands, for people.
    var recordPlace: String { AudiencePreview.InvalidLine(line: line, row: row, reason: "").place }

    /// A reader at the beginning; what is wrong with the header is thrown.
    ///
    /// - Parameters:
    ///   - fields: those that are asked for behind the user, which is the first.
    ///   - isOptional: of each of them whether a record of JSON lines may lack it.
    ///   - place: what uses a field, such as `message`.
    init(
        _ audience: Audience, fields: [String], isOptional: [Bool], place: @escaping @Sendable (String) -> String
    ) throws {
        form = audience.form
        reading = AudienceReading(
            format: audience.format, userColumn: form.userColumn ?? Self.userName, encoding: audience.encoding)
        names = [reading.userColumn] + fields
        columnNames = names
        self.isOptional = [false] + isOptional
        self.place = place
        window = ByteWindow(audience.file)
        // The texts may use the users' field, too.
        let members = fields.contains(reading.userColumn) ? fields : names
        json = JSONFields(names: members)
        if audience.format == .jsonl { columns = names.map { members.firstIndex(of: $0) ?? 0 } }
        isFieldSeen = Array(repeating: false, count: names.count)
        try window.extend()
        window.start = audience.prefixCount
        if format == .csv { try readHeader(of: audience) }
    }

    /// The column that holds the users, unless another is named.
    static let userName = "user"

    /// How many bytes were passed.
    var passedCount: Int { window.passedCount }

    /// The names that no record has had so far.
    var unseenNames: [String] {
        format == .csv ? [] : zip(names, isFieldSeen).filter { !$1 }.map(\.0)
    }

    /// Goes on to the next record that is not an empty line.
    mutating func next() throws -> Record {
        switch format {
        case .csv:
            while true {
                isRow = false
                let outcome = try scan()
                guard case .good = outcome else { return outcome }
                if csv.fields.allSatisfy({ cell($0).isEmpty }) {
                    emptyLines += 1
                    continue
                }
                defer { isBehindHeader = false }
                if isBehindHeader, isRule {
                    isRuled = true
                    continue
                }
                if isRuled, isRowCount { continue }
                // Empty cells at a line's end may be missing, and there may be more of them than columns.
                guard csv.fields.dropFirst(columnCount).allSatisfy({ cell($0).isEmpty }) else {
                    return .wrong(
                        "has \(CampaignWords.counted(csv.fields.count, "field")); the header has \(columnCount)")
                }
                isRow = true
                return .good
            }
        case .jsonl: return try nextObject()
        }
    }

    /// Appends the text of the field with this number among the names.
    mutating func append(_ field: Int, to output: inout [UInt8]) {
        switch format {
        case .csv:
            guard columns[field] < csv.fields.count else { return }
            CSVScanner.append(csv.fields[columns[field]], of: window.bytes.span.bytes, to: &output)
        case .jsonl:
            guard !json.fields[columns[field]].isNull else { return }
            let bytes = window.bytes
            json.append(columns[field], of: bytes.span.bytes.extracting(record), to: &output)
        }
    }

    /// The number of the column that holds the users, of CSV.
    var userColumn: Int { columns[0] }

    /// Appends the record as it is written: of CSV its columns, as many as the header has, without those of a former list
    /// of who was not reached; of JSON lines the object.
    func appendColumns(to output: inout [UInt8]) {
        guard format == .csv else {
            output += window.bytes[CellPadding.trimmed(record, of: window.bytes.span.bytes)]
            return
        }
        let kept = min(keptColumns, csv.fields.count)
        guard let last = csv.fields.prefix(kept).last else { return }
        output += window.bytes[record.lowerBound..<last.end + (last.isQuoted ? 1 : 0)]
        output += repeatElement(csv.delimiter, count: keptColumns - kept)
    }

    /// The columns of lists of its lines, without those of former lists; of JSON lines one for the beginning.
    var ownColumns: [String] { format == .csv ? Array(columnNames.prefix(keptColumns)) : ["begins with"] }

    /// A longer record has its beginning alone in lists of what is no recipient.
    private static let listedBytes = 1_024
    private static let excerptBytes = 200

    /// The record in these columns; in the first alone its beginning, where it has no such cells or too many bytes.
    var ownCells: [String] {
        let count = ownColumns.count
        guard isRow, record.count <= Self.listedBytes else {
            return [excerpt] + Array(repeating: "", count: count - 1)
        }
        let cells = csv.fields.prefix(count).map { field in
            var text: [UInt8] = []
            CSVScanner.append(field, of: window.bytes.span.bytes, to: &text)
            return String(decoding: text, as: UTF8.self)
        }
        return cells + Array(repeating: "", count: count - cells.count)
    }

    private var excerpt: String {
        var bytes = (givenUp.isEmpty ? window.bytes[record] : givenUp[...]).prefix(Self.excerptBytes)
        while let last = bytes.last, last == UInt8(ascii: "\n") || last == UInt8(ascii: "\r") { bytes.removeLast() }
        return String(decoding: bytes, as: UTF8.self)
    }

    // MARK: - CSV

    private mutating func scan() throws -> Record {
        while true {
            let start = window.start
            if start == window.count, window.isAtEnd { return .end }
            line = nextLine
            switch scanOnce() {
            case .record(let end, let lines):
                accept(start..<end, lines)
                return end - start > Self.recordLimit ? .wrong(Self.tooLong) : .good
            case .broken(let problem, let end):
                accept(start..<end, 1)
                return .wrong(Self.words(problem))
            case .unfinished:
                if window.recordCount > Self.recordLimit { return try giveUp() }
                try window.extend()
            }
        }
    }

    private mutating func scanOnce() -> CSVScanner.Outcome {
        let bytes = window.bytes
        return csv.scan(bytes.span.bytes.extracting(0..<window.count), from: window.start, isEnd: window.isAtEnd)
    }

    /// Where the text of a field lies, without spaces around it.
    private func cell(_ field: CSVScanner.Field) -> Range<Int> {
        CellPadding.trimmed(field.start..<field.end, of: window.bytes.span.bytes)
    }

    /// Whether the record is the line of dashes below the names of the columns: sqlcmd's, or Markdown's with its colons.
    private var isRule: Bool {
        csv.fields.count == columnCount
            && zip(csv.fields, columnNames).allSatisfy { field, name in
                let cell = cell(field)
                guard !cell.isEmpty else { return name.isEmpty }
                return window.bytes[cell].contains(UInt8(ascii: "-"))
                    && window.bytes[cell].allSatisfy { $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: ":") }
            }
    }

    /// Whether the record is the file's last and tells how many rows there are, such as `(5 rows affected)`.
    private var isRowCount: Bool {
        let text = window.bytes[
            CellPadding.trimmed(csv.fields[0].start..<csv.fields[0].end, of: window.bytes.span.bytes)]
        return csv.fields.dropFirst().allSatisfy { cell($0).isEmpty } && text.first == UInt8(ascii: "(")
            && text.last == UInt8(ascii: ")") && text.dropFirst().first.map { (0x30...0x39).contains($0) } ?? false
            && window.isAtEnd
            && window.bytes[window.start..<window.count].allSatisfy { [0x0A, 0x0D, 0x20].contains($0) }
    }

    private mutating func readHeader(of audience: Audience) throws {
        guard !FileKind.isJSON(window.bytes[window.start..<window.count]) else {
            throw ToolFailure("the audience's first line is JSON and not a header; --format jsonl reads JSON lines")
        }
        let separator = readSeparatorLine()
        let delimiter = form.delimiter ?? separator ?? recognisedDelimiter
        csv.delimiter = delimiter.byte
        reading.delimiter = delimiter
        switch try scan() {
        case .end: throw ToolFailure("the audience is empty; its first line has to name the columns, one of them user")
        case .wrong(let problem): throw ToolFailure("the audience's first line \(problem)")
        case .good: break
        }
        let header = AudienceHeader(csv.fields, of: window.bytes.span.bytes)
        columnNames = header.names
        keptColumns = header.ownCount
        if audience.prefixCount > 0 { heading = Array("\u{FEFF}".utf8) }
        appendColumns(to: &heading)
        do throws(ToolFailure) {
            let user = try header.userColumn(named: form.userColumn)
            reading.userColumn = header.names[user]
            columns = [user]
            for name in names.dropFirst() { columns.append(try header.column(name, in: place(name))) }
        } catch {
            // Then the names that it shows are none.
            if header.isUTF8 { throw error }
            throw try UnreadableAudience("its first line is none", audience.file)
        }
        isBehindHeader = true
    }

    /// Passes over a first line `sep=;`, which some spreadsheets write; the delimiter that it names.
    private mutating func readSeparatorLine() -> AudienceDelimiter? {
        guard let line = window.line else { return nil }
        let text = window.bytes[line.range]
        guard text.count == 5, text.dropLast().elementsEqual("sep=".utf8), let byte = text.last,
            let delimiter = AudienceDelimiter(byte)
        else { return nil }
        window.start = line.next
        nextLine += 1
        return delimiter
    }

    /// The first delimiter with which the header has the users' column, or the one with which it has most columns.
    private var recognisedDelimiter: AudienceDelimiter {
        let bytes = window.bytes
        let headers = AudienceDelimiter.allCases.compactMap { delimiter -> (AudienceDelimiter, AudienceHeader)? in
            var scanner = CSVScanner()
            scanner.delimiter = delimiter.byte
            let text = bytes.span.bytes.extracting(0..<window.count)
            guard case .record = scanner.scan(text, from: window.start, isEnd: window.isAtEnd) else { return nil }
            return (delimiter, AudienceHeader(scanner.fields, of: text))
        }
        let named = headers.first { (try? $0.1.userColumn(named: form.userColumn)) != nil }
        // Of those with equally many the first.
        let widest = headers.reversed().max { $0.1.names.count < $1.1.names.count }
        return (named ?? widest)?.0 ?? .comma
    }

    private static func words(_ problem: CSVScanner.Problem) -> String {
        switch problem {
        case .quoteInside: "has a quote in a field that does not begin with one"
        case .textBehindQuote: "has text behind a closing quote"
        case .unclosedQuote: "has a quote that is not closed"
        }
    }

    // MARK: - JSON lines

    private mutating func nextObject() throws -> Record {
        while true {
            if window.start == window.count, window.isAtEnd { return .end }
            line = nextLine
            guard let text = window.line else {
                if window.recordCount > Self.recordLimit { return try giveUp() }
                try window.extend()
                continue
            }
            accept(text.range, 1)
            window.start = text.next
            guard record.count <= Self.recordLimit else { return .wrong(Self.tooLong) }
            let bytes = window.bytes
            if !CellPadding.trimmed(record, of: bytes.span.bytes).isEmpty {
                return read(bytes.span.bytes.extracting(record))
            }
            emptyLines += 1
        }
    }

    private mutating func read(_ object: RawSpan) -> Record {
        do throws(JSONError) {
            try json.read(object)
        } catch {
            return .wrong(error.description)
        }
        var problem: String?
        for index in names.indices {
            let field = json.fields[columns[index]]
            if field.isPresent { isFieldSeen[index] = true }
            if isOptional[index], !field.isPresent || field.isNull { continue }
            guard field.isPresent else {
                problem = problem ?? "has no \(names[index])"
                continue
            }
            if let kind = field.unusable {
                problem = problem ?? "has \(kind) as \(names[index]); it has to be a text or a number"
            }
        }
        return problem.map { .wrong($0) } ?? .good
    }

    // MARK: - Both

    private static let tooLong = "is longer than \(recordLimit / 1_024) KiB, or has a quote that is not closed"

    private mutating func accept(_ range: Range<Int>, _ lines: Int) {
        record = range
        window.start = range.upperBound
        nextLine += lines
        row += 1
        if !givenUp.isEmpty { givenUp = [] }
    }

    /// Passes over a line that is longer than a record may be; the ones behind it are read as if it had been whole.
    private mutating func giveUp() throws -> Record {
        givenUp = Array(window.bytes[window.start..<window.start + 1_024])
        try window.skipLine()
        nextLine += 1
        row += 1
        return .wrong(Self.tooLong)
    }
}
