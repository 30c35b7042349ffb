package import HeraldTools

/// An audience that is no UTF-8: nobody but a person can say what it is, so it is shown how it may read.
package struct UnreadableAudience: Error, Sendable, Equatable, CustomStringConvertible {
    private static let sampleLines = 3
    private static let sampleBytes = 512

    /// What shows it, such as `line 3 has the byte 0xFC`.
    private let proof: String
    private let guess: EncodingGuess

    /// How some of its lines read in the encodings that they may be in, the likeliest first.
    package var readings: [EncodingGuess.Reading] { guess.readings }

    /// One whose lines are read again for those that show it.
    init(_ proof: String, _ file: SpooledFile) throws {
        var window = ByteWindow(file)
        var lines: [[UInt8]] = []
        while lines.count < Self.sampleLines {
            if let line = window.line {
                let bytes = window.bytes[line.range].prefix(Self.sampleBytes)
                if bytes.contains(where: { $0 > 0x7F }) { lines.append(Array(bytes)) }
                if window.start == line.next { break }
                window.start = line.next
            } else {
                try window.extend()
            }
        }
        self.proof = proof
        guess = EncodingGuess(lines)
    }

    /// One that begins with these bytes, and has two or more for each character.
    init(wide beginning: [UInt8]) {
        proof = "it is UTF-16, without a byte order mark"
        guess = EncodingGuess(wide: beginning)
    }

    package var description: String { toolFailure.description }

    /// The same as sentences for a terminal.
    package var toolFailure: ToolFailure {
        let width = readings.map(\.encoding.count).max() ?? 0
        let lines = readings.map { reading in
            "  --encoding \(reading.encoding.padding(to: width))  \(reading.lines.joined(separator: " | "))"
        }
        let advice = "Save it as CSV UTF-8, or say in which encoding its lines read right:"
        return ToolFailure((["the audience is not UTF-8: \(proof). \(advice)"] + lines).joined(separator: "\n"))
    }
}

extension String {
    fileprivate func padding(to width: Int) -> String { self + String(repeating: " ", count: max(0, width - count)) }
}
