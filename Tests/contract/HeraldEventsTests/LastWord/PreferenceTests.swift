import Foundation
import HeraldText
import HeraldTime
import TestSupport
import Testing

@testable import HeraldEvents

@Suite("A user's word")
struct PreferenceTests {
    private func reading(_ text: String) -> OptOutReader.Reading {
        var reader = OptOutReader(pushServices: .standard)
        return reader.read(text.utf8.span.bytes)
    }

    @Test("A word is read back as it was written, and members that Herald does not know stay")
    func roundTrip() {
        var optOut = OptOut()
        optOut.isOfPromotional = true
        optOut.pushServices = ["apns"]
        optOut.sources = ["shop", "a \"b\""]
        var word = Preference(optOut, updatedAt: WallTime(milliseconds: 1_700_000_000_123), by: "settings")
        word.others = [.init("quiet", ["start": "22:00"])]
        let (read, problem) = Preference.reading(word.encoded().span.bytes, pushServices: .standard)
        #expect(read == word)
        #expect(problem == nil)
    }

    @Test("Entries are understood, a push service by any of its names")
    func entries() {
        let read = reading(#"{"optOut":["all","promotional","pns:FCM","pns:gcm","source:shop","source:shop"],"x":1}"#)
        #expect(read.problem == nil)
        #expect(read.optOut.entries == ["all", "promotional", "pns:gcm", "source:shop"])
        #expect(reading(#" {"optO\u0075t": ["promotiona\u006c"]} "#).optOut.entries == ["promotional"])
        #expect(reading(#"{"optOut":[]}"#) == OptOutReader.Reading())
    }

    @Test(
        "A broken word says what is wrong and where, and keeps what was understood",
        arguments: [
            (#"{"optOut":["promotional","pns:hms"]}"#, "optOut[1]", ["promotional"]),
            (#"{"optOut":["sms","all"]}"#, "optOut[0]", ["all"]),
            (#"{"optOut":["all",7]}"#, "a number as optOut[1]", ["all"]),
            (#"{"optOut":["source:"]}"#, "names no source", []),
            (#"{"optOut":["Promotional"]}"#, "is unknown", []),
            (#"{"optOut":"all"}"#, "an array of strings", []),
            (#"{"optOut":null}"#, "an array of strings", []),
            (#"{"optout":["all"]}"#, "has no optOut", []),
            (#"{"optOut":["all"],"optOut":[]}"#, "optOut twice", ["all"]),
            (#"{"optOut":["all"],"by":"#, "ends in the middle", ["all"]),
            (#"{"optOut":["all"]}}"#, "goes on after its end", ["all"]),
            ("", "ends in the middle", []),
            ("all", "is not a JSON object", []),
        ])
    func broken(text: String, problem: String, understood: [String]) {
        let read = reading(text)
        #expect(read.problem?.contains(problem) == true, "\(read.problem ?? "sound")")
        #expect(read.optOut.entries == understood)
    }

    @Test("The code and the documents agree on what is a word", arguments: [true, false])
    func documents(isValid: Bool) throws {
        let folder = Repository.root.appending(path: "docs/examples/preference/\(isValid ? "valid" : "invalid")")
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
        #expect(!names.isEmpty)
        for name in names {
            let bytes = Array(try Data(contentsOf: folder.appending(path: name)))
            let problem = Preference.reading(bytes.span.bytes, pushServices: .standard).problem
            #expect((problem == nil) == isValid, "\(name)")
        }
    }

    @Test("Two words together are what either says")
    func union() {
        var word = reading(#"{"optOut":["promotional","pns:apns"]}"#).optOut
        word.formUnion(reading(#"{"optOut":["pns:apns","pns:wns","source:shop"]}"#).optOut)
        #expect(word.entries == ["promotional", "pns:apns", "pns:wns", "source:shop"])
    }
}

@Suite("A recall")
struct RecallTests {
    @Test(
        "A key is read back as it was written, and always written alike",
        arguments: [
            Recall.Subject.campaign("spring"), .event(id: "o-1", user: "ann", source: nil),
            .event(id: "a\"b", user: "ann", source: "shop"),
        ])
    func keys(subject: Recall.Subject) throws {
        #expect(try Recall.Subject(key: subject.key.span.bytes) == subject)
        let turned = Array(#"{"source":"shop","user":"ann","id":"a\"b"}"#.utf8)
        #expect(
            try Recall.Subject(key: turned.span.bytes) == .event(id: "a\"b", user: "ann", source: "shop"))
    }

    @Test(
        "A broken key is refused with its reason",
        arguments: [
            "", "spring", "campaign:", "[]", #"{"id":"x"}"#, #"{"id":7,"user":"ann"}"#, #"{"id":"","user":"a"}"#,
        ])
    func brokenKeys(text: String) {
        #expect(throws: InvalidArgument.self) { try Recall.Subject(key: text.utf8.span.bytes) }
    }

    @Test("A value is read back as it was written; of a broken one the problem is told")
    func values() {
        let recall = Recall(at: WallTime(milliseconds: 1_700_000_000_000), by: "ops@host", reason: "wrong price")
        let (read, problem) = Recall.reading(recall.encoded().span.bytes)
        #expect(read == recall)
        #expect(problem == nil)
        #expect(Recall.reading("yes".utf8.span.bytes).problem != nil)
        #expect(Recall.reading(Recall().encoded().span.bytes) == (Recall(), nil))
    }
}
