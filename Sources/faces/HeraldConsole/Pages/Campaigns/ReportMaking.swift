internal import HeraldCampaigns
internal import HeraldText
internal import HeraldTime
internal import HeraldTools

/// The progress of a campaign's report; the message's text is never in it.
struct ReportMaking: Sendable {
    var passed: Int64 = 0
    var total: Int64 = 0
    /// The page; `nil` until it is made.
    var page: [UInt8]?

    func json(_ name: String) -> JSONValue {
        [
            "state": page == nil ? "reading" : "done", "passed": .integer(Int(passed)), "total": .integer(Int(total)),
            "command": .words([
                "herald", "campaign", "report", name, "--html", "\(name).html", "--csv", "\(name).csv",
            ]),
            "unreached": .words([
                "herald", "campaign", "report", name, "--not-reached", "\(name).not-reached.csv", "--audience",
                "AUDIENCE",
            ]),
        ]
    }

    static func make(_ name: String, _ service: CampaignService, _ work: AskedTasks<ReportMaking>.Work) throws {
        var making = ReportMaking()
        func show(_ passed: Int64, _ total: Int64) -> Bool {
            (making.passed, making.total) = (passed, total)
            work.publish(making)
            return work.isWanted
        }
        let (context, layout) = (service.context, try service.layout())
        let campaign = try CampaignService.campaign(name, in: try service.index(layout))
        guard let definition = campaign.definition else {
            throw ToolFailure("campaign \(name) was not started with herald campaign start: there is nothing to report")
        }
        let status = try context.statuses(of: [campaign], layout, onProgress: show)[0].status
        var report = CampaignReport(definition, now: SystemClock.wall())
        let reader = try context.outcomes(of: [.init(definition)], layout)
        defer { reader.close() }
        guard try reader.catchUp(onProgress: show, onResult: { report.add($0) }) else { return }
        let feedback = try context.feedback(on: definition, layout, onProgress: show)
        let page = ReportPage(
            status, definition, report, isRevealed: false, feedback: feedback, deletedCount: reader.deletedCount)
        making.page = Array(page.html.utf8)
        work.publish(making)
    }
}
