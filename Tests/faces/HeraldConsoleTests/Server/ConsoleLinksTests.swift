import Testing

@testable import HeraldConsole

@Suite("Links to traces and alerts")
struct ConsoleLinksTests {
    @Test(
        "name a web address with the placeholder after the host",
        arguments: [
            ("https://traces.example.com/trace/{traceId}", true), ("http://localhost:3000/explore?q={traceId}", true),
            ("https://traces.example.com/#/{traceId}/x", true),
            ("https://traces.example.com/trace", false), ("javascript:alert('{traceId}')", false),
            ("https://{traceId}/", false), ("https://{traceId}.example.com/{traceId}", false),
            ("https://traces.example.com{traceId}", false), ("//traces.example.com/{traceId}", false),
            ("https:///{traceId}", false), ("", false),
        ])
    func templates(_ text: String, _ isOne: Bool) {
        #expect(ConsoleLinks.isTemplate(text, naming: ConsoleLinks.traceName) == isOne)
    }
}
