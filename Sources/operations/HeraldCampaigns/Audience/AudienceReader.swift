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

    private let format: AudienceFormat
    private let names: [String]
    private var window: ByteWindow
    private var csv = CSVScanner()
    private var json: JSONFields
    /// The record's bytes.
    private var record = 0..<0
    /// For each name the number of its column.
    private var columns: [Int] = []
    private var columnCount = 0
    private var nextLine = 1
    private var isFieldSeen: [Bool]
    /// The beginning of a line that was too long to be kept.
    private var givenUp: [UInt8] = []
    /// The number of the record's first line, from 1.
    private(set) var line = 0

    /// A reader at the beginning; what is wrong with the header is thrown.
    ///
    /// - Parameter names: the fields that are asked for, the first of them `user`.
    init(_ audience: Audience, names: [String]) throws {
        format = audience.format
        self.names = names
        window = ByteWindow(audience.file)
        json = JSONFields(names: names)
        isFieldSeen = Array(repeating: false, count: names.count)
        try window.extend()
        window.start = audience.prefixCount
        if format == .csv { try readHeader() }
    }

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
                let outcome = try scan()
                guard case .good = outcome else { return outcome }
                if csv.fields.count == 1, csv.fields[0].start == csv.fields[0].end, record.count <= 2 { continue }
                guard csv.fields.count == columnCount else {
                    return .wrong("has \(Self.counted(csv.fields.count, "field")); the header has \(columnCount)")
                }
                return .good
            }
        case .jsonl: return try nextObject()
        }
    }

    /// Appends the text of the field with this number among the names.
    mutating func append(_ field: Int, to output: inout [UInt8]) {
        switch format {
        case .csv: CSVScanner.append(csv.fields[columns[field]], of: window.bytes.span.bytes, to: &output)
        case .jsonl:
            let bytes = window.bytes
            json.append(field, of: bytes.span.bytes.extracting(record), to: &output)
        }
    }

    func excerpt(byteCount: Int) -> String {
        var bytes = (givenUp.isEmpty ? window.bytes[record] : givenUp[...]).prefix(byteCount)
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

    private mutating func readHeader() throws {
        switch try scan() {
        case .end: throw ToolFailure("the audience is empty; its first line has to name the columns, one of them user")
        case .wrong(let problem): throw ToolFailure("the audience's first line \(problem)")
        case .good: break
        }
        columnCount = csv.fields.count
        let header = csv.fields.map { field in
            var text: [UInt8] = []
            CSVScanner.append(field, of: window.bytes.span.bytes, to: &text)
            return String(decoding: text, as: UTF8.self)
        }
        for (index, name) in header.enumerated() where header[..<index].contains(name) {
            throw ToolFailure("the audience has the column \(SafeText.quoted(name)) twice")
        }
        for name in names {
            guard let index = header.firstIndex(of: name) else { throw Self.missing(name, header) }
            columns.append(index)
        }
    }

    private static func missing(_ name: String, _ header: [String]) -> ToolFailure {
        let shown = header.prefix(20).map { SafeText.quoted($0) }.joined(separator: ", ")
        let nearest = Suggestion.nearest(to: name, in: header).map { "; did you mean \(SafeText.quoted($0))? Its" }
        if header.count == 1, header[0].contains(where: { ";\t|".contains($0) }) {
            return ToolFailure("the audience has no commas between its columns: \(shown)")
        }
        return ToolFailure(
            name == "user"
                ? "the audience has no column user; its columns are \(shown)"
                : "the message uses {{\(name)}}, which is no column of the audience\(nearest ?? "; its") columns are \(shown)"
        )
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
            let start = window.start
            if start == window.count, window.isAtEnd { return .end }
            line = nextLine
            let end = window.lineEnd
            guard end < window.count || window.isAtEnd else {
                if window.recordCount > Self.recordLimit { return try giveUp() }
                try window.extend()
                continue
            }
            accept(start..<end, 1)
            window.start = min(end + 1, window.count)
            guard record.count <= Self.recordLimit else { return .wrong(Self.tooLong) }
            let bytes = window.bytes
            let object = bytes.span.bytes.extracting(record)
            if !Self.isBlank(object) { return read(object) }
        }
    }

    private mutating func read(_ object: RawSpan) -> Record {
        do throws(JSONError) {
            try json.read(object)
        } catch {
            return .wrong(error.description)
        }
        var problem: String?
        for (index, field) in json.fields.enumerated() {
            guard field.isPresent else {
                problem = problem ?? "has no \(names[index])"
                continue
            }
            isFieldSeen[index] = true
            if let kind = field.unusable {
                problem = problem ?? "has \(kind) as \(names[index]); it has to be a text or a number"
            }
        }
        return problem.map { .wrong($0) } ?? .good
    }

    private static func isBlank(_ line: RawSpan) -> Bool {
        for offset in 0..<line.byteCount where ![0x20, 0x09, 0x0D].contains(line[byteAt: offset]) { return false }
        return true
    }

    // MARK: - Both

    private static let tooLong = "is longer than \(recordLimit / 1_024) KiB, or has a quote that is not closed"

    private mutating func accept(_ range: Range<Int>, _ lines: Int) {
        record = range
        window.start = range.upperBound
        nextLine += lines
        if !givenUp.isEmpty { givenUp = [] }
    }

    /// Passes over a line that is longer than a record may be; the ones behind it are read as if it had been whole.
    private mutating func giveUp() throws -> Record {
        givenUp = Array(window.bytes[window.start..<window.start + 1_024])
        try window.skipLine()
        nextLine += 1
        return .wrong(Self.tooLong)
    }

    private static func counted(_ count: Int, _ noun: String) -> String { "\(count) \(noun)\(count == 1 ? "" : "s")" }
}
