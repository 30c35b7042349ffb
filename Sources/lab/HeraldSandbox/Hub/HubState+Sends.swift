internal import HeraldBytes
import HeraldHTTP

extension HubState {
    private static var testDeviceLimit: Int { 10 }

    /// Accepts or refuses a send: too large, not in this tier, too many, or wrong for its push service.
    mutating func send(
        _ notification: HubNotification, _ kind: HubSend.Kind, record: inout HubSend?, _ context: Context
    ) -> Reply {
        if let refusal = refusal(of: notification, kind, context) { return refusal }
        if let moment = notification.scheduledAt {
            return schedule(notification, at: moment, record: &record, context)
        }
        let id = settings.tier.hasTelemetry ? newMessageID(at: context.time) : nil
        let results = carryOut(notification, messageID: id, at: context.time)
        record?.outcomes = results.counts
        record?.isCarriedOut = true
        record?.messageID = id
        var reply: Reply = notification.isTest ? .xml(results.xml, status: 201) : .xml(status: 201)
        if let id {
            reply.headers.append(name: "Location", value: "\(context.hubURL)/messages/\(id)?api-version=2020-06")
        }
        return reply
    }

    private mutating func refusal(
        of notification: HubNotification, _ kind: HubSend.Kind, _ context: Context
    ) -> Reply? {
        guard notification.body.count <= HubNotification.limitBytes else {
            return .failure(413, "The notification is larger than \(HubNotification.limitBytes) bytes")
        }
        guard kind != .batch || settings.tier.hasBatches else {
            return .failure(403, "Batches need the Basic or the Standard tier")
        }
        if settings.guesses.refusesGCM, notification.platform == .gcm {
            return .failure(400, "The format gcm is not supported any more: use fcmv1")
        }
        if settings.guesses.refusesLargePayloads, let platform = notification.platform,
            HubDelivery(platform: platform, headers: notification.headers, body: notification.body, at: context.time)
                .isTooLarge
        {
            return .failure(400, "The notification is too large for its push service")
        }
        return limits.refusal(isTest: notification.isTest, at: context.now)
    }

    /// Hands a notification to the push services and returns their answers.
    mutating func carryOut(_ notification: HubNotification, messageID: String?, at time: Int64) -> SendResults {
        var targets = targets(of: notification, at: time)
        if notification.isTest { targets = draw(targets, Self.testDeviceLimit) }
        var seen: Set<String> = []
        let results = SendResults(
            targets.map { target in
                guard seen.insert("\(target.platform) \(target.handle) \(target.template?.name ?? "")").inserted else {
                    return (target, "Skipped")
                }
                return (target, deliver(notification, to: target, messageID, at: time))
            })
        limits.count(pushes: targets.count)
        return results
    }

    private func targets(of notification: HubNotification, at time: Int64) -> [HubRegistration] {
        guard case .handles(let handles) = notification.audience, let platform = notification.platform else {
            return registrations.targets(of: notification, at: time)
        }
        return handles.map { handle in
            let kept = try? HubRegistration.normalised(handle, of: platform)
            return HubRegistration(platform: platform, handle: kept ?? handle, tags: [])
        }
    }

    private mutating func deliver(
        _ notification: HubNotification, to target: HubRegistration, _ messageID: String?, at time: Int64
    ) -> String {
        let delivery = notification.delivery(to: target, at: time)
        guard !delivery.isTooLarge else { return "InvalidNotificationSize" }
        let outcome = outcome(for: target)
        if outcome == "Success" {
            inbox.receive(delivery, on: target.handle)
        } else if HubOutcomeRule.endsRegistration(outcome) {
            registrations.delete(target.id)
            if let id = target.installation { installations[id]?.expirePushChannel() }
            if settings.tier.hasTelemetry { feedback.report(target, outcome, messageID: messageID, at: time) }
        }
        return outcome
    }
}

/// The push services' answer for each device.
struct SendResults {
    private let results: [(target: HubRegistration, outcome: String)]

    init(_ results: [(HubRegistration, String)]) { self.results = results }

    var counts: [HubPlatform: [String: Int]] {
        results.reduce(into: [:]) { $0[$1.target.platform, default: [:]][$1.outcome, default: 0] += 1 }
    }

    /// The answer to a test send.
    var xml: String {
        let good = results.count { $0.outcome == "Success" }
        let list = results.map { target, outcome in
            let sentence =
                outcome == "Success"
                ? "The Notification was successfully sent to the Push Notification System"
                : "The Push Notification System answered: \(outcome)"
            return "<RegistrationResult>\(HubXML.element("ApplicationPlatform", target.platform.format))"
                + HubXML.element("PnsHandle", target.handle) + HubXML.element("RegistrationId", target.id)
                + HubXML.element("Outcome", sentence) + "</RegistrationResult>"
        }
        return "<NotificationOutcome xmlns=\"\(HubXML.serviceBus)\" xmlns:i=\"\(HubXML.instance)\">"
            + HubXML.element("Success", "\(good)") + HubXML.element("Failure", "\(results.count - good)")
            + "<Results>\(list.joined())</Results></NotificationOutcome>"
    }
}
