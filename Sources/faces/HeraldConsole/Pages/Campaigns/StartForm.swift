internal import Foundation
package import HeraldCampaigns
package import HeraldEvents
package import HeraldText
package import HeraldTime
internal import HeraldTools

/// The form of a new campaign, in the words of the command line; a continued one need not name what its
/// recipients get and the push services.
struct StartForm: Codable, Sendable, Equatable {
    private static let templateLimit = 65_536

    /// The key of the uploaded audience.
    var upload: String
    var name: String
    var message: String?
    /// Title, link and the like; each that is left out is that of the campaign, if it has one.
    var content: CampaignContent?
    var pns: [String]?
    var topic: String?
    /// `200/s`.
    var rate: String?
    /// `1,10,100`.
    var ramp: String?
    /// `100,1000`.
    var holdAfter: String?
    /// `5%`.
    var pauseIfFailures: String?
    /// `2026-12-24T09:00`, or `now`.
    var at: String?
    /// `Europe/Berlin`: the browser's.
    var zone: String?
    /// Whether any console or runner publishes it, from Kafka.
    var detach: Bool?
    /// `6h`.
    var expiresIn: String?
    /// `semicolon`, or `;`.
    var delimiter: String?
    var userColumn: String?
    /// `WINDOWS-1251`.
    var encoding: String?
    /// The keys of uploaded files whose users are left out.
    var exclude: [String]?
    /// Campaigns: who was delivered there is left out.
    var excludeCampaigns: [String]?
    /// `7d`: who was delivered any campaign's notification within it is left out.
    var excludeDelivered: String?
    /// `1%`.
    var maxInvalid: String?
    /// Whether another audience may replace the campaign's earlier one.
    var replaceAudience: Bool?
    /// Whether the audience has people who are added, and may lack those that the campaign had.
    var addPeople: Bool?

