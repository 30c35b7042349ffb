import Foundation
import HeraldTelemetry
import HeraldTime
import TestSupport
import Testing

@testable import HeraldAdmin

@Suite("The client certificate for the brokers")
struct ClientCertificateTests {
    private static let now = WallTime(milliseconds: 1_800_000_000_000)

    private static func facts(daysLeft: Int64, inFile: Int64? = nil) -> ClientCertificate.Facts {
        ClientCertificate.Facts(
            inUseUntil: now.advanced(by: .days(daysLeft)),
            inFileUntil: now.advanced(by: .days(inFile ?? daysLeft)))
    }

    @Test("From a week before its end the log warns once a day, and each hour after its end")
    func warnings() {
        var notices = CertificateNotices()
        let facts = Self.facts(daysLeft: 8)
        #expect(notices.next(facts, now: Self.now) == nil)
        var days: [Int64] = []
        for hour in 0..<10 * 24 {
            let now = Self.now.advanced(by: .hours(hour))
            guard let notice = notices.next(facts, now: now) else { continue }
            if notice.level == .warning { days.append(Int64(hour) / 24) }
            #expect(notice.level == (hour < 8 * 24 ? .warning : .error))
            #expect(notice.sentence.contains("renew it, and restart the worker"))
        }
        #expect(days == [1, 2, 3, 4, 5, 6, 7])
        let end = Self.now.advanced(by: .days(20))
        #expect(notices.next(facts, now: end)?.level == .error)
        #expect(notices.next(facts, now: end.advanced(by: .milliseconds(3_599_999))) == nil)
        #expect(notices.next(facts, now: end.advanced(by: .hours(1)))?.level == .error)
    }

    @Test("A renewed one in the file is logged once, with advice to restart; a late one is logged at once")
    func renewed() {
        var notices = CertificateNotices()
        let early = notices.next(Self.facts(daysLeft: 30, inFile: 120), now: Self.now)
        #expect(early?.level == .info && early?.sentence.contains("restart the worker before that") == true)
        #expect(notices.next(Self.facts(daysLeft: 30, inFile: 120), now: Self.now) == nil)
        #expect(notices.next(Self.facts(daysLeft: 30, inFile: 121), now: Self.now) != nil)

        var late = CertificateNotices()
        #expect(late.next(Self.facts(daysLeft: 3), now: Self.now)?.level == .warning)
        #expect(late.next(Self.facts(daysLeft: 3), now: Self.now) == nil)
        let notice = late.next(Self.facts(daysLeft: 3, inFile: 90), now: Self.now)
        #expect(notice?.level == .warning && notice?.sentence.contains("its file has one that is good until") == true)
        #expect(late.next(Self.facts(daysLeft: 3, inFile: 2), now: Self.now) != nil, "an older one is none")
    }

    @Test("Its end is read from the file, at the start and later on")
    func file() async throws {
        let certificates = try TestCertificates.shared()
        let file = FileManager.default.temporaryDirectory.appending(path: "certificate-\(UUID()).pem")
        defer { try? FileManager.default.removeItem(at: file) }
        try FileManager.default.copyItem(atPath: certificates.expired.certificateFile, toPath: file.path)
        let expired = try #require(try ClientCertificate(file: file.path, logger: .silent))
        expired.stop()
        #expect(expired.facts.inUseUntil < SystemClock.wall())
        let client = try #require(try ClientCertificate(file: certificates.client.certificateFile, logger: .silent))
        client.stop()
        #expect(client.facts.inUseUntil > SystemClock.wall() && client.facts.inFileUntil == client.facts.inUseUntil)
        #expect(try ClientCertificate(file: "/dev/null", logger: .silent) == nil)
    }
}
