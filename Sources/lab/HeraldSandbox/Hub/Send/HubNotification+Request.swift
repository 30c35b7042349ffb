import HeraldHTTP
import HeraldHub
import HeraldText
import HeraldTime

extension HubNotification {
    /// The size limit of a notification for any push service.
    static let limitBytes = 65_536

    /// Reads a send to tags, to all devices, or to the handle of a direct send.
    init(_ request: HTTPRequest, isDirect: Bool) throws(InvalidArgument) {
        try self.init(head: request.headers, type: request.headers["Content-Type"], body: request.body)
        isTest = request.target.parameters.contains { $0.name.lowercased() == "test" }
        if isDirect {
            guard let handle = request.headers["ServiceBusNotification-DeviceHandle"], !handle.isEmpty else {
                throw InvalidArgument("a direct send needs the header ServiceBusNotification-DeviceHandle")
            }
            audience = .handles([handle])
        }
    }

    /// Reads the common parts of sends: the format, the headers for the push service, the tags and the body.
    init(head: HTTPHeaderFields, type: String?, body: [UInt8]) throws(InvalidArgument) {
        guard let name = head["ServiceBusNotification-Format"]?.lowercased() else {
            throw InvalidArgument("the header ServiceBusNotification-Format is missing")
        }
        let platform = HubPlatform(format: name)
        guard platform != nil || name == "template" else {
            throw InvalidArgument("the header ServiceBusNotification-Format names no format: \(name)")
        }
        tags = head["ServiceBusNotification-Tags"]
        if let tags { audience = .tags(try TagExpression(parsing: tags)) } else { audience = .everybody }
        headers = head.fields.compactMap { field in
            let name = field.name.lowercased()
            let isForPushService =
                name.hasPrefix("apns-") || name.hasPrefix("x-wns-") || name.hasPrefix("x-windowsphone-")
                || name == "servicebusnotification-apns-expiry"
            return isForPushService ? HubHeader(name: field.name, value: field.value) : nil
        }
        format = name
        self.platform = platform
        contentType = type ?? ""
        self.body = body
        try checkHeaders(head)
        try checkBody()
    }

    private func checkHeaders(_ head: HTTPHeaderFields) throws(InvalidArgument) {
        let type = contentType.prefix { $0 != ";" }.lowercased().filter { $0 != " " }
        let allowed: [String] =
            switch platform {
            case .wns: ["application/xml", "text/xml", "application/octet-stream"]
            case .mpns: ["application/xml", "text/xml"]
            case .baidu: ["application/json", "application/x-www-form-urlencoded"]
            case .apns, .gcm, .adm, .fcmv1, .browser, .xiaomi, nil: ["application/json"]
            }
        guard allowed.contains(type) else {
            throw InvalidArgument("the Content-Type of the format \(format) is \(allowed.joined(separator: " or "))")
        }
        if platform == .wns { try Self.check(wns: head["X-WNS-Type"], type) }
        if let expiry = head["ServiceBusNotification-Apns-Expiry"], !Self.isDate(expiry) {
            throw InvalidArgument("the header ServiceBusNotification-Apns-Expiry is no date: \(expiry)")
        }
        if let expiration = head["apns-expiration"], Int64(expiration) == nil {
            throw InvalidArgument("the header apns-expiration is no whole number: \(expiration)")
        }
        if let priority = head["apns-priority"], !(Int(priority).map { (1...10).contains($0) } ?? false) {
            throw InvalidArgument("the header apns-priority is not a number from 1 to 10: \(priority)")
        }
    }

    private static func check(wns kind: String?, _ type: String) throws(InvalidArgument) {
        guard let kind = kind?.lowercased(), ["wns/toast", "wns/tile", "wns/badge", "wns/raw"].contains(kind) else {
            throw InvalidArgument("the header X-WNS-Type must be wns/toast, wns/tile, wns/badge or wns/raw")
        }
        guard (kind == "wns/raw") == (type == "application/octet-stream") else {
            throw InvalidArgument("the Content-Type of wns/raw, and of nothing else, is application/octet-stream")
        }
    }

    /// Whether it is a W3C date, or one in the form of the .NET and Java SDKs (`MM/dd/yyyy HH:mm:ss`).
    private static func isDate(_ text: String) -> Bool {
        HubTime.parse(text) != nil || text.wholeMatch(of: /\d\d\/\d\d\/\d{4} \d\d:\d\d:\d\d/) != nil
    }

    private mutating func checkBody() throws(InvalidArgument) {
        switch platform {
        case .wns where contentType.lowercased().hasPrefix("application/octet-stream"): break
        case .wns, .mpns: _ = try XMLElement(document: body)
        case .baidu where !contentType.lowercased().hasPrefix("application/json"): break
        case .apns, .gcm, .adm, .fcmv1, .baidu, .browser, .xiaomi, nil: try checkJSON()
        }
    }

    private mutating func checkJSON() throws(InvalidArgument) {
        guard case .object(let members)? = try? JSONValue(document: body) else {
            throw InvalidArgument("the body is no JSON object")
        }
        if platform == .fcmv1 {
            guard case .object? = members.first(where: { $0.name == "message" })?.value else {
                throw InvalidArgument("the body of the format fcmv1 has no object 'message'")
            }
        }
        guard platform == nil else { return }
        for member in members {
            guard case .string(let text) = member.value else {
                throw InvalidArgument("the body of a template send has a member that is no text: \(member.name)")
            }
            properties[member.name.lowercased()] = text
        }
    }
}
