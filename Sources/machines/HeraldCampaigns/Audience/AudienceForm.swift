internal import HeraldText
package import HeraldTools

/// The form of an audience's file, as it was given; what was not given is recognised.
package struct AudienceForm: Sendable, Equatable {
    /// `nil` for what its beginning shows, where an object's brace begins JSON lines, or else its name.
    package var format: AudienceFormat?
    /// What stands between a CSV file's fields; `nil` for what its first line shows.
    package var delimiter: AudienceDelimiter?
    /// The column, or the field of JSON lines, that holds the users; `nil` for `user`.
    package var userColumn: String?
    /// `nil` for UTF-8, or what ``formerEncoding`` says.
    package var encoding: AudienceEncoding?
    /// How the campaign's last audience was encoded, and so is this one where it is no UTF-8; `nil` for UTF-8.
    package private(set) var formerEncoding: AudienceEncoding?

    package init(
        format: AudienceFormat? = nil, delimiter: AudienceDelimiter? = nil, userColumn: String? = nil,
        encoding: AudienceEncoding? = nil
    ) {
        self.format = format
        self.delimiter = delimiter
        self.userColumn = userColumn
        self.encoding = encoding
    }

    /// The form of a file whose users are left out of an audience of this form.
    var ofExclusion: Self {
        var form = Self(userColumn: userColumn)
        form.formerEncoding = encoding ?? formerEncoding
        return form
    }

    /// This form for a campaign that goes on: column and encoding are those of its last audience where none are given.
    ///
    /// Another encoding reads the same users with other letters in what they are sent: it is refused, unless the audience
    /// may be replaced, or has other people. A file that was saved anew in UTF-8 is recognised.
    package func continuing(
        _ former: CampaignProgress?, replacesAudience: Bool, addsPeople: Bool = false
    ) throws(ToolFailure) -> Self {
        var form = self
        form.userColumn = userColumn ?? former?.userColumn
        guard let known = former?.encoding else { return form }
        guard let encoding else {
            // Another audience may be in any.
            if !replacesAudience { form.formerEncoding = AudienceEncoding(known) }
            return form
        }
        guard replacesAudience || addsPeople || encoding.isUTF8 || encoding.name.lowercased() == known.lowercased()
        else {
            throw ToolFailure(
                "the campaign's audience was read as \(known), and as \(encoding.name) its letters would be others; leave "
                    + "out --encoding, or add --replace-audience")
        }
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
    /// `nil` for UTF-8.
    package var encoding: AudienceEncoding?

    /// The column with the users; `nil` for `user`.
    var ownUserColumn: String? { userColumn == AudienceReader.userName ? nil : userColumn }

    /// Such as `CSV with semicolons in WINDOWS-1252, users in the column "E-Mail"`.
    package var text: String {
        let letters = encoding.map { " in \($0.name)" } ?? ""
        return switch delimiter {
        case let delimiter?:
            "CSV with \(delimiter.rawValue)s\(letters), users in the column \(SafeText.quoted(userColumn))"
        case nil: "JSON lines\(letters), users in the field \(SafeText.quoted(userColumn))"
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
