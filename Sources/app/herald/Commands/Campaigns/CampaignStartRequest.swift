import FoundationEssentials
import Glibc
import HeraldCampaigns
import HeraldCommandLine
import HeraldEvents
import HeraldSettings
import HeraldText
import HeraldTools

/// What `herald campaign start` was asked for, with what is missing or does not go together refused.
struct CampaignStartRequest {
    /// A message is 4096 bytes at most; its fields' names come on top.
    private static let templateLimit = 65_536

    let name: String
    let audience: String
    let template: MessageTemplate
    let pushServices: [String]
    let invalidFile: String
    let ramp: [Int]?
    let pauseShare: Double?
    let expiresIn: Duration?

    private typealias Command = CampaignStartCommand

    init(_ parsed: ParsedCommand) throws {
        guard let name = parsed[Command.name], let audience = parsed[Command.audience],
            let services = parsed[Command.pushServices]
        else { throw parsed.mistake("--name, --audience, --pns and --message or --message-file are needed") }
        (self.name, self.audience, pushServices) = (name, audience, services)
        let text: String
        switch (parsed[Command.message], parsed[Command.messageFile]) {
        case (let message?, nil): text = message
        case (nil, let path?): text = try Self.contents(of: path)
        case (nil, nil): throw parsed.mistake("--message or --message-file is needed")
        case (_?, _?): throw parsed.mistake("--message and --message-file do not go together")
        }
        do throws(InputError) {
            template = try MessageTemplate(written: text)
        } catch {
            throw parsed.mistake("the message, \(SafeText.escaped(error.description))")
        }
        guard !template.text.isEmpty else { throw parsed.mistake("the message is empty") }
        ramp = parsed[Command.ramp]
        pauseShare = parsed[Command.pauseShare]
        if pauseShare == 0 { throw parsed.mistake("--pause-if-failures has to be above 0%") }
        expiresIn = parsed[Command.expiresIn]
        if expiresIn == .zero { throw parsed.mistake("--expires-in has to be above 0") }
        invalidFile = parsed[Command.invalidFile] ?? "\(name).invalid.csv"
    }

    private static func contents(of path: String) throws -> String {
        let data: Data
        do {
            data = try Data(contentsOf: URL(filePath: path))
        } catch {
            throw CommandFailure("cannot read \(path): \(String(cString: strerror(errno)))")
        }
        guard data.count <= templateLimit else {
            throw CommandFailure("\(path) is larger than \(templateLimit) bytes")
        }
        guard var text = String(validating: data, as: UTF8.self) else {
            throw CommandFailure("\(path) is not UTF-8")
        }
        // An editor's last line end is no part of the message.
        if text.last == "\n" || text.last == "\r\n" { text.removeLast() }
        return text
    }
}
