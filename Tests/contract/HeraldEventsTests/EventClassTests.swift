import HeraldEvents
import HeraldTime
import Testing

@Suite("An event's class")
struct EventClassTests {
    @Test(
        "is one of two words, or absent",
        arguments: [
            (#""transactional""#, EventClass.transactional), (#""promotional""#, .promotional), ("null", nil),
            (#""promotion\u0061l""#, .promotional),
        ])
    func valid(json: String, eventClass: EventClass?) {
        let decoding = Decoding(eventJSON(["class": json]))
        #expect(decoding.failure == nil)
        #expect(decoding.event.eventClass == eventClass)
        #expect(Decoding(eventJSON()).event.eventClass == nil)
    }

    @Test("is invalid otherwise, and the failure names both", arguments: [#""marketing""#, #""Promotional""#, #""""#])
    func invalid(json: String) {
        let failure = Decoding(eventJSON(["class": json])).failure
        #expect(failure?.reason == .invalid)
        #expect(failure?.detail == "class is no class of events; it has to be transactional or promotional")
        #expect(Decoding(eventJSON(["class": "7"])).failure?.detail == "class is a number; it has to be a string")
    }

    @Test("is read of a CloudEvent's data, and written by a publisher")
    func elsewhere() throws {
        let envelope =
            #"{"specversion":"1.0","type":"t","source":"s","id":"1","class":"transactional","data":"#
            + eventJSON(["class": #""promotional""#]) + "}"
        let structured = Decoding(envelope, headers: [("content-type", "application/cloudevents+json")])
        #expect(structured.failure == nil && structured.event.eventClass == .promotional)
        var event = NotificationEvent(user: "ann", message: "m", pushServices: ["apns"])
        event.eventClass = .promotional
        #expect(String(decoding: try event.encoded(), as: UTF8.self).contains(#""class":"promotional""#))
    }

    @Test("is compared by how strict it is")
    func stricter() {
        #expect(max(EventClass.transactional, .promotional) == .promotional)
        #expect(!(EventClass.promotional < .promotional))
    }
}

@Suite("A suppressed event's result")
struct SuppressedResultTests {
    @Test(
        "names who has said so as its reason, and a dead letter's stays a reason of dead letters",
        arguments: SuppressionReason.allCases)
    func reason(reason: SuppressionReason) throws {
        let event = Decoding(eventJSON())
        var output: [UInt8] = []
        ResultEncoder.append(
            ResultFacts(
                outcome: .suppressed, pushService: 0, suppression: reason, completedAt: WallTime(milliseconds: 0)),
            of: event.event, value: event.value.span.bytes, recordTopic: "t", pushServices: .standard, to: &output)
        let text = String(decoding: output, as: UTF8.self)
        #expect(text.contains(#""outcome":"suppressed","reason":"\#(reason.rawValue)""#))
        let result = try NotificationResult(decoding: output)
        #expect(result.outcome == .suppressed && result.suppression == reason && result.reason == nil)
        let wrong = text.replacing(reason.rawValue, with: "rejected")
        #expect(throws: (any Error).self) { try NotificationResult(decoding: Array(wrong.utf8)) }
    }

    @Test("is final, quiet, and no failure")
    func meaning() {
        let outcome = Outcome.suppressed
        #expect(outcome.standing == .ended && outcome.makesDuplicates && outcome.hasDetail && outcome.tone == .quiet)
        #expect(!outcome.isAlarming && !outcome.hasDeadLetter && outcome.replayEnd == .suppressed)
    }
}
