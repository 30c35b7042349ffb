import HeraldEvents
import HeraldWorker

/// A worker's knowledge of campaigns.
extension SimulatedWorker {
    /// Tells its lanes a campaign's state.
    func hears(_ control: CampaignControl, of name: String) {
        log("hears that \(name) is \(control.state)")
        if let index = Simulation.campaign(named: name) { toldCampaigns[index] = control }
        tell(.campaign(name, control))
    }

    /// A campaign that is not running, as far as the worker knows, has no calls.
    func checkCampaign(_ name: RecordName, _ record: LogRecord) {
        guard let duty = record.duties.first, let index = simulation.checkers.duties[duty].campaign,
            let state = toldCampaigns[index]?.state, state != .running
        else { return }
        simulation.checkers.fail("\(simulation.checkers.text(name)) was called, and its campaign is \(state)")
    }
}
