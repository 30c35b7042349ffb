import HeraldCampaigns
import HeraldEvents

/// The publishers' commits: each recipient's event once, together with the progress that counts it.
extension Simulation {
    func checkPublishing(of transaction: Transaction) {
        var events = 0
        var progress: CampaignProgress?
        let job = publishers.first { $0.isRunning && $0.client.epoch == transaction.epoch }
        let publisher = job?.process
        var names: [RecordName] = []
        for name in transaction.jobRecords {
            guard let record = cluster.record(name) else { continue }
            let topic = cluster.topics[name.place.topic]
            if scenario.topics.requests.contains(topic) {
                events += 1
                names.append(name)
                adopt(name, record)
            } else if topic == scenario.topics.campaigns {
                var index = CampaignIndex()
                index.add(key: record.key, value: record.value, place: "")
                let campaign = index.campaign(Self.campaignName)
                progress = campaign?.progress ?? progress
                if let definition = campaign?.definition { note(definition, by: job) }
                if let control = campaign?.control { note(control, at: name, by: publisher) }
            }
        }
        if events > 0, let publisher, publishing.hasEndedPause == publisher {
            checkers.fail("\(publisher) ends a pause that somebody wrote, and publishes")
        }
        guard let progress else { return checkers.fail("a publisher commits \(events) events and no progress") }
        checkAudience(names, progress)
        if progress.published != publishing.published.count {
            checkers.fail("progress says \(progress.published), and \(publishing.published.count) are published")
        }
    }

    /// Only what is to begin later is replaced, before anybody is published, and only by one whose operator has seen it.
    private func note(_ definition: CampaignDefinition, by publisher: SimulatedCampaign?) {
        if let former = publishing.definition, former != definition {
            if !publishing.published.isEmpty {
                checkers.fail("the campaign is replaced, and \(publishing.published.count) are published")
            }
            if let publisher, publisher.replaces != former {
                checkers.fail("\(publisher.process) replaces a campaign that its operator has not seen")
            }
        }
        publishing.definition = definition
    }

    /// Whoever is published is in the audience that the campaign has, and gets its text.
    private func checkAudience(_ names: [RecordName], _ progress: CampaignProgress) {
        let audience = progress.audience.flatMap { publishing.audiences[$0] } ?? []
        for name in names {
            guard let record = cluster.record(name) else { continue }
            if !audience.contains(record.user) {
                checkers.fail("user \(record.user) is published, and not in the campaign's audience")
            }
            let text = String(decoding: record.value ?? [], as: UTF8.self)
            if let message = publishing.definition?.message, !text.contains("\"\(message)\"") {
                checkers.fail("user \(record.user) gets another text than the campaign has")
            }
        }
    }

    /// Only an operator ends a pause: a publisher that ended one without knowing of it takes that back.
    ///
    /// A late commit may be located before later records, and then has no effect any more.
    private func note(_ control: CampaignControl, at name: RecordName, by publisher: Process?) {
        if let last = publishing.lastControlName, last.place == name.place, last.offset > name.offset { return }
        publishing.lastControlName = name
        let endsPause = control.state == .running && publishing.lastControl?.state == .paused
        (publishing.lastControl, publishing.hasEndedPause) = (control, endsPause ? publisher : nil)
    }

    /// Adds a recipient's event to those that have to get results.
    private func adopt(_ name: RecordName, _ record: LogRecord) {
        if !publishing.published.insert(record.user).inserted {
            checkers.fail("user \(record.user) is notified twice: \(checkers.text(name))")
        }
        let text = String(decoding: record.value ?? [], as: UTF8.self)
        let services = scenario.pushServices.names.indices.filter {
            text.contains("\"\(scenario.pushServices.names[$0])\"")
        }
        cluster[name.place].records[Int(name.offset)].duties = checkers.published(
            name, record, services: Array(services), campaign: Self.publishedCampaign,
            subject: Subject(isPromotional: scenario.isPromotional(topic: scenario.topics.requests.count - 1)))
    }

    /// Checks a publisher's report that all is published, and all outcomes are known.
    func checkComplete(_ users: Set<Int>, by process: Process) {
        for user in users.subtracting(publishing.published).sorted() {
            checkers.fail("\(process) is complete, and user \(user) was not notified")
        }
        // At least once, a repeated result makes up for a missing one.
        guard scenario.isAtomic else { return }
        for (index, duty) in checkers.duties.enumerated()
        where duty.campaign == Self.publishedCampaign && duty.origin == duty.source && duty.finals.isEmpty
            && !duty.isGone
        {
            checkers.fail("\(process) is complete, and \(checkers.text(index)) has no outcome")
        }
    }
}
