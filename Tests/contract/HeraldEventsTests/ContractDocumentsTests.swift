import Foundation
import HeraldEvents
import HeraldText
import TestSupport
import Testing

@Suite("The contract's documents")
struct ContractDocumentsTests {
    private static let docs = Repository.root.appending(path: "docs")

    private func examples(_ kind: String) throws -> [(name: String, bytes: [UInt8])] {
        let folder = Self.docs.appending(path: "examples/\(kind)")
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
        #expect(!names.isEmpty)
        return try names.map { (kind + "/" + $0, Array(try Data(contentsOf: folder.appending(path: $0)))) }
    }

    @Test("The code accepts every event that the documents call valid")
    func validEvents() throws {
        for (name, bytes) in try examples("event/valid") { #expect(Decoding(bytes).failure == nil, "\(name)") }
    }

    @Test("The code refuses every event that the documents call invalid")
    func invalidEvents() throws {
        for (name, bytes) in try examples("event/invalid") { #expect(Decoding(bytes).failure != nil, "\(name)") }
    }

    @Test("The code reads every result that the documents call valid")
    func validResults() throws {
        for (name, bytes) in try examples("result/valid") {
            #expect(throws: Never.self, "\(name)") { try NotificationResult(decoding: bytes) }
        }
    }

    @Test("The code refuses every result that the documents call invalid")
    func invalidResults() throws {
        for (name, bytes) in try examples("result/invalid") {
            #expect(throws: InvalidArgument.self, "\(name)") { try NotificationResult(decoding: bytes) }
        }
    }

    @Test("The code reads every feedback that the documents call valid, and writes it back unchanged")
    func validFeedback() throws {
        for (name, bytes) in try examples("feedback/valid") {
            let record = try FeedbackRecord(decoding: bytes)
            let written =
                switch record {
                case .notification(let feedback): feedback.encoded()
                case .device(let feedback): feedback.encoded()
                }
            #expect(try FeedbackRecord(decoding: written) == record, "\(name)")
            #expect(try object(written) == object(bytes), "\(name)")
        }
    }

    private func object(_ bytes: [UInt8]) throws -> NSDictionary {
        try #require(JSONSerialization.jsonObject(with: Data(bytes)) as? NSDictionary)
    }

    @Test("The code refuses every feedback that the documents call invalid")
    func invalidFeedback() throws {
        for (name, bytes) in try examples("feedback/invalid") {
            #expect(throws: InvalidArgument.self, "\(name)") { try FeedbackRecord(decoding: bytes) }
        }
    }

    @Test("The result's schema names every outcome and every reason, and no others")
    func resultNames() throws {
        let data = try Data(contentsOf: Self.docs.appending(path: "schemas/result.schema.json"))
        let schema = try #require(try JSONSerialization.jsonObject(with: data) as? [String: Any])
        let properties = try #require(schema["properties"] as? [String: [String: Any]])
        #expect(properties["outcome"]?["enum"] as? [String] == Outcome.allCases.map(\.rawValue))
        #expect(
            properties["reason"]?["enum"] as? [String]
                == DeadLetterReason.allCases.map(\.rawValue) + SuppressionReason.allCases.map(\.rawValue))
    }

    @Test("The AsyncAPI document names every header, topic and reason")
    func asyncAPI() throws {
        let text = try String(contentsOf: Self.docs.appending(path: "asyncapi.yaml"), encoding: .utf8)
        let topics = Topics()
        let names =
            HeaderName.all.map { "\($0):" } + RetryReason.allCases.map(\.rawValue)
            + DeadLetterReason.allCases.map { "- \($0.rawValue)" }
            + (topics.requests + [topics.results, topics.feedback, topics.deadLetter, topics.retry + ".{delay}"]).map {
                "address: \($0)"
            }
        for name in names { #expect(text.contains(name), "\(name)") }
    }
}
