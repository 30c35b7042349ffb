import HeraldEvents
import HeraldWorker

/// What a worker knows of campaigns.
extension SimulatedWorker {
    /// Its lanes hear what a campaign is to do.
    func hears(_ control: CampaignControl, of name: String) {
        log("hears that \(name) is \(control.state)")
        if let index = Simulation.campaign(named: name) { toldCampaigns[index] = control }
        tell(.campaign(name, control))
    }

    /// No call of a campaign that does not run, as far as the worker knows.
    func checkCampaign(_ name: RecordName, _ record: LogRecord) {
        guard let duty = record.duties.first, let index = simulation.checkers.duties[duty].campaign,
            let state = toldCampaigns[index]?.state, state != .running
        else { return }
        simulation.checkers.fail("\(simulation.checkers.text(name)) was called, and its campaign is \(state)")
    }
}
