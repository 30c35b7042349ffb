internal import HeraldBytes
internal import HeraldEvents
internal import HeraldTime

/// Writes what a push service is given, escaped: in the shapes of the tutorial's backend when there is a message alone, else
/// in those that the platform draws itself.
enum NotificationBody {
    /// FCM keeps nothing for longer: four weeks.
    static let longestTTLSeconds: Int64 = 2_419_200

    static func append(
        _ format: NotificationFormat, message: RawSpan, _ content: borrowing EventContent, options: DeliveryOptions,
        now: WallTime, to output: inout [UInt8]
    ) {
        switch format {
        case .apple where content.fields.isEmpty: appendApple(message, options, to: &output)
        case .apple: appendApple(message, content, options, to: &output)
        case .gcm:
            output.append(text: "{\"data\":{\"message\":")
            JSONText.appendString(message, to: &output)
            content.appendMembers([.title, .link, .image], to: &output)
            content.appendDataMembers(to: &output)
            output.append(text: "}")
            appendGCM(options, now, to: &output)
            output.append(text: "}")
        case .fcmv1: appendFCM(message, content, options, now, to: &output)
        case .windows: appendToast(message, content, to: &output)
        case .browser: appendBrowser(message, content, to: &output)
        }
    }

    /// How long the push service may try, in whole seconds; 0 means once.
    static func secondsLeft(_ expiresAt: WallTime, _ now: WallTime) -> Int64 {
        min(max(expiresAt.time(since: now).wholeSeconds, 0), longestTTLSeconds)
    }

    private static func appendApple(_ message: RawSpan, _ options: DeliveryOptions, to output: inout [UInt8]) {
        output.append(text: options.isInBackground ? background : "{\"aps\":{\"alert\":")
        JSONText.appendString(message, to: &output)
        output.append(text: options.isInBackground ? "}" : "}}")
    }

    /// Apple refuses an alert, a sound and a badge in what only wakes the app: the app gets all of it.
    private static let background: StaticString = "{\"aps\":{\"content-available\":1},\"message\":"

    private static func appendApple(
        _ message: RawSpan, _ content: borrowing EventContent, _ options: DeliveryOptions, to output: inout [UInt8]
    ) {
        if options.isInBackground {
            output.append(text: background)
            JSONText.appendString(message, to: &output)
            content.appendMembers([.title, .link, .image, .badge, .sound, .category], to: &output)
        } else {
            output.append(text: "{\"aps\":{\"alert\":")
            // Without an object no extension runs.
            if content.fields.isDisjoint(with: ContentFields([.title, .image])) {
                JSONText.appendString(message, to: &output)
            } else {
                let start = output.count
                content.appendMember(.title, to: &output)
                output.append(text: ",\"body\":")
                JSONText.appendString(message, to: &output)
                output[start] = UInt8(ascii: "{")
                output.append(text: "}")
            }
            content.appendMember(.badge, to: &output)
            if !content.isSilent { content.appendMember(.sound, to: &output) }
            content.appendMember(.category, to: &output)
            // Lets the app's extension fetch the picture.
            if content.fields.contains(.image) { output.append(text: ",\"mutable-content\":1") }
            output.append(text: "}")
            content.appendMembers([.link, .image], to: &output)
        }
        content.appendDataMembers(to: &output)
        output.append(text: "}")
    }

    /// With a title, image, sound or category Android draws it, from `notification`; else the app does, from `data`.
    private static func appendFCM(
        _ message: RawSpan, _ content: borrowing EventContent, _ options: DeliveryOptions, _ now: WallTime,
        to output: inout [UInt8]
    ) {
        let drawn: ContentFields = ContentFields([.title, .image, .sound, .category])
        output.append(text: "{\"message\":{")
        if content.fields.isDisjoint(with: drawn) {
            output.append(text: "\"data\":{\"message\":")
            JSONText.appendString(message, to: &output)
            content.appendMember(.link, to: &output)
            content.appendDataMembers(to: &output)
            output.append(text: "}")
        } else {
            output.append(text: "\"notification\":{\"body\":")
            JSONText.appendString(message, to: &output)
            content.appendMembers([.title, .image], to: &output)
            output.append(text: "}")
            if !content.fields.isDisjoint(with: ContentFields([.link, .data])) {
                output.append(text: ",\"data\":")
                let start = output.count
                content.appendMember(.link, to: &output)
                content.appendDataMembers(to: &output)
                output[start] = UInt8(ascii: "{")
                output.append(text: "}")
            }
        }
        appendAndroid(content, options, now, to: &output)
        output.append(text: "}}")
    }

