import HeraldHTTP
import HeraldHub

extension HubState {
    mutating func giveID(_ context: Context) -> Reply {
        let address = "\(context.hubURL)/registrationids/\(newID())?api-version=2020-06"
        return Reply(status: 201, headers: ["Location": address, "Content-Location": address])
    }

    mutating func create(_ registration: HubRegistration, _ context: Context) -> Reply {
        let id = newID()
        var reply = put(registration, id: id, ifMatch: nil, context)
        if reply.status == 200 {
            reply.headers.append(
                name: "Content-Location", value: "\(context.hubURL)/registrations/\(id)?api-version=2020-06")
        }
        return reply
    }

    /// Creates or replaces a registration; with a condition it only replaces.
    mutating func put(
        _ registration: HubRegistration, id: String, ifMatch: String?, _ context: Context
    ) -> Reply {
        let former = registrations[id]
        if let ifMatch {
            guard let former else { return gone(id) ?? missing(id) }
            guard former.isMatched(by: ifMatch) else { return .failure(412, "The registration has another ETag") }
        }
        if let answer = gone(id) { return answer }
        guard (1...HubTags.lengthLimit).contains(id.utf8.count) else {
            return .failure(400, "The registration's id is empty or too long")
        }
        guard former != nil || registrations.hasRoom(for: 1) else {
            return .failure(403, "The hub has \(registrations.limit) registrations, more are not allowed")
        }
        return entry(registrations.put(registration, id: id, at: context.time), context)
    }

    func get(_ id: String, _ context: Context) -> Reply {
        guard let registration = registrations[id] else { return missing(id) }
        return entry(registration, context)
    }

    mutating func delete(_ id: String, ifMatch: String) -> Reply {
        guard let registration = registrations[id] else { return missing(id) }
        guard registration.isMatched(by: ifMatch) else { return .failure(412, "The registration has another ETag") }
        registrations.delete(id)
        return Reply(status: 200)
    }

    func list(_ query: RegistrationQuery, _ context: Context) -> Reply {
        let found = registrations.list(tag: query.tag, handle: query.handle, behind: query.behind)
        let page = Array(found.prefix(query.count))
        let address =
            query.tag.map { "\(context.hubURL)/tags/\($0)/registrations" } ?? "\(context.hubURL)/registrations"
        let token = page.count < found.count ? page.last.map { RegistrationQuery.token(behind: $0.number) } : nil
        let feed = HubXML.feed(
            page, hubURL: context.hubURL, address: address, next: token.map { query.address(address, $0) },
            at: context.time)
        var reply = Reply.text(feed, type: "application/atom+xml; type=feed; charset=utf-8")
        if let token { reply.headers.append(name: "x-ms-continuationtoken", value: token) }
        return reply
    }

    private func missing(_ id: String) -> Reply { .failure(404, "The registration \(id) does not exist") }

    private func gone(_ id: String) -> Reply? {
        registrations.wasDeleted(id) ? .failure(410, "The registration \(id) is gone: make a new one") : nil
    }

    private func entry(_ registration: HubRegistration, _ context: Context) -> Reply {
        var reply = Reply.text(
            HubXML.entry(registration, hubURL: context.hubURL, isAlone: true),
            type: "application/atom+xml; type=entry; charset=utf-8")
        if settings.guesses.hasETagHeader { reply.headers.append(name: "ETag", value: registration.etag) }
        return reply
    }
}
