import HeraldText

/// Reads the settings file: bytes, YAML, sections and keys.
struct SettingsFile {
    private static let longest = 1_048_576
    /// The maximum number of mistakes reported; the rest of the file is skipped.
    private static let mostMistakes = 100

    /// A value of the file, not yet decoded.
    struct Found {
        let setting: any AnySetting
        let node: SettingNode
    }

    /// Where the file itself is named.
    let place: SettingsPlace
    private var report: SettingsReport
    private(set) var found: [Found] = []
    /// Whether the file could not be read to its end, so that its settings are unknown.
    private(set) var isBroken = false

    /// The file's own mistakes: YAML, unknown keys, duplicate keys.
    var mistakes: [SettingsMistake] { report.mistakes }

    init(_ source: SettingsSources.File) {
        let name =
            switch source {
            case .path(let path): path
            case .bytes(_, let name): name
            }
        place = .file(name: name, line: 1, column: 1)
        report = SettingsReport(source: place)
        do throws(InputError) {
            switch source {
            case .path(let path): read(try BoundedFile.read(path, limit: Self.longest))
            case .bytes(let bytes, _): read(bytes)
            }
        } catch {
            refuseFile(error.message)
        }
    }

    /// A mistake of the file as a whole.
    private mutating func refuseFile(_ reason: String, at position: SettingNode.Position? = nil) {
        report.refuse(at: position, "", reason)
        isBroken = true
    }

    private mutating func read(_ bytes: [UInt8]) {
        let byteOrderMark: [UInt8] = [0xEF, 0xBB, 0xBF]
        let content = bytes.starts(with: byteOrderMark) ? Array(bytes.dropFirst(byteOrderMark.count)) : bytes
        if let position = Self.invalidUTF8(content) {
            return refuseFile("is not UTF-8 text", at: position)
        }
        do throws(InputError) {
            guard let root = try YAMLReader(content).read() else { return }
            walk(root, path: "")
        } catch {
            refuseFile(error.message, at: SettingNode.Position(line: error.line ?? 1, column: error.column ?? 1))
        }
    }

    /// The place of the first byte that is not UTF-8; nil without one.
    private static func invalidUTF8(_ bytes: [UInt8]) -> SettingNode.Position? {
        guard String(validating: bytes, as: UTF8.self) == nil else { return nil }
        let lines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        for (index, line) in lines.enumerated() where String(validating: line, as: UTF8.self) == nil {
            let repaired = Array(String(decoding: line, as: UTF8.self).utf8)
            let same = zip(line, repaired).prefix { $0 == $1 }.count
            let column = String(decoding: line.prefix(same), as: UTF8.self).unicodeScalars.count
            return SettingNode.Position(line: index + 1, column: column + 1)
        }
        return SettingNode.Position(line: 1, column: 1)
    }

    private mutating func walk(_ node: SettingNode, path: String) {
        let entries: [SettingNode.Entry]
        switch node.content {
        case .map(let written): entries = written
        case .nothing: return
        case .scalar, .list:
            let keys = Self.keys(of: path).joined(separator: ", ")
            return report.refuse(at: node.position, path, "must be a section with keys; allowed: \(keys)")
        }
        var lines: [String: Int] = [:]
        for entry in entries {
            guard report.mistakes.count < Self.mostMistakes else { return }
            let inner = path.isEmpty ? entry.key : "\(path).\(entry.key)"
            if let line = lines[entry.key] {
                report.refuse(at: entry.position, inner, "is written twice, first in line \(line)")
            } else {
                lines[entry.key] = entry.position?.line ?? 1
                accept(entry, path: inner, section: path)
            }
        }
    }

    private mutating func accept(_ entry: SettingNode.Entry, path: String, section: String) {
        if let setting = SettingsTable.setting(path) {
            found.append(Found(setting: setting, node: entry.value))
        } else if SettingsTable.all.contains(where: { $0.path.hasPrefix(path + ".") }) {
            walk(entry.value, path: path)
        } else {
            let hint = UnknownSetting.suggestion(forKey: entry.key, in: section, keys: Self.keys(of: section))
            report.refuse(at: entry.position, path, "unknown setting\(hint)")
        }
    }

    private static func keys(of section: String) -> [String] {
        let prefix = section.isEmpty ? "" : section + "."
        var keys: [String] = []
        for setting in SettingsTable.all where setting.path.hasPrefix(prefix) {
            let key = String(setting.path.dropFirst(prefix.count).prefix { $0 != "." })
            if !keys.contains(key) { keys.append(key) }
        }
        return keys
    }
}