    /// The toast of Windows 8 for a message alone, which old apps know; else that of Windows 10.
    private static func appendToast(
        _ message: RawSpan, _ content: borrowing EventContent, to output: inout [UInt8]
    ) {
        guard !content.fields.isDisjoint(with: NotificationFormat.windows.content) else {
            output.append(text: "<toast><visual><binding template=\"ToastText01\"><text id=\"1\">")
            XMLText.append(message, to: &output)
            output.append(text: "</text></binding></visual></toast>")
            return
        }
        output.append(text: "<toast")
        if content.fields.contains(.link) {
            output.append(text: " launch=\"")
            XMLText.append(content.bytes(of: .link), to: &output)
            output.append(text: "\" activationType=\"protocol\"")
        }
        output.append(text: "><visual><binding template=\"ToastGeneric\">")
        if content.fields.contains(.title) {
            output.append(text: "<text>")
            XMLText.append(content.bytes(of: .title), to: &output)
            output.append(text: "</text>")
        }
        output.append(text: "<text>")
        XMLText.append(message, to: &output)
        output.append(text: "</text>")
        if content.fields.contains(.image) {
            output.append(text: "<image placement=\"hero\" src=\"")
            XMLText.append(content.bytes(of: .image), to: &output)
            output.append(text: "\"/>")
        }
        output.append(text: "</binding></visual>")
        if content.isSilent {
            output.append(text: "<audio silent=\"true\"/>")
        } else if content.hasSoundFile {
            output.append(text: "<audio src=\"ms-appx:///")
            XMLText.append(content.bytes(of: .sound), to: &output)
            output.append(text: "\"/>")
        }
        output.append(text: "</toast>")
    }

    /// What a service worker hands to `showNotification`.
    private static func appendBrowser(
        _ message: RawSpan, _ content: borrowing EventContent, to output: inout [UInt8]
    ) {
        output.append(text: "{\"title\":")
        JSONText.appendString(content.bytes(of: .title), to: &output)
        output.append(text: ",\"body\":")
        JSONText.appendString(message, to: &output)
        content.appendMember(.image, to: &output)
        if !content.fields.isDisjoint(with: ContentFields([.link, .data])) {
            output.append(text: ",\"data\":")
            let start = output.count
            content.appendMember(.link, to: &output)
            content.appendDataMembers(to: &output)
            output[start] = UInt8(ascii: "{")
            output.append(text: "}")
        }
        output.append(text: "}")
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
        _ content: borrowing EventContent, _ options: DeliveryOptions, _ now: WallTime, to output: inout [UInt8]
    ) {
        let hasSound = content.fields.contains(.sound) && !content.isSilent
        let isDrawn = hasSound || content.fields.contains(.category)
        guard options.expiresAt != nil || options.isUrgent != nil || !options.collapseID.isEmpty || isDrawn else {
            return
        }
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
        if isDrawn {
            begin(&output)
            output.append(text: "\"notification\":")
            let start = output.count
            if content.fields.contains(.category) {
                output.append(text: ",\"channel_id\":")
                JSONText.appendString(content.bytes(of: .category), to: &output)
            }
            if hasSound { content.appendMember(.sound, to: &output) }
            output[start] = UInt8(ascii: "{")
            output.append(text: "}")
        }
        output.append(text: "}")
    }
}

extension EventContent {
    /// Appends those of these parts that there are as members of a JSON object.
    fileprivate func appendMembers(_ fields: [ContentField], to output: inout [UInt8]) {
        for field in fields { appendMember(field, to: &output) }
    }

    fileprivate var isSilent: Bool { bytes(of: .sound).hasSameBytes(as: "none") }
    /// Whether it has a sound of its own.
    fileprivate var hasSoundFile: Bool {
        fields.contains(.sound) && !isSilent && !bytes(of: .sound).hasSameBytes(as: "default")
    }
}

extension DeliveryOptions {
    var isInBackground: Bool { pushType.span.bytes.hasSameBytes(as: "background") }
    var isVoIP: Bool { pushType.span.bytes.hasSameBytes(as: "voip") }
}
