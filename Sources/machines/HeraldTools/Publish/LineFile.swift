/// One line of a file.
package struct TextLine: Sendable, Equatable {
    /// Its number, from 1.
    package var number: Int
    /// Its bytes without the line's end; cut off when there are too many.
    package var bytes: [UInt8]
    /// How many bytes it has.
    package var byteCount: Int
}

/// A file of lines that is read as often as needed, in bounded memory, and is the same each time.
package final class LineFile {
    private static let chunkBytes = 65_536

    private let file: SpooledFile

    /// Opens the file at this path; reads standard input to its end for `-`.
    ///
    /// - Parameter directory: where a copy goes, if one is needed.
    package init(path: String, copyingInto directory: String) throws {
        file = try SpooledFile(path: path, copyingInto: directory)
    }

    /// Visits every line that is not blank, from the first on.
    ///
    /// - Parameter longest: more bytes of a line than this are counted and not kept.
    package func forEachLine(longest: Int, _ body: (TextLine) throws -> Void) throws {
        var line = TextLine(number: 1, bytes: [], byteCount: 0)
        var chunk = [UInt8](repeating: 0, count: Self.chunkBytes)
        var position = 0
        while position < file.byteCount {
            let count = try file.read(into: &chunk, at: 0, count: Self.chunkBytes, from: position)
            position += count
            var start = 0
            while let end = chunk[start..<count].firstIndex(of: UInt8(ascii: "\n")) {
                line.append(chunk[start..<end], longest: longest)
                try line.hand(to: body)
                start = end + 1
            }
            line.append(chunk[start..<count], longest: longest)
        }
        if line.byteCount > 0 { try line.hand(to: body) }
    }
}

extension TextLine {
    fileprivate mutating func append(_ piece: ArraySlice<UInt8>, longest: Int) {
        byteCount += piece.count
        bytes += piece.prefix(max(0, longest - bytes.count))
    }

    /// Hands the line over, unless it is blank, and begins the next one.
    fileprivate mutating func hand(to body: (TextLine) throws -> Void) throws {
        if bytes.count == byteCount, bytes.last == UInt8(ascii: "\r") {
            bytes.removeLast()
            byteCount -= 1
        }
        if bytes.contains(where: { $0 != UInt8(ascii: " ") && $0 != UInt8(ascii: "\t") }) { try body(self) }
        number += 1
        bytes.removeAll(keepingCapacity: true)
        byteCount = 0
    }
}
