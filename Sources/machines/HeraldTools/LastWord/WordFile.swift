internal import HeraldBytes
package import HeraldEvents
package import HeraldText
package import HeraldTime

/// The lines of a file of words, each checked: CSV with a heading `user,opt_out` or `user,opt_out,quiet`, or JSON lines with
/// `user` and `optOut`, and `quiet` if there are any.
package struct WordFile {
    /// A user and what the user does not want, and when.
    package struct Line: Equatable, Sendable {
        package var user: String
        package var optOut: OptOut
        package var quiet: QuietHours?
    }

    /// The longest line; longer ones are no words.
    package static let longestLine = 65_536

    private enum Form {
        case csv(delimiter: Character, columns: Int)
        case json
    }

    private let pushServices: PushServices
    private let users: UserRule
    private let zones: TimeZones?
    private var form: Form?
    /// The line of each user, by a hash.
    private var lines: [Int: Int] = [:]

    /// - Parameter zones: Those that quiet hours may name; `nil` when none are known, and each may be right.
    package init(pushServices: PushServices, users: UserRule, zones: TimeZones? = nil) {
        self.zones = zones
        self.pushServices = pushServices
        self.users = users
    }

    /// Reads a line.
    ///
    /// - Returns: `nil` for the heading.
    package mutating func read(_ line: TextLine) throws(InputError) -> Line? {
        guard line.bytes.count == line.byteCount else {
            throw InputError("is longer than \(Self.longestLine) bytes", line: line.number)
        }
        guard let text = String(validating: line.bytes, as: UTF8.self) else {
            throw InputError("holds bytes that are not UTF-8", line: line.number)
        }
        guard let form else {
            form = try Self.form(of: text, line.number)
            if case .csv = form { return nil }
            return try read(line)
        }
        let found: Line
        switch form {
        case .json: found = try readJSON(line)
        case .csv(let delimiter, let columns): found = try readCSV(text, delimiter, columns, line.number)
        }
        if let zones, let problem = found.quiet?.zoneProblem(among: zones) {
            throw InputError(problem, line: line.number)
        }
        if let problem = users.problem(in: found.user.utf8.span.bytes) {
            throw InputError(problem, line: line.number, column: 1)
        }
        if let other = lines.updateValue(line.number, forKey: found.user.hashValue) {
            throw InputError(
                "user is that of line \(other) again; which of the two counts is not for Herald to say",
                line: line.number, column: 1)
        }
        return found
    }

    private static func form(of text: String, _ number: Int) throws(InputError) -> Form {
        let heading = text.hasPrefix("\u{FEFF}") ? String(text.unicodeScalars.dropFirst()) : text
        if heading.first == "{" { return .json }
        switch heading.lowercased().filter({ $0 != " " && $0 != "\"" }) {
        case "user,opt_out": return .csv(delimiter: ",", columns: 2)
        case "user;opt_out": return .csv(delimiter: ";", columns: 2)
        case "user,opt_out,quiet": return .csv(delimiter: ",", columns: 3)
        case "user;opt_out;quiet": return .csv(delimiter: ";", columns: 3)
        default:
            throw InputError(
                "is no heading; the first line has to be user,opt_out or user,opt_out,quiet (CSV), or all lines JSON objects with user and optOut",
                line: number, column: 1)
        }
    }

    // MARK: JSON

    private func readJSON(_ line: TextLine) throws(InputError) -> Line {
        let value = line.bytes.span.bytes
        let object: JSONValue
        do throws(JSONError) {
            object = try JSONValue(value)
        } catch {
            throw InputError("\(error)", line: line.number, column: error.offset + 1)
        }
        guard case .string(let user)? = object["user"] else {
            throw InputError("has no user that is a text", line: line.number)
        }
        let (preference, problem) = Preference.reading(value, pushServices: pushServices)
        if let problem { throw InputError(problem, line: line.number) }
        return Line(user: user, optOut: preference.optOut, quiet: preference.quiet)
    }

    // MARK: CSV

    private func readCSV(
        _ text: String, _ delimiter: Character, _ columns: Int, _ number: Int
    ) throws(InputError) -> Line {
        let cells = try Self.cells(of: text, delimiter, number)
        guard cells.count == columns else {
            throw InputError(
                "has \(cells.count) cells in place of \(columns); several entries of opt_out have | between them",
                line: number, column: cells.count > columns ? cells[columns].column : nil)
        }
        let optOut = try OptOut.read(
            cells[1].text, separatedBy: "|", pushServices: pushServices, line: number, column: cells[1].column)
        guard columns > 2, !["", "none"].contains(cells[2].text.trimmed) else {
            return Line(user: cells[0].text, optOut: optOut)
        }
        do throws(InvalidArgument) {
            return Line(user: cells[0].text, optOut: optOut, quiet: try QuietHours(text: cells[2].text.trimmed))
        } catch {
            throw InputError("\(error)", line: number, column: cells[2].column)
        }
    }

    /// The cells of a line (RFC 4180) with the columns where they begin.
    private static func cells(
        of text: String, _ delimiter: Character, _ number: Int
    ) throws(InputError) -> [(text: String, column: Int)] {
        var cells: [(text: String, column: Int)] = []
        var cell = ""
        var begin = 1
        var isQuoted = false
        var isClosed = false
        var column = 0
        let characters = Array(text)
        while column < characters.count {
            let character = characters[column]
            column += 1
            if isQuoted {
                if character != "\"" {
                    cell.append(character)
                } else if column < characters.count, characters[column] == "\"" {
                    cell.append("\"")
                    column += 1
                } else {
                    (isQuoted, isClosed) = (false, true)
                }
            } else if character == delimiter {
                cells.append((cell, begin))
                (cell, begin, isClosed) = ("", column + 1, false)
            } else if character == "\"", cell.isEmpty, !isClosed {
                isQuoted = true
            } else if isClosed {
                throw InputError("goes on after a quoted cell", line: number, column: column)
            } else {
                cell.append(character)
            }
        }
        if isQuoted { throw InputError("has a quote that is not closed", line: number, column: begin) }
        cells.append((cell, begin))
        return cells
    }
}

extension OptOut {
    /// Reads entries that a person wrote: `promotional`, `pns:apns`, or `none` alone for an opt-out of nothing.
    ///
    /// - Throws: for an empty text, which could mean either, and for an unknown entry.
    package static func read(
        _ text: String, separatedBy separator: Character, pushServices: PushServices, line: Int? = nil,
        column: Int? = nil
    ) throws(InputError) -> OptOut {
        try reading(
            text.split(separator: separator, omittingEmptySubsequences: false).map(\.trimmed),
            pushServices: pushServices,
            line: line, column: column)
    }

    /// Reads entries that a person wrote, one by one; none at all is a mistake.
    package static func reading(
        _ entries: [String], pushServices: PushServices, line: Int? = nil, column: Int? = nil
    ) throws(InputError) -> OptOut {
        if entries == ["none"] { return OptOut() }
        var optOut = OptOut()
        for entry in entries {
            if entry.isEmpty {
                throw InputError("opt-out is empty; of nothing is written none", line: line, column: column)
            }
            if entry == "none" {
                throw InputError("none stands beside another entry", line: line, column: column)
            }
            if let problem = optOut.insert(entry, knowing: pushServices) {
                throw InputError("\(SafeText.quoted(entry, limit: 40)) \(problem)", line: line, column: column)
            }
        }
        return optOut
    }

    /// It as commands show and take it.
    package var words: String { isEmpty ? "none" : entries.joined(separator: ",") }
}
