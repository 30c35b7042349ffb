import Foundation
import HeraldText
import HeraldTools

@testable import HeraldCampaigns

/// A temporary file with an audience, and its reading by the campaign `spring`.
struct AudienceFile {
    let path: String
    let invalidPath: String

    init(_ bytes: some Sequence<UInt8>, name: String = "users.csv") throws {
        let directory = FileManager.default.temporaryDirectory.appending(path: "audience-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        path = directory.appending(path: name).path
        invalidPath = directory.appending(path: "invalid.csv").path
        try Data(bytes).write(to: URL(fileURLWithPath: path))
    }

    init(_ text: String, name: String = "users.csv") throws { try self.init(text.utf8, name: name) }

    func remove() {
        try? FileManager.default.removeItem(at: URL(fileURLWithPath: path).deletingLastPathComponent())
    }

    func open(_ form: AudienceForm = AudienceForm()) throws -> Audience {
        try Audience(path: path, form, copyingInto: FileManager.default.temporaryDirectory.path)
    }

    static func text(
        _ message: String, _ content: CampaignContent = CampaignContent(), maximumEventBytes: Int = 65_536,
        users: UserRule = .tag
    ) throws -> CampaignText {
        CampaignText(
            name: "spring", template: try ContentTemplate(message, content), pushServices: ["apns", "gcm"],
            maximumEventBytes: maximumEventBytes, users: users)
    }

    /// Each line with its outcome: `user=message`, or `!` and the reason.
    func lines(
        _ message: String, _ form: AudienceForm = AudienceForm(), users: UserRule = .tag
    ) throws -> [String] {
        let reader = try RecipientReader(try open(form), try Self.text(message, users: users), expiresAt: nil)
        var lines: [String] = []
        while true {
            switch try reader.next() {
            case .end: return lines
            case .invalid(let reason): lines.append("\(reader.lines.line)!\(reason)")
            case .recipient:
                lines.append(
                    "\(reader.lines.line):\(String(decoding: reader.user, as: UTF8.self))="
                        + String(decoding: reader.message, as: UTF8.self))
            }
        }
    }

    func preview(
        _ message: String, _ form: AudienceForm = AudienceForm(), after former: CampaignProgress? = nil,
        content: CampaignContent = CampaignContent()
    ) throws -> AudiencePreview {
        var recipients = RecipientSet()
        let preview = try AudiencePreview(
            try open(form), try Self.text(message, content), expiresAt: nil, marking: &recipients,
            into: InvalidLines(path: invalidPath), after: former,
            onProgress: { _ in true })
        guard let preview else { throw ToolFailure("it was ended") }
        return preview
    }

    /// With the mark at its beginning, which a String of a file leaves out.
    var invalidLines: String? {
        FileManager.default.contents(atPath: invalidPath).map { String(decoding: $0, as: UTF8.self) }
    }
}

/// The description of the error that an expression throws.
func failure(_ body: () throws -> some Any) -> String {
    do {
        _ = try body()
        return "nothing was thrown"
    } catch {
        return "\(error)"
    }
}
