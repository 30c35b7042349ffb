import HeraldCampaigns
import HeraldCore
import HeraldEvents
import HeraldTime
import HeraldWorker

/// Campaigns, and whoever pauses, resumes and cancels them.
extension Simulation {
    /// Nobody leaves a campaign paused for longer (milliseconds).
    private static let longestPause: Int64 = 900_000
    /// Workers have heard of a change within this time (milliseconds).
    private static let newsTime: Int64 = 1_000

    func startCampaigns() {
        guard scenario.campaignShare > 0 else { return }
        if let bound = scenario.pauseIfFailures {
            for index in 0..<Scenario.campaigns { set(.running, campaign: index, pauseIfFailures: bound) }
        }
        for _ in 0..<scenario.campaignChanges {
            schedule(.changeCampaign, after: chance[.campaign].between(10, 90_000))
        }
    }

    func changeCampaign() {
        let index = chance[.campaign].below(Scenario.campaigns)
        guard campaigns[index]?.state != .cancelled else { return }
        switch chance[.campaign].below(4) {
        case 0: set(.cancelled, campaign: index)
        case 1: set(.running, campaign: index, pauseIfFailures: scenario.pauseIfFailures)
        default: pause(index)
        }
    }

    func resume(_ index: Int) {
        // Without a bound from here on: or one whose events all fail would be paused for ever.
        if campaigns[index]?.state == .paused { set(.running, campaign: index) }
    }

    /// A worker says that too many failed.
    func fails(_ index: Int) {
        if index == Self.publishedCampaign { return write(.pause, isByFailures: true) }
        if campaigns[index]?.state == .running { pause(index) }
    }

    private func pause(_ index: Int) {
        set(.paused, campaign: index)
        let longest = chance[.campaign].pick([5_000, 60_000, Self.longestPause])
        schedule(.resumeCampaign(index), after: chance[.campaign].between(100, longest))
    }

    private func set(_ state: CampaignControl.State, campaign index: Int, pauseIfFailures: Double? = nil) {
        log("campaign \(index) is \(state)")
        let control = CampaignControl(
            state: state, at: WallTime(milliseconds: now), by: "somebody", pauseIfFailures: pauseIfFailures)
        announce(control, campaign: index, by: Process(.worker, 0))
    }

    /// Readers of the campaigns topic find what somebody has written, whose streams of chance say when.
    func announce(_ control: CampaignControl, campaign index: Int, by writer: Process) {
        campaigns[index] = control
        switch control.state {
        case .running: break
        case .paused: checkers.pausedCampaigns.insert(index)
        case .cancelled: checkers.cancelledCampaigns.insert(index)
        }
        for worker in workers where worker.isRunning {
            schedule(
                .news(worker.process, .campaign(index)), after: self[writer][.campaignNews].between(0, Self.newsTime))
        }
    }
}

extension SimulatedWorker {
    /// Reads what stands in the campaigns topic, before it takes anything.
    func readCampaigns() {
        toldCampaigns = [:]
        for index in simulation.campaigns.keys.sorted() { hear(ofCampaign: index) }
    }

    /// The topic keeps the order of what is written: whoever hears of a change late hears of the last.
    func hear(ofCampaign index: Int) {
        guard let control = simulation.campaigns[index] else { return }
        log("hears that campaign \(index) is \(control.state)")
        toldCampaigns[index] = control
        tell(.campaign(Scenario.campaignName(index), control))
    }

    /// No call of a campaign that does not run, as far as the worker knows.
    func checkCampaign(_ name: RecordName, _ record: LogRecord) {
        guard let duty = record.duties.first, let index = simulation.checkers.duties[duty].campaign,
            let state = toldCampaigns[index]?.state, state != .running
        else { return }
        simulation.checkers.fail("\(simulation.checkers.text(name)) was called, and its campaign is \(state)")
    }
}
