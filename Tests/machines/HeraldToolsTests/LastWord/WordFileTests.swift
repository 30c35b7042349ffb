import HeraldEvents
import HeraldText
import Testing

@testable import HeraldTools

@Suite("A file of opt-outs")
struct WordFileTests {
    /// The lines' words, or their mistakes.
    private func read(_ text: String) -> [String] {
        var file = WordFile(pushServices: .standard, users: .tag)
        return text.split(separator: "\n").enumerated().compactMap { index, line in
            let bytes = Array(line.utf8)
            do throws(InputError) {
                let word = try file.read(TextLine(number: index + 1, bytes: bytes, byteCount: bytes.count))
                return word.map { "\($0.user) \($0.optOut.words)" }
            } catch {
                return error.description
            }
        }
    }

    @Test("CSV and JSON lines say the same")
    func forms() {
        let words = ["ann promotional,pns:gcm", "bob none", "eve source:a,b"]
        #expect(read("user,opt_out\nann,promotional|pns:fcm\nbob,none\neve,\"source:a,b\"") == words)
        #expect(read("\u{FEFF}user;opt_out\nann;promotional|pns:fcm\n\"bob\";none\neve;source:a,b") == words)
        #expect(
            read(
                #"{"user":"ann","optOut":["promotional","pns:fcm"]}"# + "\n" + #"{"user":"bob","optOut":[]}"# + "\n"
                    + #"{"user":"eve","optOut":["source:a,b"],"x":1}"#) == words)
    }

    @Test(
        "A mistake is told with its line and column",
        arguments: [
            ("user,opt_out\nann,", "line 2, column 5: opt-out is empty"),
            ("user,opt_out\nann,promotional,pns:apns", "line 2, column 17: has 3 cells"),
            ("user,opt_out\nann,sms", "line 2, column 5: \"sms\" is unknown"),
            ("user,opt_out\nann,none|all", "line 2, column 5: none stands beside"),
            ("user,opt_out\nann,pns:hms", "line 2, column 5: \"pns:hms\" names no push service"),
            ("user,opt_out\n\"ann,all", "line 2, column 1: has a quote that is not closed"),
            ("user,opt_out\n\"ann\"x,all", "line 2, column 6: goes on after a quoted cell"),
            ("user,opt_out\na n,all", "line 2, column 1: user holds"),
            ("user,opt_out\nann,all\nann,none", "line 3, column 1: user is that of line 2 again"),
            ("ann,all", "line 1, column 1: is no heading"),
            (#"{"user":"ann"}"#, "line 1: has no optOut"),
            (#"{"user":7,"optOut":[]}"#, "line 1: has no user"),
            (#"{"user":"ann","optOut":[]"#, "line 1, column 26: ends in the middle"),
        ])
    func mistakes(text: String, mistake: String) {
        let found = read(text).filter { $0.hasPrefix("line") }
        #expect(found.count == 1)
        #expect(found.first?.hasPrefix(mistake) == true, "\(found)")
    }

    @Test(
        "What a file changes is counted: words overwritten, users opted in, quiet hours that end")
    func changes() {
        func optOut(_ entries: String...) -> OptOut {
            var optOut = OptOut()
            for entry in entries { _ = optOut.insert(entry, knowing: .standard) }
            return optOut
        }
        let night = QuietHours(start: 1_320, end: 420)
        var changes = WordChanges()
        changes.add(.init(user: "new", optOut: optOut("promotional")), former: nil)
        changes.add(
            .init(user: "ann", optOut: optOut()), former: (Preference(optOut("promotional"), quiet: night), false))
        changes.add(
            .init(user: "bob", optOut: optOut("all")), former: (Preference(optOut("pns:apns", "source:shop")), false))
        changes.add(
            .init(user: "eve", optOut: optOut("promotional"), quiet: night),
            former: (Preference(optOut("source:a"), quiet: night), false))
        changes.add(
            .init(user: "dan", optOut: optOut("promotional", "pns:gcm")),
            former: (Preference(optOut("pns:apns")), true))
        #expect(
            changes.counts == ["users": 5, "overwritten": 4, "optedIn": 2, "quietEnded": 1, "forgotten": 1])
        #expect(
            changes.words(areFormerKnown: true).hasSuffix(
                "1 of them had been forgotten, and an opt-out was kept "
                    + "without the name."))
        #expect(
            changes.words(areFormerKnown: true).contains(
                "5 users, 4 of whom have opted out of something. The words of 4"))
        #expect(changes.words(areFormerKnown: false).hasSuffix("something."))
    }
}
