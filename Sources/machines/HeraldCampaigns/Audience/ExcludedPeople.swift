internal import HeraldBytes
package import HeraldEvents
package import HeraldText
internal import HeraldTime
package import HeraldTools

/// People whom a campaign leaves out, each with the first of the reasons for it, in 10 to 13 bytes: pure.
package struct ExcludedPeople: Sendable {
    /// Files and campaigns together, and a time, that one start names at most.
    package static let mostReasons = 100

    /// The marks are the reason's number, from 1.
    private var set = RecipientSet()

    package init() {}

    package var count: Int { self.set.count }

    /// Leaves somebody out for the reason with this number.
    package mutating func add(_ id: RecipientID, for reason: Int) {
        let number = UInt8(reason + 1)
        let former = set.marks(of: id)
        if former.isEmpty || number < former.rawValue { set.assign(RecipientSet.Marks(rawValue: number), to: id) }
    }

    /// The number of the reason for which somebody is left out; `nil` for a recipient.
    package func reason(for id: RecipientID) -> Int? {
        guard count > 0 else { return nil }
        let marks = set.marks(of: id)
        return marks.isEmpty ? nil : Int(marks.rawValue) - 1
    }
}

/// Which results leave somebody out: pure.
package struct DeliveredPeople {
    private let ids: RecipientIDs
    private let numbers: [String: Int]
    private let since: (moment: WallTime, number: Int)?
    private let starts: [Int32: Int64]
    private let ends: [Int32: Int64]

    /// - Parameters:
    ///   - exclusions: what was named, with the results that count.
    ///   - campaign: the one that leaves them out.
    package init(_ exclusions: CampaignExclusions, campaign: String) {
        ids = RecipientIDs(campaign: campaign)
        let first = exclusions.files?.count ?? 0
        let names = exclusions.campaigns ?? []
        numbers = Dictionary(names.enumerated().map { ($0.element, first + $0.offset) }) { number, _ in number }
        since = exclusions.deliveredSince.map { (WallTime(milliseconds: $0), first + names.count) }
        starts = SoundNumber.byNumber(exclusions.resultStarts ?? [:])
        ends = SoundNumber.byNumber(exclusions.resultEnds ?? [:])
    }

    /// Takes the result at this place.
    package func add(_ result: NotificationResult, partition: Int32, offset: Int64, to people: inout ExcludedPeople) {
        guard result.outcome.standing == .reached, let user = result.user, let campaign = result.campaign,
            let start = starts[partition], start <= offset, offset < ends[partition] ?? .max
        else { return }
        var reason = numbers[campaign]
        if let since, reason == nil, result.completedAt >= since.moment { reason = since.number }
        if let reason { people.add(ids.id(of: Array(user.utf8).span.bytes), for: reason) }
    }
}

/// A file whose users a campaign leaves out.
package struct ExclusionFile: Sendable {
    /// What it is called, without its folder.
    package let name: String
    private let audience: Audience

    /// Opens a file; it is recognised as an audience is.
    ///
    /// - Parameters:
    ///   - form: of the campaign's audience: its users' column if this file has it, too, and its encoding if this file is
    ///     no UTF-8.
    ///   - directory: where a copy of what is in another encoding goes.
    package init(_ source: SpooledFile, name: String, form: AudienceForm, copyingInto directory: String) throws {
        let own = form.ofExclusion
        self.name = String(name.split(separator: "/").last ?? "")
        do {
            var audience = try Audience(source, name: name, own, copyingInto: directory)
            if own.userColumn != nil, audience.format == .csv, (try? Self.reader(audience)) == nil {
                var plain = own
                plain.userColumn = nil
                audience = try Audience(source, name: name, plain, copyingInto: directory)
            }
            self.audience = audience
        } catch {
            throw Self.failure(name, error)
        }
    }

    private static func reader(_ audience: Audience) throws -> AudienceReader {
        try AudienceReader(audience, fields: [], isOptional: []) { _ in "list" }
    }

    private static func failure(_ name: String, _ error: any Error) -> ToolFailure {
        ToolFailure("\(SafeText.quoted(name)), whose users are to be left out, cannot be read as an audience: \(error)")
    }

    /// Reads it to its end.
    ///
    /// - Parameters:
    ///   - reason: its number.
    ///   - onProgress: how many bytes were passed; `false` ends it.
    /// - Returns: what it is, and how many of its lines are no users; `nil` when it was ended.
    package func read(
        into people: inout ExcludedPeople, for reason: Int, campaign: String, users rule: UserRule,
        onProgress: (Int, Int) -> Bool = { _, _ in true }
    ) throws -> (file: CampaignExclusions.File, invalid: Int)? {
        let ids = RecipientIDs(campaign: campaign)
        var (count, invalid, lines) = (0, 0, 0)
        var mark = AudienceMark()
        var user: [UInt8] = []
        do {
            var reader = try Self.reader(audience)
            lines: while true {
                lines += 1
                if lines % 4_096 == 0, !onProgress(reader.passedCount, audience.byteCount) { return nil }
                switch try reader.next() {
                case .end: break lines
                case .wrong: invalid += 1
                case .good:
                    user.removeAll(keepingCapacity: true)
                    reader.append(0, to: &user)
                    user = Array(user[CellPadding.trimmed(0..<user.count, of: user.span.bytes)])
                    guard rule.problem(in: user.span.bytes) == nil else {
                        invalid += 1
                        continue
                    }
                    let id = ids.id(of: user.span.bytes)
                    mark.add(id)
                    people.add(id, for: reason)
                    count += 1
                }
            }
        } catch {
            throw Self.failure(name, error)
        }
        guard audience.isUnchanged else { throw AudiencePreview.changed }
        guard count > 0 else {
            throw ToolFailure(
                "\(SafeText.quoted(name)) has no users who could be left out"
                    + (invalid > 0 ? "; \(CampaignWords.counted(invalid, "line")) of it are none" : ""))
        }
        return (CampaignExclusions.File(name: name, users: count, mark: mark.text), invalid)
    }

    /// Whether it is the audience itself.
    package func isSameFile(as path: String) -> Bool { audience.isSameFile(as: path) }
}
