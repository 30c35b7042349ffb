internal import HeraldText

/// The form of an audience's file, as it was given; what was not given is recognised.
package struct AudienceForm: Sendable, Equatable {
    /// `nil` for what its beginning shows, where an object's brace begins JSON lines, or else its name.
    package var format: AudienceFormat?
    /// What stands between a CSV file's fields; `nil` for what its first line shows.
    package var delimiter: AudienceDelimiter?
    /// The column, or the field of JSON lines, that holds the users; `nil` for `user`.
    package var userColumn: String?
    /// `nil` for UTF-8.
    package var encoding: AudienceEncoding?

    package init(
        format: AudienceFormat? = nil, delimiter: AudienceDelimiter? = nil, userColumn: String? = nil,
        encoding: AudienceEncoding? = nil
    ) {
        self.format = format
        self.delimiter = delimiter
        self.userColumn = userColumn
        self.encoding = encoding
    }

    /// This form for a campaign that goes on: where no column is named, the users are in that of its last audience.
    package func continuing(_ former: CampaignProgress?) -> Self {
        var form = self
        form.userColumn = userColumn ?? former?.userColumn
        return form
    }
}

/// What stands between the fields of a CSV file.
package enum AudienceDelimiter: String, CaseIterable, Sendable {
    case comma
    case semicolon
    case tab
    case pipe

    /// The delimiter that the text names, by its name or by itself.
    package init?(_ text: String) {
        let name = text == "\\t" ? "\t" : text
        guard let found = Self.allCases.first(where: { name == $0.rawValue || name == $0.character }) else {
            return nil
        }
        self = found
    }

    var character: String { String(UnicodeScalar(byte)) }

    var byte: UInt8 {
        switch self {
        case .comma: UInt8(ascii: ",")
        case .semicolon: UInt8(ascii: ";")
        case .tab: UInt8(ascii: "\t")
        case .pipe: UInt8(ascii: "|")
        }
    }

    /// The delimiter that is this byte.
    init?(_ byte: UInt8) {
        guard let found = Self.allCases.first(where: { $0.byte == byte }) else { return nil }
        self = found
    }
}

/// How an audience was read, as it was said or recognised.
package struct AudienceReading: Sendable, Equatable {
    package var format: AudienceFormat
    /// Of CSV.
    package var delimiter: AudienceDelimiter?
    package var userColumn: String

    /// The column with the users; `nil` for `user`.
    var ownUserColumn: String? { userColumn == AudienceReader.userName ? nil : userColumn }

    /// Such as `CSV with semicolons, users in the column "E-Mail"`.
    package var text: String {
        switch delimiter {
        case let delimiter?: "CSV with \(delimiter.rawValue)s, users in the column \(SafeText.quoted(userColumn))"
        case nil: "JSON lines, users in the field \(SafeText.quoted(userColumn))"
        }
    }
}

/// How an audience is written.
package enum AudienceFormat: String, CaseIterable, Sendable {
    /// CSV (RFC 4180) with a header.
    case csv
    case jsonl

    init?(path: String) {
        let name = path.lowercased()
        if [".csv", ".tsv"].contains(where: { name.hasSuffix($0) }) {
            self = .csv
        } else if [".jsonl", ".ndjson"].contains(where: { name.hasSuffix($0) }) {
            self = .jsonl
        } else {
            return nil
        }
    }
}
