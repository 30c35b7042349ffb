import Foundation
import TestSupport
import Testing

@Suite("Whole records")
struct WholeRecordTests {
    private static let folder = Repository.root.appending(path: "Tests/Fuzz/corpus/whole-record")

    @Test("Every record of the corpus, seed or find, ends in records that a broker takes")
    func replay() throws {
        let names = try FileManager.default.contentsOfDirectory(atPath: Self.folder.path)
        #expect(names.count >= 20)
        for name in names {
            let input = Array(try Data(contentsOf: Self.folder.appending(path: name)))
            for choice in UInt8(0)..<3 {
                #expect(WholeRecordProperties.brokenProperty([choice] + input.dropFirst()) == nil, "\(name), \(choice)")
            }
        }
    }
}
