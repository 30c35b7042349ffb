import HeraldCommandLine
import HeraldEvents
import HeraldText
import HeraldTools

/// The output of `herald publish`: a record for each event, or with `--wait` for each event and push service.
///
/// A failing output does not end the publishing; the failure is reported at the end.
struct PublishOutput {
    private var writer: RecordWriter
    private let hasLines: Bool
    /// The word for an outcome.
    private let name: (Outcome) -> String
    private var failure: (any Error)?
    /// Whether all published events were delivered.
    var isAllDelivered: Bool { undelivered == nil }
    /// The last undelivered one.
    private(set) var undelivered: PublicationTracker.Entry?
    /// What some were delivered without.
    private(set) var omitted: ContentFields = []

    init(
        _ format: OutputFormat, hasLines: Bool, hasOutcomes: Bool,
        naming name: @escaping (Outcome) -> String = \.rawValue,
        console: Console
    ) {
        (self.hasLines, self.name) = (hasLines, name)
        var columns: [RecordWriter.Column] = hasLines ? [.init("line", isNumber: true)] : []
        columns += [
            .init("id"), .init("user"), .init("topic"), .init("partition", isNumber: true),
            .init("offset", isNumber: true),
        ]
        if hasOutcomes {
            columns += [
                .init("pns"), .init("outcome"), .init("status", isNumber: true), .init("reason"),
                .init("attempts", isNumber: true), .init("firstOutcome", heading: "FIRST OUTCOME", isForWide: true),
                .init("omitted", isForWide: true), .init("detail", isElastic: true),
            ]
        }
        writer = RecordWriter(format, columns: columns, console: console)
    }

    mutating func write(_ publication: EventPublisher.Publication) { write(values(publication)) }

    mutating func write(_ entry: PublicationTracker.Entry) {
        let result = entry.result
        if !entry.isDelivered { undelivered = entry }
        omitted.formUnion(result?.omitted ?? [])
        write(
            values(entry.publication) + [
                .string(Self.requestedName(entry)), .string(result.map { name($0.outcome) } ?? "pending"),
                result?.status.map(JSONValue.integer) ?? .null,
                .text(result?.reasonName ?? entry.quietUntil.map { _ in RetryReason.quietHours.rawValue }),
                result?.attempts.map(JSONValue.integer) ?? .null, .text(result?.firstOutcome?.rawValue),
                .text(result.flatMap { $0.omitted.isEmpty ? nil : $0.omitted.words }),
                .text(result?.detail ?? entry.quietUntil.map { "its user's quiet hours last until \($0.text)" }),
            ])
    }

    /// The push service by the event's name for it, such as `fcm`, even if the backend's differs.
    private static func requestedName(_ entry: PublicationTracker.Entry) -> String {
        guard let result = entry.result, result.pushService == entry.pushService else { return entry.pushService }
        return result.requestedPushServices.first ?? entry.pushService
    }

    mutating func finish() throws {
        if let failure { throw failure }
        try writer.finish()
    }

    private func values(_ publication: EventPublisher.Publication) -> [JSONValue] {
        let (event, place) = (publication.event, publication.place)
        return (hasLines ? [.integer(event.line)] : []) + [
            .string(event.id ?? place.description), .string(event.user), .string(place.topic),
            .integer(Int(place.partition)), .integer(Int(place.offset)),
        ]
    }

    private mutating func write(_ values: [JSONValue]) {
        guard failure == nil else { return }
        do {
            try writer.write(values)
        } catch {
            failure = error
        }
    }
}
