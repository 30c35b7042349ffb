import Foundation
import HeraldSettings
import HeraldText
import TestSupport
import Testing

@Suite("The documents generated from the table")
struct GeneratedDocumentsTests {
    private static let documents = Repository.root.appending(path: "docs")

    @Test("docs/SETTINGS.md is the output of herald config docs")
    func document() throws {
        let committed = try String(contentsOf: Self.documents.appendingPathComponent("SETTINGS.md"), encoding: .utf8)
        #expect(committed == Settings.document, "regenerate it: herald config docs > docs/SETTINGS.md")
    }

    @Test("docs/schemas/settings.schema.json is the output of herald config schema")
    func schema() throws {
        let file = Self.documents.appendingPathComponent("schemas/settings.schema.json")
        let committed = try String(contentsOf: file, encoding: .utf8)
        #expect(
            committed == Settings.schema.pretty + "\n",
            "regenerate it: herald config schema > docs/schemas/settings.schema.json")
        #expect(throws: Never.self) { try JSONSerialization.jsonObject(with: Data(committed.utf8)) }
    }

    @Test(
        "Document and schema hold every setting, and its sentence ends with a full stop", arguments: SettingsTable.all)
    func complete(setting: any AnySetting) throws {
        #expect(Settings.document.contains("| `\(setting.path)` |"))
        #expect(setting.summary.hasSuffix("."))
        var schema = Settings.schema
        for key in setting.path.split(separator: ".") {
            schema = try #require(schema["properties"]?[String(key)], "\(setting.path)")
        }
        let texts = [setting.summary, setting.summary + " *Live.*"]
        #expect(texts.contains { schema["description"] == .string($0) })
    }

    @Test("Every setting that the table declares can be set")
    func declarations() throws {
        let table = Self.documents.deletingLastPathComponent()
            .appending(path: "Sources/app/HeraldSettings/SettingsTable.swift")
        let source = try String(contentsOf: table, encoding: .utf8)
        let declared = source.matches(of: #/package let (\w+) = Setting\(\s+"([\w.]+)"/#)
        #expect(declared.count > 50)
        #expect(declared.map { String($0.2) } == SettingsTable.all.map(\.path))
        for match in declared { #expect(match.2.hasSuffix(".\(match.1)"), "\(match.2) has another name in Swift") }
    }

    @Test("Every default of the schema, written into a file, is accepted and changes nothing")
    func defaults() throws {
        func values(of schema: JSONValue) -> JSONValue? {
            if let value = schema["default"] { return value }
            guard case .object(let members)? = schema["properties"] else { return nil }
            return .object(members.compactMap { member in values(of: member.value).map { .init(member.name, $0) } })
        }
        let file = try #require(values(of: Settings.schema)).compact
        #expect(try load(file).effective.map(\.value) == load().effective.map(\.value))
    }
}
