import HeraldSettings
import HeraldTime
import Testing

@Suite("The system's time zones")
struct ZoneFolderTests {
    @Test("A user's zone has a name that means the same on each machine")
    func names() throws {
        let zones = try ZoneFolder.read()
        for name in ["Europe/Berlin", "Etc/UTC", "UTC"] { #expect(zones.number(of: name) != nil, "\(name)") }
        for name in ["localtime", "posixrules", "Factory"] { #expect(zones.number(of: name) == nil, "\(name)") }
    }
}
