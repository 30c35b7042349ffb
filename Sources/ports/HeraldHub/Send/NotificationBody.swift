internal import HeraldBytes
internal import HeraldTime

/// Writes what a push service is given, in the shapes of the tutorial's backend, escaped.
enum NotificationBody {
    /// FCM keeps nothing for longer: four weeks.
    static let longestTTLSeconds: Int64 = 2_419_200

    static func append(
        _ format: NotificationFormat, message: RawSpan, options: DeliveryOptions, now: WallTime,
        to output: inout [UInt8]
    ) {
        switch format {
        case .apple: appendApple(message, options, to: &output)
        case .gcm:
            output.append(text: "{\"data\":{\"message\":")
            JSONText.appendString(message, to: &output)
            output.append(text: "}")
            appendGCM(options, now, to: &output)
            output.append(text: "}")
        case .fcmv1:
            output.append(text: "{\"message\":{\"data\":{\"message\":")
            JSONText.appendString(message, to: &output)
            output.append(text: "}")
            appendAndroid(options, now, to: &output)
            output.append(text: "}}")
        case .windows:
            output.append(text: "<toast><visual><binding template=\"ToastText01\"><text id=\"1\">")
            XMLText.append(message, to: &output)
            output.append(text: "</text></binding></visual></toast>")
        case .browser:
            output.append(text: "{\"title\":\"\",\"body\":")
            JSONText.appendString(message, to: &output)
            output.append(text: "}")
        }
    }

    /// How long the push service may try, in whole seconds; 0 means once.
    static func secondsLeft(_ expiresAt: WallTime, _ now: WallTime) -> Int64 {
        min(max(expiresAt.time(since: now).wholeSeconds, 0), longestTTLSeconds)
    }

    private static func appendApple(
        _ message: RawSpan, _ options: DeliveryOptions, to output: inout [UInt8]
    ) {
        // Apple refuses an alert in what only wakes the app.
        if options.isInBackground {
            output.append(text: "{\"aps\":{\"content-available\":1},\"message\":")
            JSONText.appendString(message, to: &output)
            output.append(text: "}")
        } else {
            output.append(text: "{\"aps\":{\"alert\":")
            JSONText.appendString(message, to: &output)
            output.append(text: "}}")
        }
    }

    private static func appendGCM(
        _ options: DeliveryOptions, _ now: WallTime, to output: inout [UInt8]
    ) {
        if let expiresAt = options.expiresAt {
            output.append(text: ",\"time_to_live\":")
            output.append(decimal: secondsLeft(expiresAt, now))
        }
        if let isUrgent = options.isUrgent {
            output.append(text: isUrgent ? ",\"priority\":\"high\"" : ",\"priority\":\"normal\"")
        }
        if !options.collapseID.isEmpty {
            output.append(text: ",\"collapse_key\":")
            JSONText.appendString(options.collapseID.span.bytes, to: &output)
        }
    }

    private static func appendAndroid(
        _ options: DeliveryOptions, _ now: WallTime, to output: inout [UInt8]
    ) {
        guard options.expiresAt != nil || options.isUrgent != nil || !options.collapseID.isEmpty else { return }
        output.append(text: ",\"android\":{")
        var isFirst = true
        func begin(_ output: inout [UInt8]) {
            if !isFirst { output.append(text: ",") }
            isFirst = false
        }
        if let expiresAt = options.expiresAt {
            begin(&output)
            output.append(text: "\"ttl\":\"")
            output.append(decimal: secondsLeft(expiresAt, now))
            output.append(text: "s\"")
        }
        if let isUrgent = options.isUrgent {
            begin(&output)
            output.append(text: isUrgent ? "\"priority\":\"HIGH\"" : "\"priority\":\"NORMAL\"")
        }
        if !options.collapseID.isEmpty {
            begin(&output)
            output.append(text: "\"collapse_key\":")
            JSONText.appendString(options.collapseID.span.bytes, to: &output)
        }
        output.append(text: "}")
    }
}

extension DeliveryOptions {
    var isInBackground: Bool { pushType.span.bytes.hasSameBytes(as: "background") }
    var isVoIP: Bool { pushType.span.bytes.hasSameBytes(as: "voip") }
}
