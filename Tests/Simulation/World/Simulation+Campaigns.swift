import HeraldCampaigns
import HeraldCore
import HeraldEvents
import HeraldKafka
import HeraldTime
import HeraldWorker

/// The knowledge of readers of the campaigns topic.
struct KnownCampaigns {
    /// The next offset of each partition.
    var positions: [Int64] = []
    var index = CampaignIndex()
}

/// Campaigns, and operators that pause, resume and cancel them.
extension Simulation {
    /// The longest pause of a campaign (milliseconds).
    private static let longestPause: Int64 = 900_000
    /// Workers apply a change within this time (milliseconds).
    private static let newsTime: Int64 = 1_000
    /// The time until an operator tries again (milliseconds).
    private static let patience: Int64 = 1_000

    func startCampaigns() {
        known.positions = campaignsPlaces.map { _ in 0 }
        guard scenario.campaignShare > 0 else { return }
        if let bound = scenario.pauseIfFailures {
            for index in 0..<Scenario.campaigns { _ = set(.running, campaign: index, pauseIfFailures: bound) }
        }
        for _ in 0..<scenario.campaignChanges {
            schedule(.changeCampaign, after: chance[.campaign].between(10, 90_000))
        }
    }

    // MARK: Operators

    func changeCampaign() {
        let index = chance[.campaign].below(Scenario.campaigns)
        guard campaigns[index]?.state != .cancelled else { return }
        switch chance[.campaign].below(4) {
        case 0: _ = set(.cancelled, campaign: index)
        case 1: _ = set(.running, campaign: index, pauseIfFailures: scenario.pauseIfFailures)
        default: _ = set(.paused, campaign: index)
        }
    }

    func resume(_ index: Int) {
        guard campaigns[index]?.state == .paused else { return }
        // Without a limit from now on: otherwise a campaign whose events all fail would be paused for ever.
        if !set(.running, campaign: index) { schedule(.resumeCampaign(index), after: Self.patience) }
    }

    private func set(_ state: CampaignControl.State, campaign index: Int, pauseIfFailures: Double? = nil) -> Bool {
        let name = Scenario.campaignName(index)
        let key = state == .cancelled ? CampaignControl.cancellationKey(of: name) : CampaignControl.key(of: name)
        let control = CampaignControl(
            state: state, at: WallTime(milliseconds: now), by: "somebody", pauseIfFailures: pauseIfFailures)
        let place = place(ofControl: key)
        guard isReachable(place) else { return false }
        log("somebody says that campaign \(index) is \(state)")
        append(control, under: key)
        return true
    }

    /// A worker is about to record a pause: an operator may record something else at this moment.
    func workerDecides(_ index: Int) {
        guard index < Scenario.campaigns, chance[.campaign].below(4) == 0 else { return }
        _ = set(.running, campaign: index, pauseIfFailures: scenario.pauseIfFailures)
    }

    // MARK: The campaigns topic

    /// The partitions of the campaigns topic; it does not grow, because its keys would change their partitions.
    var campaignsPlaces: [Place] {
        guard let topic = campaignsTopic else { return [] }
        return (0..<scenario.partitions).map { Place(topic: topic, partition: $0) }
    }

    func place(ofControl key: [UInt8]) -> Place {
        Place(topic: campaignsTopic ?? 0, partition: Int(key.last ?? 0) % scenario.partitions)
    }

    /// Adds a control record of an operator or a worker.
    func append(_ control: CampaignControl, under key: [UInt8]) {
        let place = place(ofControl: key)
        let record = LogRecord(key: key, value: control.encoded(), timestamp: now)
        let name = RecordName(place: place, offset: cluster.append(record, to: place))
        if key == CampaignControl.key(of: Self.campaignName) {
            (publishing.lastControl, publishing.hasEndedPause) = (control, nil)
            publishing.lastControlName = name
        }
        wake(place)
    }

    /// Reads the campaigns topic like all of its readers.
    func followCampaigns() {
        for (number, place) in campaignsPlaces.enumerated() {
            while let name = nextRecord(place, from: &known.positions[number]), let record = cluster.record(name) {
                known.index.add(key: record.key, value: record.value, place: checkers.text(name))
            }
        }
        for index in 0...Self.publishedCampaign {
            let control = known.index.campaign(Scenario.campaignName(index))?.control
            guard control != campaigns[index] else { continue }
            campaigns[index] = control
            heard(control?.state ?? .running, of: index)
        }
    }

    private func heard(_ state: CampaignControl.State, of index: Int) {
        switch state {
        case .running: break
        case .paused:
            checkers.pausedCampaigns.insert(index)
            guard index < Self.publishedCampaign else { return }
            let longest = chance[.campaign].pick([5_000, 60_000, Self.longestPause])
            schedule(.resumeCampaign(index), after: chance[.campaign].between(100, longest))
        case .cancelled: checkers.cancelledCampaigns.insert(index)
        }
    }

    /// Wakes readers because records may have become visible in the campaigns topic.
    func campaignsChanged() {
        followCampaigns()
        for worker in workers where worker.isRunning {
            schedule(
                .news(worker.process, .control(.records)),
                after: self[Process(.publisher, 0)][.campaignNews].between(0, Self.newsTime))
        }
    }

    /// Makes the topic unreadable or unwritable, or deletes it.
    func disturbCampaigns() {
        guard let topic = campaignsTopic else { return }
        // The publication of a campaign would be forgotten with the topic.
        switch chance[.campaignsTopic].below(publishers.isEmpty ? 3 : 2) {
        case 0:
            let place = chance[.campaignsTopic].pick(campaignsPlaces)
            let duration = chance[.campaignsTopic].between(500, 20_000)
            loseLeader(place, for: duration)
            schedule(.leaderBack(place), after: duration)
        case 1:
            refuseJobs(topic, for: chance[.campaignsTopic].between(500, 15_000))
        default: remakeCampaigns()
        }
    }

    /// Deletes the topic with all of its records, and recreates it some time later.
    private func remakeCampaigns() {
        for place in campaignsPlaces { cluster.empty(place) }
        known = KnownCampaigns(positions: campaignsPlaces.map { _ in 0 })
        remakes += 1
        campaignsMissingUntil = now + chance[.campaignsTopic].between(0, 10_000)
        log("the campaigns topic is deleted, and made anew \(campaignsMissingUntil - now) ms later")
        followCampaigns()
    }

    /// Writes a worker's pause of a campaign at the broker.
    func write(_ process: Process, _ request: ControlRequest) {
        let key = CampaignControl.key(of: request.campaign)
        let place = place(ofControl: key)
        guard campaignsMissingUntil <= now, campaignsTopic != nil else {
            return tell(process, .control(.written(KafkaError(code: KafkaError.Code.unknownTopicOrPartition))))
        }
        guard cluster[place].leaderlessUntil <= now else {
            return postpone(.control(request), of: process, until: cluster[place].leaderlessUntil)
        }
        guard !cluster.isRefusing(place.topic, now: now) else {
            return tell(process, .control(.written(.notTaken)))
        }
        log("\(process) writes that \(request.campaign) is \(request.control.state)")
        append(request.control, under: key)
        if request.isAcknowledgementLost {
            schedule(.news(process, .control(.written(.notTaken))), after: ControlRequest.patience)
        } else {
            tell(process, .control(.written(nil)))
        }
    }
}
