/// How lines that are no UTF-8 read in the encodings that they may be in, the likeliest first: pure.
///
/// Nobody can know it: a person sees which of them are words.
package struct EncodingGuess: Sendable, Equatable {
    package struct Reading: Sendable, Equatable {
        package var encoding: String
        package var lines: [String]
    }

    private static let names = [
        "WINDOWS-1252", "WINDOWS-1250", "WINDOWS-1251", "KOI8-R", "SHIFT_JIS", "CP932", "GBK", "GB18030", "BIG5",
        "EUC-KR", "MACINTOSH",
    ]
    private static let wideNames = ["UTF-16LE", "UTF-16BE"]
    private static let shownLines = 3
    private static let shownReadings = 5

    package let readings: [Reading]

    /// Reads lines that have bytes beyond ASCII.
    init(_ lines: [[UInt8]]) {
        self.init(Self.names) { name in lines.map { EncodingConverter.text($0, in: name) } }
    }

    /// Reads the beginning of a text in which each character has two bytes or more.
    init(wide bytes: [UInt8]) {
        let whole = Array(bytes.prefix(bytes.count & ~1))
        self.init(Self.wideNames) { name in
            guard let text = EncodingConverter.text(whole, in: name) else { return [nil] }
            return text.split(whereSeparator: \.isNewline).prefix(Self.shownLines).map { CellPadding.plain(String($0)) }
        }
    }

    private init(_ names: [String], _ read: (String) -> [String?]) {
        var found: [(reading: Reading, doubts: Int)] = []
        for name in names {
            let lines = read(name)
            let texts = lines.compactMap(\.self)
            guard texts.count == lines.count, !found.contains(where: { $0.reading.lines == texts }) else { continue }
            let doubts = texts.reduce(0) { $0 + Self.doubts(about: $1) }
            found.append((Reading(encoding: name, lines: texts), doubts))
        }
        // Of those that are as likely the first.
        let sorted = found.enumerated().sorted { ($0.element.doubts, $0.offset) < ($1.element.doubts, $1.offset) }
        readings = sorted.prefix(Self.shownReadings).map(\.element.reading)
    }

    /// What of a text is seldom seen in words.
    private static func doubts(about text: String) -> Int {
        var doubts = 0
        var former: Kind = .other
        for scalar in text.unicodeScalars {
            let kind = Kind(scalar)
            switch (former, kind) {
            case (_, .control): doubts += 100
            case (_, .symbol): doubts += 4
            case (_, .halfKana): doubts += 3
            // Accents stand alone among plain letters.
            case (.accented, .accented): doubts += 3
            case (.plain, .cyrillic), (.plain, .wide), (.plain, .kana): doubts += 4
            case (.cyrillic, .plain), (.wide, .plain), (.kana, .plain): doubts += 4
            case (.cyrillic, .accented), (.accented, .cyrillic): doubts += 4
            case (.hangul, .wide), (.wide, .hangul), (.plain, .hangul), (.hangul, .plain): doubts += 4
            case (_, .wide): doubts += 1
            default: break
            }
            if former.isLetter, kind.isLetter, scalar.properties.isUppercase, !scalar.isASCII { doubts += 2 }
            former = kind
        }
        return doubts
    }

    private enum Kind {
        case plain, accented, cyrillic, wide, hangul, kana, halfKana, symbol, control, other

        init(_ scalar: Unicode.Scalar) {
            switch scalar.value {
            case 0x41...0x5A, 0x61...0x7A: self = .plain
            case 0x09, 0x20...0x7E: self = .other
            case 0...0x1F, 0x7F...0x9F, 0xE000...0xF8FF: self = .control
            case 0xC0...0x24F: self = scalar.properties.isAlphabetic ? .accented : .symbol
            case 0x400...0x52F: self = .cyrillic
            case 0x3041...0x30FE: self = .kana
            case 0xFF61...0xFF9F: self = .halfKana
            case 0xAC00...0xD7A3: self = .hangul
            case 0x3400...0x9FFF: self = .wide
            default: self = .symbol
            }
        }

        var isLetter: Bool { self == .plain || self == .accented || self == .cyrillic }
    }
}
