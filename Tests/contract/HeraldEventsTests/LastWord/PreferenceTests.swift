import Foundation
import HeraldText
import HeraldTime
import TestSupport
import Testing

@testable import HeraldEvents

@Suite("A user's word")
struct PreferenceTests {
    private func reading(_ text: String) -> PreferenceReader.Reading {
        var reader = PreferenceReader(pushServices: .standard)
        return reader.read(text.utf8.span.bytes)
    }

    @Test("A word is read back as it was written, and members that Herald does not know stay")
    func roundTrip() {
        var optOut = OptOut()
        optOut.isOfPromotional = true
        optOut.pushServices = ["apns"]
        optOut.sources = ["shop", "a \"b\""]
        var word = Preference(optOut, updatedAt: WallTime(milliseconds: 1_700_000_000_123), by: "settings")
        word.quiet = QuietHours(
            zone: "Europe/Berlin", start: 1_320, end: 420, days: [.init(rawValue: 1), .init(rawValue: 64)])
        word.others = [.init("digest", ["at": "22:00"])]
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
        #expect(reading(#"{"optOut":[]}"#) == PreferenceReader.Reading())
    }

    @Test(
        "Quiet hours are understood, and what is wrong with them is said",
        arguments: [
            (#"{"start":"22:00","end":"07:00"}"#, "22:00-07:00", nil),
            (
                #"{"zone":"Europe/Berlin","start":"00:00","end":"24:00","days":["sat","sun"],"x":{}}"#,
                "00:00-24:00 Europe/Berlin sat,sun", nil
            ),
            (#"{"zone":null,"start":"22:00","end":"07:00"}"#, "22:00-07:00", nil),
            ("null", nil, nil),
            (#""22:00-07:00""#, nil, "a quiet that is a string"), ("[]", nil, "a quiet that is an array"),
            (#"{"start":"22:00"}"#, nil, "no quiet.end that is a time"),
            (#"{"start":"22","end":"07:00"}"#, nil, "no quiet.start that is a time"),
            (#"{"start":"22:00","end":"24:01"}"#, nil, "no quiet.end"),
            (#"{"start":"22:60","end":"07:00"}"#, nil, "no quiet.start"),
            (#"{"start":2200,"end":"07:00"}"#, nil, "no quiet.start"),
            (#"{"start":"07:00","end":"07:00"}"#, nil, "end when they begin"),
            (#"{"start":"24:00","end":"07:00"}"#, nil, "begin at 24:00"),
            (#"{"start":"22:00","end":"00:00"}"#, nil, "end at 00:00"),
            (#"{"start":"00:00","end":"24:00"}"#, nil, "never end"),
            (#"{"start":"22:00","end":"07:00","days":[]}"#, nil, "without a day"),
            (#"{"start":"22:00","end":"07:00","days":["monday"]}"#, nil, "a day in quiet.days that is unknown"),
            (#"{"start":"22:00","end":"07:00","days":"mon"}"#, nil, "quiet.days that are a string"),
            (#"{"zone":"","start":"22:00","end":"07:00"}"#, nil, "quiet.zone that is no zone's name"),
            (#"{"zone":1,"start":"22:00","end":"07:00"}"#, nil, "quiet.zone that is no zone's name"),
        ] as [(String, String?, String?)])
    func quiet(text: String, hours: String?, problem: String?) {
        let read = reading(#"{"optOut":["promotional"],"quiet":\#(text)}"#)
        #expect(read.optOut.entries == ["promotional"])
        if let problem {
            #expect(read.problem?.contains(problem) == true, "\(read.problem ?? "sound")")
        } else {
            #expect(read.problem == nil)
            #expect(read.quiet?.text == hours)
        }
    }

    @Test("Quiet hours that are there twice are broken")
    func twice() {
        let quiet = #""quiet":{"start":"22:00","end":"07:00"}"#
        #expect(reading("{\"optOut\":[],\(quiet),\(quiet)}").problem?.contains("quiet twice") == true)
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