    /// The identity of the form: SHA-256 of all its fields, including the file.
    var hash: String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        // Texts always encode as JSON.
        return SHA256.hex(of: (try? encoder.encode(self)).map { Array($0) } ?? [])
    }

    /// The order for a start; throws when fields are missing or contradict each other.
    ///
    /// - Parameters:
    ///   - requests: the request topics.
    ///   - definition: the existing campaign of this name; `nil` when there is none.
    func order(
        _ rules: CampaignStartRules, requests: [String], definition: CampaignDefinition?
    ) throws -> CampaignOrder {
        guard CampaignControl.isName(name) else {
            throw FormMistake("name", "has 1 to 64 of a to z, A to Z, 0 to 9, dot, dash and underscore; no space")
        }
        let topic = given(self.topic) ?? definition?.topic ?? (requests.count > 1 ? requests[1] : requests.first ?? "")
        guard requests.contains(topic) else {
            throw FormMistake("topic", "\(SafeText.quoted(topic)) is not in topics.requests, so no worker reads it")
        }
        var order = CampaignOrder(
            text: CampaignText(
                name: name, template: try template(definition), pushServices: try services(rules, definition),
                maximumEventBytes: rules.maximumEventBytes, users: rules.users),
            topic: topic)
        order.reach = rules.reach
        order.eventClass = rules.classes.map { $0[topic] ?? .transactional }
        order.rate = try Self.parse(
            rate, "rate",
            "a rate such as 200/s, 30/m or 1000/h, at most \(CampaignWords.rate(RateText.range.upperBound))",
            RateText.parse)
        order.ramp = try Self.parse(ramp, "ramp", "numbers of recipients such as 1,10,100, or none") { text in
            text == "none" ? [] : Ramp(text).flatMap { $0.sizes.contains(nil) ? nil : $0.sizes.compactMap(\.self) }
        }
        order.holds = try Self.parse(
            holdAfter, "holdAfter", "rising numbers of recipients such as 100,1000, or none", CampaignHolds.parse)
        order.pauseIfFailures = try Self.share(
            pauseIfFailures, "pauseIfFailures", "a share above 0% and up to 100% such as 5%"
        ) { $0 > 0 }
        order.expiresIn = try Self.parse(expiresIn, "expiresIn", "a time after the first start such as 6h or 2d") {
            DurationText.parse($0).flatMap { $0 > .zero ? Milliseconds($0) : nil }
        }
        if let at = given(at) {
            do {
                order.start = try StartTime(at, zone: at == "now" ? nil : given(zone)) { rules.zones }
            } catch let mistake as StartTime.Mistake {
                throw FormMistake("at", mistake.problem)
            }
        }
        order.detaches = detach ?? false
        if let share = try Self.share(maxInvalid, "maxInvalid", "a share such as 5%") {
            order.maxInvalid = share
        }
        order.replacesAudience = replaceAudience ?? false
        order.addsPeople = addPeople ?? false
        return order
    }

    /// Whom it is to leave out; `nil` when nobody is.
    ///
    /// - Parameter files: opens an upload.
    func exclusions(
        of form: AudienceForm, in directory: String, files: (String) throws -> (file: SpooledFile, name: String)
    ) throws -> ExclusionWish? {
        let time = try Self.parse(excludeDelivered, "excludeDelivered", "a time before the start such as 7d or 12h") {
            DurationText.parse($0).flatMap { $0 > .zero ? Milliseconds($0) : nil }
        }
        do {
            let wish = try ExclusionWish(
                files: (exclude ?? []).map {
                    let (file, name) = try files($0)
                    return try ExclusionFile(file, name: name, form: form, copyingInto: directory)
                }, campaigns: excludeCampaigns ?? [], deliveredWithin: time, of: name)
            return wish.isEmpty ? nil : wish
        } catch let failure as ToolFailure {
            throw FormMistake((exclude ?? []).isEmpty ? "excludeCampaigns" : "exclude", failure.description)
        }
    }

    /// The format of the uploaded file; missing fields are those of the campaign's last audience, or recognised.
    func audience(after former: CampaignProgress?) throws -> AudienceForm {
        let form = try Self.audience(delimiter: delimiter, userColumn: given(userColumn), encoding: encoding)
        do throws(ToolFailure) {
            return try form.continuing(
                former, replacesAudience: replaceAudience ?? false, addsPeople: addPeople ?? false)
        } catch {
            throw FormMistake("encoding", error.description)
        }
    }

    /// The format as it is said in fields of a form; empty ones say nothing.
    static func audience(
        delimiter: String?, userColumn: String?, encoding: String?
    ) throws(FormMistake) -> AudienceForm {
        AudienceForm(
            delimiter: try parse(delimiter, "delimiter", "comma, semicolon, tab or pipe") { AudienceDelimiter($0) },
            userColumn: userColumn,
            encoding: try parse(encoding, "encoding", "an encoding such as WINDOWS-1251") { AudienceEncoding($0) })
    }

    func with(userColumn: String?) -> Self {
        var form = self
        form.userColumn = userColumn
        return form
    }

    /// The equivalent command.
    ///
    /// - Parameters:
    ///   - file: the name of the audience's file.
    ///   - isMessageMasked: whether it is for people who may not see the message.
    func command(_ order: CampaignOrder, file: String, isMessageMasked: Bool) -> [String] {
        let masked = "…"
        var words = ["herald", "campaign", "start", "--name", name, "--audience", file]
        words += ["--message", isMessageMasked ? masked : message ?? masked]
        words += (content ?? CampaignContent()).options(isMasked: isMessageMasked)
        for file in order.exclusions?.files ?? [] { words += ["--exclude", file.name] }
        for campaign in excludeCampaigns ?? [] { words += ["--exclude-campaign", campaign] }
        words += ["--pns", order.text.pushServices.joined(separator: ","), "--topic", order.topic]
        for (option, value) in [
            ("--at", at), ("--zone", at == "now" ? nil : zone), ("--exclude-delivered", excludeDelivered),
            ("--rate", rate), ("--ramp", ramp), ("--hold-after", holdAfter),
            ("--pause-if-failures", pauseIfFailures), ("--expires-in", expiresIn),
            ("--delimiter", delimiter), ("--user-column", userColumn), ("--encoding", encoding),
            (
                "--max-invalid",
                order.maxInvalid == CampaignOrder.standardMaxInvalid ? nil : ShareText.text(order.maxInvalid)
            ),
        ] {
            if let value = given(value) { words += [option, value] }
        }
        if detach == true { words.append("--detach") }
        if replaceAudience == true { words.append("--replace-audience") }
        if addPeople == true { words.append("--add-people") }
        return words
    }

    private func template(_ definition: CampaignDefinition?) throws -> ContentTemplate {
        let content = (content ?? CampaignContent()).continuing(definition?.content)
        if given(message) == nil, definition == nil { throw FormMistake("message", "is missing") }
        let message = given(message) ?? definition?.message ?? ""
        for (name, text) in [("message", message)] + content.texts where text.utf8.count > Self.templateLimit {
            throw FormMistake(name, "has more than \(Self.templateLimit) bytes")
        }
        do throws(ContentMistake) {
            return try ContentTemplate(written: message, content)
        } catch {
            throw FormMistake(error.part, error.problem)
        }
    }

    private func services(_ rules: CampaignStartRules, _ definition: CampaignDefinition?) throws -> [String] {
        let names = (pns ?? []).isEmpty ? definition?.pns ?? [] : pns ?? []
        guard !names.isEmpty else { throw FormMistake("pns", "choose at least one") }
        return try rules.pushServices.resolved(names, "pns")
    }

    /// An empty field counts as not given.
    private func given(_ text: String?) -> String? { text.flatMap { $0.isEmpty ? nil : $0 } }

    private static func share(
        _ text: String?, _ name: String, _ allowed: String, where isAllowed: (Double) -> Bool = { _ in true }
    ) throws(FormMistake) -> Double? {
        if let text, let number = Double(text), (0...100).contains(number) {
            throw FormMistake(name, "\(SafeText.quoted(text, limit: 40)) lacks its %; write \(text)%")
        }
        return try parse(text, name, allowed) { ShareText.parse($0).flatMap { isAllowed($0) ? $0 : nil } }
    }

    static func parse<Value>(
        _ text: String?, _ name: String, _ allowed: String, _ parse: (String) -> Value?
    ) throws(FormMistake) -> Value? {
        guard let text, !text.isEmpty else { return nil }
        if let value = parse(text) { return value }
        throw FormMistake(name, "\(SafeText.quoted(text, limit: 40)) is not understood; write \(allowed)")
    }
}

