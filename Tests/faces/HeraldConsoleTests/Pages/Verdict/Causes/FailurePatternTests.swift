import HeraldText
import HeraldTime
import Testing

@testable import HeraldConsole

@Suite("The pattern of failures")
struct FailurePatternTests {
    /// Equal notifications, each of its own user by default.
    struct Kind: Sendable {
        var count: Int
        var source: String? = "shop"
        var campaign: String?
        var services = ["apns"]
        var reason: String?
        var status: Int64?
        var detail: String?
        var user: @Sendable (Int) -> String = { "user-\($0)" }
    }

    struct Case: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var failed: [Kind]
        var delivered: [Kind]
        var words: String?
        var condition: String?
    }

    private static func tally(_ kinds: [Kind]) -> TraitTally {
        var (tally, number) = (TraitTally(), 0)
        for kind in kinds {
            for _ in 0..<kind.count {
                var traits = NotificationTraits()
                (traits.source, traits.campaign, traits.services) = (kind.source, kind.campaign, kind.services)
                (traits.reason, traits.status, traits.detail) = (kind.reason, kind.status, kind.detail)
                traits.user = UserMark(kind.user(number))
                tally.add(traits, at: WallTime(milliseconds: Int64(number)))
                number += 1
            }
        }
        return tally
    }

    private static let usual = [
        Kind(count: 120), Kind(count: 50, services: ["gcm"]), Kind(count: 30, campaign: "spring", services: ["wns"]),
    ]

    private static let cases = [
        Case(
            testDescription: "one service writes nonsense",
            failed: [
                Kind(count: 62, source: "billing", reason: "invalid", detail: "sms is not allowed"),
                Kind(count: 38, source: "billing", reason: "malformed", detail: "no JSON"),
            ], delivered: usual,
            words: "all from source billing; 62 % invalid; 62 % 'sms is not allowed'; 100 users",
            condition: "source = 'billing'"),
        Case(
            testDescription: "a push service is dead",
            failed: [Kind(count: 1_311, services: ["wns"], reason: "attempts-exhausted", status: 500)],
            delivered: [Kind(count: 100)], words: "all for wns; all with status 500; 1\u{A0}311 users",
            condition: "pns = 'wns' and status = 500"),
        Case(
            testDescription: "users of one kind are rejected",
            failed: [Kind(count: 30, status: 404, user: { "ok-7\($0)" })],
            delivered: [Kind(count: 100, user: { "ok-1\($0)" })],
            words: "all are users ok-7…; all with status 404; 30 users", condition: "status = 404"),
        Case(
            testDescription: "most of the users are of one kind",
            failed: [
                Kind(count: 95, status: 404, user: { "ok-7\($0)" }), Kind(count: 5, status: 404, user: { "x\($0)" }),
            ], delivered: [Kind(count: 100, user: { "ok-1\($0)" })],
            words: "95 % of the users are ok-7…; all with status 404; 100 users", condition: "status = 404"),
        Case(
            testDescription: "a user's name is cut where a character ends",
            failed: [Kind(count: 30, status: 404, user: { "größeé\($0)" })], delivered: usual,
            words: "all are users größe…; all with status 404; 30 users", condition: "status = 404"),
        Case(
            testDescription: "one user", failed: [Kind(count: 30, status: 410, user: { _ in "ann" })],
            delivered: usual, words: "all with status 410; 1 user", condition: "status = 410"),
        Case(
            testDescription: "one campaign", failed: [Kind(count: 20, campaign: "it's", reason: "expired")],
            delivered: usual, words: "all of campaign it's; all expired; 20 users",
            condition: "campaign = 'it''s' and reason = 'expired'"),
        Case(
            testDescription: "mixed causes of everybody",
            failed: [Kind(count: 40, status: 400), Kind(count: 30, status: 404), Kind(count: 30, status: 503)],
            delivered: usual, words: nil, condition: nil),
        Case(
            testDescription: "everything the same as what was delivered", failed: [Kind(count: 50)],
            delivered: [Kind(count: 50)], words: nil, condition: nil),
        Case(
            testDescription: "half of what was delivered has it, too",
            failed: [Kind(count: 60, source: "billing"), Kind(count: 40)],
            delivered: [Kind(count: 50, source: "billing"), Kind(count: 50)], words: nil, condition: nil),
        Case(
            testDescription: "nothing to compare with",
            failed: [
                Kind(count: 90, services: ["apns", "gcm"], status: 503, user: { "ok-7\($0)" }),
                Kind(count: 10, source: "billing", services: ["apns"], status: 503, user: { "ok-7\($0)" }),
            ], delivered: [], words: "all with status 503; 100 users", condition: "status = 503"),
        Case(
            testDescription: "each letter is for two push services, each result for one",
            failed: [Kind(count: 80, services: ["apns", "gcm"], status: 400)],
            delivered: [Kind(count: 100), Kind(count: 100, services: ["gcm"])],
            words: "all with status 400; 80 users", condition: "status = 400"),
        Case(
            testDescription: "half of the letters are for another push service",
            failed: [Kind(count: 300, status: 400), Kind(count: 300, services: ["gcm"], status: 400)],
            delivered: [Kind(count: 100, services: ["wns"])], words: "all with status 400; 600 users",
            condition: "status = 400"),
        Case(
            testDescription: "few are for a push service, and of the others it is not known",
            failed: [
                Kind(count: 2, source: "crm", reason: "rejected"),
                Kind(count: 5, source: "crm", services: [], reason: "invalid"),
                Kind(count: 4, source: nil, services: [], reason: "malformed"),
            ], delivered: [Kind(count: 100, services: ["gcm"])], words: "63 % from source crm; 11 users", condition: nil
        ),
        Case(
            testDescription: "most are for one push service, and of the others it is not known",
            failed: [Kind(count: 8, status: 404), Kind(count: 4, services: [], reason: "malformed")],
            delivered: [Kind(count: 100, services: ["gcm"])], words: "66 % for apns; 66 % with status 404; 12 users",
            condition: nil),
        Case(
            testDescription: "five of six from one source, which is a third of the deliveries",
            failed: [Kind(count: 5, source: "bank", status: 403), Kind(count: 1, status: 403)],
            delivered: [Kind(count: 40, source: "bank"), Kind(count: 80)], words: "all with status 403; 6 users",
            condition: "status = 403"),
        Case(
            testDescription: "as large a part of more letters",
            failed: [Kind(count: 15, source: "bank", status: 403), Kind(count: 3, status: 403)],
            delivered: [Kind(count: 40, source: "bank"), Kind(count: 80)],
            words: "83 % from source bank; all with status 403; 18 users", condition: "status = 403"),
        Case(
            testDescription: "all of four for a push service that has a quarter of the deliveries",
            failed: [Kind(count: 4, services: ["gcm"], status: 403)], delivered: usual,
            words: "all with status 403; 4 users", condition: "status = 403"),
        Case(
            testDescription: "so few that they would be alike without deliveries, too",
            failed: [Kind(count: 9, services: ["gcm"], status: 403)], delivered: [],
            words: "all with status 403; 9 users", condition: "status = 403"),
        Case(
            testDescription: "text that steers",
            failed: [Kind(count: 20, source: "a\u{202E}b", reason: "invalid")], delivered: usual,
            words: "all from source a\\u{202E}b; all invalid; 20 users", condition: "reason = 'invalid'"),
    ]

    @Test("has only traits that deliveries lack", arguments: cases)
    func pattern(_ example: Case) throws {
        let pattern = try #require(
            FailurePattern(failed: Self.tally(example.failed), delivered: Self.tally(example.delivered)))
        #expect(pattern.words() == example.words)
        #expect(pattern.condition == example.condition)
    }

    @Test("is nil without failures")
    func none() {
        #expect(FailurePattern(failed: TraitTally(), delivered: Self.tally(Self.usual)) == nil)
    }

    @Test("is found among any number of values and users, in bounded memory")
    func bounded() throws {
        var failed = TraitTally()
        for number in 0..<120_000 {
            var traits = NotificationTraits()
            traits.detail = number % 3 == 0 ? "answer \(number)" : "sms is not allowed"
            traits.source = "source-\(number)"
            traits.user = UserMark("user-\(number)")
            failed.add(traits, at: WallTime(milliseconds: Int64(number)))
        }
        let pattern = try #require(FailurePattern(failed: failed, delivered: Self.tally(Self.usual)))
        #expect(pattern.words() == "66 % 'sms is not allowed'; more than 50\u{A0}000 users")
        #expect(failed.starts.count == 512 && pattern.first == WallTime(milliseconds: 0))
    }

    @Test("leaves out the parts already in the sentence")
    func without() throws {
        let failed = Self.tally([Kind(count: 20, services: ["wns"], status: 500)])
        let pattern = try #require(FailurePattern(failed: failed, delivered: TraitTally()))
        #expect(pattern.words(without: .service) == "all from source shop; all with status 500; 20 users")
    }
}
