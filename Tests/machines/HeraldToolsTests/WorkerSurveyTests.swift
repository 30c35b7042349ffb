import HeraldTools
import Testing

@Suite("Asking workers")
struct WorkerSurveyTests {
    @Test(
        "A token is shown on this machine alone, whatever address a member of the group claims to have",
        arguments: [
            ("127.0.0.1:9464", true), ("[::1]:9464", true), ("192.0.2.1:9464", false), ("[2001:db8::1]:9464", false),
            ("127.evil.example:9464", false), ("localhost.evil.example:9464", false), ("", false),
        ])
    func own(address: String, isOwn: Bool) {
        #expect(WorkerSurvey.isOwn(address) == isOwn)
    }
}