extension PushServices {
    /// These, as the settings write them, each once.
    func resolved(_ names: [String], _ field: String) throws(FormMistake) -> [String] {
        var resolved: [String] = []
        for name in names {
            guard let index = index(of: Array(name.utf8).span.bytes) else {
                throw FormMistake(
                    field, "\(SafeText.quoted(name, limit: 40)) is none of \(self.names.joined(separator: ", "))")
            }
            if !resolved.contains(self.names[index]) { resolved.append(self.names[index]) }
        }
        return resolved
    }
}

/// The settings for new campaigns and their uploaded files.
package struct CampaignStartRules: Sendable {
    package var pushServices: PushServices
    /// `limits.eventBytes`.
    package var maximumEventBytes: Int
    /// `backend.users`.
    package var users: UserRule
    /// What of a notification reaches the push services, as far as the console's settings say it.
    package var reach: ContentReach
    /// Those of request topics that are not transactional; `nil` when workers do not obey users' words.
    package var classes: [String: EventClass]?
    /// Those that a moment may be named in.
    package var zones = TimeZones()
    /// The size limit of an uploaded file in bytes.
    package var uploadLimit: Int
    /// The directory of uploaded files, which have no names.
    package var directory: String

    package init(
        pushServices: PushServices, maximumEventBytes: Int, users: UserRule, reach: ContentReach, uploadLimit: Int,
        directory: String
    ) {
        self.pushServices = pushServices
        self.maximumEventBytes = maximumEventBytes
        self.users = users
        self.reach = reach
        self.uploadLimit = uploadLimit
        self.directory = directory
    }
}
