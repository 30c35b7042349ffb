import HeraldHub
import HeraldText
import Testing

@testable import HeraldSandbox

@Suite("Tag expressions")
struct TagExpressionTests {
    @Test(
        "reach the users they name, && before ||",
        arguments: [
            ("a", true), ("c", false), ("a||c", true), ("c || d", false), ("a && b", true), ("a&&c", false),
            ("!c", true), ("!a", false), ("a && !c", true), ("(a || c) && (c || d)", false), ("c && d || a", true),
            ("a || c && d", true), ("!(a && c)", true), ("!!a", true), ("  a  ", true), ("A", false),
            ("username:x@y.z-1#_", false),
        ])
    func matches(text: String, expected: Bool) throws {
        #expect(try TagExpression(parsing: text).matches(["a", "b"]) == expected)
    }

    @Test(
        "are refused when they cannot be read",
        arguments: [
            "", " ", "a b", "a |", "a ||", "|| a", "a && ", "(a", "a)", "()", "!", "a | b", "a & b", "jos\u{E9}", "a/b",
            "a*", "$a", "$Tenant:{1}", "$InstallationId:x", String(repeating: "t", count: 121),
            String(repeating: "(", count: 100) + "a" + String(repeating: ")", count: 100),
        ])
    func mistakes(text: String) {
        #expect(throws: InvalidArgument.self) { try TagExpression(parsing: text) }
    }

    @Test("have at most 20 tags with || alone, and 6 otherwise")
    func limits() throws {
        func joined(_ count: Int, _ word: String) -> String { (0..<count).map { "t\($0)" }.joined(separator: word) }
        _ = try TagExpression(parsing: joined(20, "||"))
        #expect(throws: InvalidArgument.self) { try TagExpression(parsing: joined(21, "||")) }
        _ = try TagExpression(parsing: joined(6, "&&"))
        #expect(throws: InvalidArgument.self) { try TagExpression(parsing: joined(7, "&&")) }
        _ = try TagExpression(parsing: "!a || " + joined(5, "||"))
        #expect(throws: InvalidArgument.self) { try TagExpression(parsing: "!a || " + joined(6, "||")) }
        _ = try TagExpression(parsing: "(\(joined(10, "||"))) || (\(joined(10, " || ")))")
    }

    @Test("accept system tags, which a registration must not have")
    func systemTags() throws {
        _ = try TagExpression(parsing: "$InstallationId:{a-b} || $UserId:{c}")
        #expect(throws: InvalidArgument.self) { try HubTags.checked(["$UserId:{c}"]) }
    }
}
