import HeraldTime

/// A message's telemetry in the hub's form.
struct NotificationDetails {
    /// The times between a send and its final state.
    struct Timing: Sendable {
        /// The time during which the hub does not know the message.
        var unknownTime: Milliseconds
        /// The time, counted from the send, during which its state is not final.
        var processingTime: Milliseconds
    }

    enum Answer: Equatable {
        case unknown
        case details(String)
    }

    let timing: Timing
    let guesses: HubGuesses

    /// The details of a send at a given time, in the order of the service's elements.
    func answer(for send: HubSend, location: String, at time: Int64) -> Answer {
        let start = send.dueAt ?? send.receivedAt
        let age = Milliseconds.milliseconds(time - start)
        guard send.dueAt != nil || age >= timing.unknownTime, let id = send.messageID else { return .unknown }
        let state = state(of: send, age: age)
        let isFinal = state == "Completed" || state == "NoTargetFound"
        var text = HubXML.element("NotificationId", id) + HubXML.element("Location", location)
        text += HubXML.element("State", state) + HubXML.element("EnqueueTime", HubTime.text(send.receivedAt))
        if isFinal || state == "Processing" { text += HubXML.element("StartTime", HubTime.text(start)) }
        if isFinal { text += HubXML.element("EndTime", HubTime.text(start + timing.processingTime.count)) }
        text += HubXML.element("NotificationBody", send.text)
        if let tags = send.tags { text += HubXML.element("Tags", tags) }
        if isFinal { text += counts(of: send) }
        return .details(
            "<NotificationDetails xmlns=\"\(HubXML.serviceBus)\" xmlns:i=\"\(HubXML.instance)\">"
                + "\(text)</NotificationDetails>")
    }

    private func state(of send: HubSend, age: Milliseconds) -> String {
        if send.isCancelled { return guesses.cancelledState }
        if send.dueAt != nil, !send.isCarriedOut { return "Scheduled" }
        if age < timing.processingTime {
            return age * 2 < timing.processingTime ? "Enqueued" : "Processing"
        }
        return send.outcomes.isEmpty ? "NoTargetFound" : "Completed"
    }

    private func counts(of send: HubSend) -> String {
        var outcomes = send.outcomes
        if outcomes.isEmpty, guesses.countsNoTargets, let platform = send.format.flatMap({ HubPlatform(format: $0) }) {
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
