import Foundation
import HeraldHTTP
import TestSupport
import Testing

@testable import HeraldConsole

@Suite("The page's files")
struct PageFilesTests {
    @Test("All files of the folder are in the program, as they are")
    func all() throws {
        let folder = Repository.root.appending(path: "Sources/operations/HeraldConsole/Page")
        let files = try #require(
            FileManager.default.enumerator(at: folder, includingPropertiesForKeys: [.isRegularFileKey])
        )
        .compactMap { $0 as? URL }.filter { try $0.resourceValues(forKeys: [.isRegularFileKey]).isRegularFile ?? false }
        let names = files.map { $0.standardizedFileURL.path.dropFirst(folder.path.count + 1) }.map(String.init)
        #expect(Set(names + ["runbook.md"]) == Set(PageFiles.names))
        for (name, file) in zip(names, files) where name != "index.html" {
            let response = try #require(PageFiles.response(name.split(separator: "/").map(String.init)))
            #expect(try Data(contentsOf: file) == Data(response.body), "\(name)")
        }
    }
    @Test("The runbook in the program is that of the documents")
    func runbook() throws {
        let response = try #require(PageFiles.response(["runbook.md"]))
        #expect(try Data(contentsOf: Repository.root.appending(path: "docs/RUNBOOK.md")) == Data(response.body))
        #expect(PageFiles.response(["runbook", "heraldlag"])?.headers["Content-Type"]?.hasPrefix("text/html") == true)
    }
}
