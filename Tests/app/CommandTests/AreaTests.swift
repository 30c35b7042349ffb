import Foundation
import TestSupport
import Testing

@Suite("The areas of Sources")
struct AreaTests {
    /// The areas of the table in docs/DESIGN.md, from the program down to the base.
    private static func areas() throws -> [String] {
        let design = try String(contentsOf: Repository.root.appending(path: "docs/DESIGN.md"), encoding: .utf8)
        let table = try #require(design.firstRange(of: "| area | modules |")).lowerBound
        let rows = design[table...].split(separator: "\n", omittingEmptySubsequences: false).prefix {
            $0.hasPrefix("|")
        }
        var areas: [String] = []
        for row in rows {
            guard let area = row.firstMatch(of: /^\| `(\w+)`/)?.1, areas.last != String(area) else { continue }
            areas.append(String(area))
        }
        return areas
    }

    @Test("The table of docs/DESIGN.md has each folder of Sources once")
    func everyArea() throws {
        let folders = try FileManager.default.contentsOfDirectory(
            atPath: Repository.root.appending(path: "Sources").path())
        #expect(try Self.areas().sorted() == folders.sorted())
    }

    @Test("An area imports its own modules and those of areas below it")
    func direction() throws {
        let areas = try Self.areas()
        let sources = Repository.root.appending(path: "Sources")
        var area: [String: Int] = [:]
        for (index, name) in areas.enumerated() {
            let modules = try FileManager.default.contentsOfDirectory(atPath: sources.appending(path: name).path())
            for module in modules { area[module] = index }
        }
        #expect(area.count > 30)
        let files = try #require(FileManager.default.enumerator(at: sources, includingPropertiesForKeys: nil))
        var imports = 0
        for case let file as URL in files where file.pathExtension == "swift" {
            let path = file.path().dropFirst(sources.path().count).split(separator: "/")
            let own = try #require(area[String(path[1])])
            for line in try String(contentsOf: file, encoding: .utf8).split(separator: "\n") {
                guard let module = line.firstMatch(of: /^(?:\w+ )?import (\w+)$/)?.1, let other = area[String(module)]
                else { continue }
                imports += 1
                #expect(other >= own, "\(path.joined(separator: "/")) imports \(module), which lies above it")
            }
        }
        #expect(imports > 1_000)
    }
}
