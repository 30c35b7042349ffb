import Foundation
import HeraldCampaigns
import HeraldEvents
import HeraldHTTP
import TestSupport
import Testing

@testable import HeraldConsole

@Suite("The page's files")
struct PageFilesTests {
    @Test("All files of the folder are embedded in the program, unchanged")
    func all() throws {
        let folder = Repository.root.appending(path: "Sources/faces/HeraldConsole")
        let files = try #require(
            FileManager.default.enumerator(at: folder, includingPropertiesForKeys: [.isRegularFileKey])
        )
        .compactMap { $0 as? URL }.filter { $0.pathExtension != "swift" }
        .filter { try $0.resourceValues(forKeys: [.isRegularFileKey]).isRegularFile ?? false }
        let names = files.map { $0.standardizedFileURL.path.dropFirst(folder.path.count + 1) }.map(String.init)
        let others = ["runbook.md", "Frame/lib/chart/chart.min.js"]
        #expect(Set(names + others) == Set(PageFiles.names), "write the table anew: scripts/page-table")
        for (name, file) in zip(names, files) where name != "Frame/index.html" {
            let response = try #require(PageFiles.response(name.split(separator: "/").map(String.init)))
            #expect(try Data(contentsOf: file) == Data(response.body), "\(name)")
        }
    }

    @Test("Each page of the folder is a place, with any segments after it, and no other file is")
    func places() throws {
        func isFrame(_ segments: [String]) -> Bool {
            PageFiles.response(segments)?.headers["Content-Type"]?.hasPrefix("text/html") ?? false
        }
        let folder = Repository.root.appending(path: "Sources/faces/HeraldConsole/Pages")
        let folders = try FileManager.default.contentsOfDirectory(atPath: folder.path).map { $0.lowercased() }
        #expect(PageFiles.pages.sorted() == folders.sorted())
        for page in folders { #expect(isFrame([page]) && isFrame([page, "x", "y"]), "\(page)") }
        #expect(isFrame([""]))
        for other in [["x"], ["Pages"], ["Frame", "lib"], ["Pages", "Audit"], ["campaign-form"]] {
            #expect(!isFrame(other), "\(other)")
        }
    }

    @Test("The styles of all pages are one file")
    func styles() throws {
        let response = try #require(PageFiles.response(["pages.css"]))
        let text = String(decoding: response.body, as: UTF8.self)
        for name in PageFiles.names where name.hasPrefix("Pages/") && name.hasSuffix(".css") {
            let one = try #require(PageFiles.response(name.split(separator: "/").map(String.init)))
            #expect(text.contains(String(decoding: one.body, as: UTF8.self)), "\(name)")
        }
        #expect(response.headers["Content-Type"]?.hasPrefix("text/css") == true)
    }

    @Test("The charts' library is embedded with its version and licence, where the SBOM reads them")
    func library() throws {
        let response = try #require(PageFiles.response(["Frame", "lib", "chart", "chart.min.js"]))
        let text = String(decoding: response.body, as: UTF8.self)
        #expect(text.prefix(200).firstMatch(of: /Chart\.js v3\.[0-9]+\.[0-9]+\n/) != nil)
        #expect(text.prefix(200).contains("Released under the MIT License"))
        #expect(response.headers["Content-Type"]?.hasPrefix("text/javascript") == true)
    }

    @Test("The page's words for outcomes and calls are those of the contract")
    func vocabulary() throws {
        let response = try #require(PageFiles.response(["Frame", "lib", "vocabulary.js"]))
        let text = String(decoding: response.body, as: UTF8.self)
        func expect(_ head: String, _ lines: [String], _ end: String) {
            let made = "\(head)\n" + lines.map { "  \($0),\n" }.joined() + "\(end);\n"
            #expect(text.contains(made), "Frame/lib/vocabulary.js should have:\n\(made)")
        }
        expect("const outcomeTones = {", Outcome.allCases.map { "'\($0.rawValue)': '\($0.tone)'" }, "}")
        for field in ContentField.allCases { #expect(text.contains("  ['\(field.rawValue)', '"), "\(field)") }
        expect("const callTones = {", CallEnd.allCases.map { "'\($0.word)': '\($0.tone)'" }, "}")
        expect(
            "export const unreached = [", OutcomeCount.unreachedOutcomes.map { "'\(OutcomeCount.name($0))'" }, "]")
        #expect(OutcomeCount.unreachedOutcomes.first?.standing == .failed)
    }

    @Test("The runbook in the program is that of the documents")
    func runbook() throws {
        let response = try #require(PageFiles.response(["runbook.md"]))
        #expect(try Data(contentsOf: Repository.root.appending(path: "docs/RUNBOOK.md")) == Data(response.body))
        #expect(PageFiles.response(["runbook", "heraldlag"])?.headers["Content-Type"]?.hasPrefix("text/html") == true)
    }
}
