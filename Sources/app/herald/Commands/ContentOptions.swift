import HeraldCommandLine
import HeraldEvents
import HeraldText

/// What a notification has beside its message.
enum ContentOptions {
    static let title = CommandOption.optional("title", .text("TEXT"), "The line above the message.").withForeignNames
    static let link = CommandOption.optional(
        "link", .text("URL"), "Where a tap leads: https: or the app's own scheme."
    ).withForeignNames
    static let image = CommandOption.optional("image", .text("URL"), "A picture, with https:.").withForeignNames
    static let data = CommandOption.repeated(
        "data", .text("NAME=TEXT"), "A member of data, for the app; once for each."
    ).withForeignNames
    static let badge = CommandOption.optional(
        "badge", .wholeNumber(0...ContentRules.maximumBadge), "The number on the app's icon; iOS."
    ).withForeignNames
    static let sound = CommandOption.optional(
        "sound", .text("NAME"), "default, none, or the name of a file in the app."
    ).withForeignNames
    static let category = CommandOption.optional(
        "category", .text("NAME"), "The kind that the app knows: APNs' category, Android's channel."
    ).withForeignNames
    static let all: [any DeclaredOption] = [title, link, image, data, badge, sound, category]

    /// Gives an event what the options say.
    static func add(to event: inout NotificationEvent, _ parsed: ParsedCommand) throws {
        (event.title, event.link, event.image) = (parsed[title], parsed[link], parsed[image])
        (event.badge, event.sound, event.category) = (parsed[badge], parsed[sound], parsed[category])
        event.data = try data(parsed)
    }

    /// The members of data by their names; one that is given twice is refused.
    static func data(_ parsed: ParsedCommand) throws -> [String: String] {
        var members: [String: String] = [:]
        for member in parsed[data] {
            guard let equals = member.firstIndex(of: "=") else {
                throw parsed.mistake("--data: \(SafeText.quoted(member)) has no '='; it is NAME=TEXT")
            }
            let name = String(member[..<equals])
            guard members.updateValue(String(member[member.index(after: equals)...]), forKey: name) == nil else {
                throw parsed.mistake("--data: \(SafeText.quoted(name)) is given twice")
            }
        }
        return members
    }
}

extension CommandOption {
    /// The same with the names that others have for the event's member of this name.
    var withForeignNames: Self { called(ForeignNames.names(of: declaration.name)) }
}
