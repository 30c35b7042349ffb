import HeraldTime

/// A message's telemetry in the hub's form.
extension HubSend {
    /// The details at a given time, in the order of the service's elements; `nil` while the hub does not know it.
    func details(_ settings: HubEmulator.Configuration, location: String, at time: Int64) -> String? {
        let start = dueAt ?? receivedAt
        let age = Milliseconds.milliseconds(time - start)
        guard dueAt != nil || age >= settings.unknownTime, let messageID else { return nil }
        let state = state(settings, age: age)
        let isFinal = state == "Completed" || state == "NoTargetFound"
        var content = HubXML.element("NotificationId", messageID) + HubXML.element("Location", location)
        content += HubXML.element("State", state) + HubXML.element("EnqueueTime", HubTime.text(receivedAt))
        if isFinal || state == "Processing" { content += HubXML.element("StartTime", HubTime.text(start)) }
        if isFinal { content += HubXML.element("EndTime", HubTime.text(start + settings.processingTime.count)) }
        content += HubXML.element("NotificationBody", text)
        if let tags { content += HubXML.element("Tags", tags) }
        if isFinal { content += counts(settings.guesses) }
        return "<NotificationDetails xmlns=\"\(HubXML.serviceBus)\" xmlns:i=\"\(HubXML.instance)\">"
            + "\(content)</NotificationDetails>"
    }

    private func state(_ settings: HubEmulator.Configuration, age: Milliseconds) -> String {
        if isCancelled { return settings.guesses.cancelledState }
        if dueAt != nil, !isCarriedOut { return "Scheduled" }
        if age < settings.processingTime { return age * 2 < settings.processingTime ? "Enqueued" : "Processing" }
        return outcomes.isEmpty ? "NoTargetFound" : "Completed"
    }

    private func counts(_ guesses: HubGuesses) -> String {
        var outcomes = outcomes
        if outcomes.isEmpty, guesses.countsNoTargets, let platform = format.flatMap({ HubPlatform(format: $0) }) {
            outcomes[platform] = ["NoTargets": 1]
        }
        let platforms = HubPlatform.allCases.filter { outcomes[$0] != nil }
        guard !platforms.isEmpty else { return "" }
        return HubXML.element("TargetPlatforms", platforms.map(\.format).joined(separator: ","))
            + platforms.map { platform in
                let name = "\(platform.names.counts)OutcomeCounts"
                let counts = (outcomes[platform] ?? [:]).sorted { $0.key < $1.key }.map { outcome, count in
                    "<Outcome>\(HubXML.element("Name", outcome))\(HubXML.element("Count", "\(count)"))</Outcome>"
                }
                return "<\(name)>\(counts.joined())</\(name)>"
            }.joined()
    }
}
