import Foundation
import HeraldEvents
import HeraldText
import HeraldTime
import TestSupport
import Testing

@Suite("The closed set of reasons for which events wait")
struct WaitReasonTests {
    private static let moment = WallTime(milliseconds: 1_700_000_000_000)
    private static let limit = WaitReason.Limit(pushService: "apns", opens: moment, ahead: 3)
    private static let ahead = WaitReason.Ahead(
        name: "order-16", record: "notifications/3/1741", count: 2, doing: "apns is being called")

    /// One of each kind, in the order of the kinds.
    private static let all: [WaitReason] = [
        .calling(since: moment), .nextTurn, .behindUser(ahead), .behindPartition(ahead), .behindSame(ahead),
        .sameUnderWay(until: moment), .notBefore(until: moment), .retryDue(until: moment), .quickRetry(until: moment),
        .campaignPaused(since: moment, until: moment), .preferencesBehind(since: moment, until: moment),
        .credentialsRenewal, .credentialsDoubt(until: moment),
        .outage(cause: "tls", since: moment, nextProbe: moment),
        .pushServiceHeld("wns", since: moment, nextProbe: moment), .unrecordedOutcomes(since: moment), .stoodStill,
        .backendPause(limit), .serviceLimit(limit), .totalLimit(limit), .learnedLimit(limit),
        .callsInFlight(.init(calls: 8, hanging: 0, pushService: "apns", its: 8, limit: 8), until: nil),
        .otherPushServices, .stopping(until: moment),
        .unacknowledged(until: moment), .transaction(until: moment), .transactionEnds(until: moment), .producer,
        .recordRefused(until: moment),
    ]

    @Test("Each kind has one word, and a sentence that names its moment, its end and its remedy")
    func sentences() {
        #expect(Self.all.map(\.kind) == WaitReason.Kind.allCases)
        #expect(Set(WaitReason.Kind.allCases.map(\.word)).count == WaitReason.Kind.allCases.count)
        for reason in Self.all {
            let wait = WaitingPage.Wait(reason, pushServices: ["apns"])
            #expect(wait.sentence.hasPrefix("apns: it ") && wait.sentence.contains(reason.kind.end), "\(wait.sentence)")
            #expect(reason.kind.changes.allSatisfy(wait.sentence.contains), "\(wait.sentence)")
            if reason.until != nil { #expect(wait.sentence.contains(RFC3339.text(Self.moment)), "\(wait.sentence)") }
        }
    }

    @Test("The sentence names the first event of the line, and the number before this one")
    func line() {
        #expect(
            WaitReason.behindUser(Self.ahead).phrase
                == "waits behind 2 earlier events of its user, of which order-16 (notifications/3/1741) is first: "
                + "apns is being called")
        #expect(WaitReason.serviceLimit(Self.limit).phrase.hasSuffix(", and 3 wanted calls are before it"))
    }

    @Test("Calls in flight: whose they are, and why there are more than there may be")
    func inFlight() {
        func phrase(_ calls: Int, hanging: Int, limit: Int) -> String {
            let load = WaitReason.Load(calls: calls, hanging: hanging, pushService: "gcm", its: calls - 4, limit: limit)
            return WaitReason.callsInFlight(load, until: nil).phrase
        }
        #expect(
            phrase(64, hanging: 0, limit: 64)
                == "waits for a place: 64 calls are in flight, 60 to gcm, and there may be 64")
        #expect(
            phrase(74, hanging: 10, limit: 64)
                == "waits for a place: 74 calls are in flight, 70 to gcm; 10 of them hang and take no place, and of the others "
                + "there may be 64")
        #expect(phrase(74, hanging: 0, limit: 64).hasSuffix("there may be 64 now that calls take longer"))
    }

    @Test("A reader reads what a worker writes, and treats unknown reasons as absent")
    func page() throws {
        let waits = Self.all.map { WaitingPage.Wait($0, pushServices: ["apns", "gcm"]) }
        let event = WaitingPage.Event(id: nil, user: "ann \"x\"", origin: "t/0/1", takenAt: Self.moment, waits: waits)
        let page = WaitingPage(events: [event], hidden: 3, silentLanes: [1])
        let read = try JSONDecoder().decode(WaitingPage.self, from: Data(page.json.compact.utf8))
        #expect(read == page)
    }

    @Test("docs/RUNBOOK.md has the table of the reasons, and docs/DESIGN.md the origin of each")
    func documents() throws {
        try expectDocumented(WaitReason.Kind.self, inDesignBehind: "## Why an event waits")
    }

    @Test("The settings that the reasons name exist")
    func settings() throws {
        let file = Repository.root.appending(path: "docs/SETTINGS.md")
        let text = try String(contentsOf: file, encoding: .utf8)
        for name in WaitReason.Kind.allCases.flatMap(\.changes) where !name.hasPrefix("herald ") {
            #expect(text.contains("`\(name)`") || text.contains("`\(name)."), "\(name)")
        }
    }
}

/// Compares the rows of a set with the tables of docs/RUNBOOK.md and docs/DESIGN.md.
func expectDocumented<Kind: WaitKind>(_ kinds: Kind.Type, inDesignBehind heading: String) throws {
    func text(_ name: String) throws -> String {
        try String(contentsOf: Repository.root.appending(path: "docs/\(name)"), encoding: .utf8)
    }
    let runbook: String = try text("RUNBOOK.md")
    for kind in Kind.allCases {
        // Rows stand in the order of the kinds: one in another place would be another kind's.
        let name: String = "\(kind)".replacing(#/[A-Z]/#) { "-" + $0.output.lowercased() }
        #expect(kind.word == name)
        let changes: String = kind.changes.map { "`\($0)`" }.joined(separator: ", ")
        let row: String = "| `\(kind.word)` | \(kind.meaning) | \(kind.end) | \(changes) |"
        #expect(runbook.contains(row), "docs/RUNBOOK.md has to have:\n\(row)")
    }
    let design: String = try text("DESIGN.md").components(separatedBy: heading).last ?? ""
    let table: String = design.components(separatedBy: "\n\n").first { $0.hasPrefix("| reason |") } ?? ""
    var words: [String] = []
    for row in table.split(separator: "\n").dropFirst(2) {
        let names: [Substring] = row.split(separator: "|").first?.split(separator: "`") ?? []
        words += names.filter { $0.contains(where: \.isLetter) }.map(String.init)
    }
    let expected: [String] = Kind.allCases.map(\.word)
    #expect(words.sorted() == expected.sorted())
}
