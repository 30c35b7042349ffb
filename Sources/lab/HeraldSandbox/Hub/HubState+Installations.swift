import HeraldHTTP
import HeraldText
import HeraldTime

extension HubState {
    mutating func put(_ installation: HubInstallation, _ context: Context) -> Reply {
        let former = installations[installation.id]
        var installation = installation
        installation.visibleAt = former?.visibleAt ?? context.time + settings.guesses.installationDelay.count
        return store(installation, context)
    }

    mutating func patch(_ id: String, _ changes: JSONValue, _ context: Context) -> Reply {
        guard let former = installations[id] else { return .failure(404, "The installation \(id) does not exist") }
        do {
            return store(try former.applying(changes), context)
        } catch {
            return .failure(400, error.description)
        }
    }

    func installation(_ id: String, _ context: Context) -> Reply {
        guard let installation = installations[id], installation.visibleAt <= context.time else {
            return .failure(404, "The installation \(id) does not exist")
        }
        // JSON with the content type of XML, as the service answers.
        return .xml(installation.json)
    }

    mutating func deleteInstallation(_ id: String) -> Reply {
        for registration in registrations.registrations(ofInstallation: id) { registrations.delete(registration.id) }
        installations[id] = nil
        return .xml(status: 204)
    }

    private mutating func store(_ installation: HubInstallation, _ context: Context) -> Reply {
        let former = registrations.registrations(ofInstallation: installation.id)
        guard registrations.hasRoom(for: installation.registrations.count - former.count),
            installations[installation.id] != nil || installations.count < registrations.limit
        else {
            return .failure(403, "The hub has \(registrations.limit) registrations, more are not allowed")
        }
        for (index, registration) in installation.registrations.enumerated() {
            let id = index < former.count ? former[index].id : newID()
            _ = registrations.put(registration, id: id, at: context.time)
        }
        for registration in former.dropFirst(installation.registrations.count) { registrations.delete(registration.id) }
        installations[installation.id] = installation
        var reply = Reply.xml()
        reply.headers.append(
            name: "Content-Location", value: "\(context.hubURL)/installations/\(installation.id)")
        return reply
    }
}
