import Foundation
import HeraldEvents
import TestSupport
import Testing

@Suite("The fuzzer's corpus")
struct FuzzCorpusTests {
    private static let folder = Repository.root.appending(path: "Tests/Fuzz/corpus/event-decoder")

    @Test("Every file of the corpus, seed or find, passes through the decoder and keeps its properties")
    func replay() throws {
        let names = try FileManager.default.contentsOfDirectory(atPath: Self.folder.path)
        #expect(names.count >= 20)
        for name in names {
            let input = Array(try Data(contentsOf: Self.folder.appending(path: name)))
            #expect(throws: Never.self, "\(name)") { try EventDecoderProperties.check(input) }
        }
    }

    @Test("Every prefix of the seeds keeps the properties")
    func prefixes() throws {
        for name in try FileManager.default.contentsOfDirectory(atPath: Self.folder.path) {
            let input = Array(try Data(contentsOf: Self.folder.appending(path: name)))
            for count in 0..<min(input.count, 400) {
                #expect(throws: Never.self, "\(name), \(count) bytes") {
                    try EventDecoderProperties.check(Array(input.prefix(count)))
                }
            }
        }
    }
}
