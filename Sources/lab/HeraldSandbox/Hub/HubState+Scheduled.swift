import HeraldHTTP

extension HubState {
    private static var scheduledLimit: Int { 10_000 }

    struct Scheduled: Sendable {
        let id: String
        let dueAt: Int64
        let notification: HubNotification
    }

    mutating func schedule(
        _ notification: HubNotification, at moment: Int64, record: inout HubSend?, _ context: Context
    ) -> Reply {
        guard settings.tier.hasTelemetry else { return .failure(403, "Scheduled sends need the Standard tier") }
        guard scheduled.count < Self.scheduledLimit else {
            return .failure(403, "The hub holds \(Self.scheduledLimit) scheduled sends, more are not allowed")
        }
        let id = newMessageID(at: context.time)
        record?.messageID = id
        record?.dueAt = moment
        let place = scheduled.firstIndex { $0.dueAt > moment } ?? scheduled.endIndex
        scheduled.insert(Scheduled(id: id, dueAt: moment, notification: notification), at: place)
        let address = "\(context.hubURL)/schedulednotifications/\(id)?api-version=2020-06"
        var reply = Reply.xml(status: 201)
        reply.headers.append(name: "Location", value: address)
        return reply
    }

    mutating func cancel(_ id: String) -> Reply {
        guard let place = scheduled.firstIndex(where: { $0.id == id }) else {
            return .failure(404, "The scheduled notification \(id) does not exist")
        }
        scheduled.remove(at: place)
        sends.update(id) { $0.isCancelled = true }
        return Reply(status: 200)
    }

    mutating func sendDue(_ time: Int64) {
        while let first = scheduled.first, first.dueAt <= time {
            scheduled.removeFirst()
            let outcomes = carryOut(first.notification, messageID: first.id, at: time).counts
            sends.update(first.id) { send in
                send.outcomes = outcomes
                send.isCarriedOut = true
            }
        }
    }
}
