import Foundation
import Glibc
import HeraldCommandLine
import HeraldEvents
import HeraldReplay
import HeraldSettings
import HeraldText
import HeraldTime
import HeraldTools

/// What `--set` or `--edit` of `herald dlq replay` puts in place of what dead letters say.
struct CorrectionRequest {
    private typealias Command = DeadLetterReplayCommand

    let invocation: Invocation
    let settings: Settings
    let replayer: Replayer
    let selection: Selection

    func correction() throws -> Correction? {
        let (assignments, isEdited) = (invocation.parsed[Command.set], invocation.parsed[Command.edit])
        guard !assignments.isEmpty || isEdited else { return nil }
        guard assignments.isEmpty || !isEdited else {
            throw invocation.parsed.mistake("--set and --edit do not go together")
        }
        return isEdited ? try edited() : .members(try change(assignments))
    }

    // MARK: --set

    private func change(_ assignments: [String]) throws -> EventChange {
        var change = EventChange()
        for assignment in assignments {
            guard let equals = assignment.firstIndex(of: "=") else {
                throw invocation.parsed.mistake("--set: \(SafeText.quoted(assignment)) has no '='; it is FIELD=VALUE")
            }
            let (name, value) = (assignment[..<equals], String(assignment[assignment.index(after: equals)...]))
            switch name {
            case "user" where change.user == nil: change.user = value
            case "message" where change.message == nil: change.message = value
            case "pns" where change.pushServices == nil:
                let names = value.split(separator: ",").map(String.init)
                change.pushServices = try settings.pushServices(names, of: "set", in: invocation.parsed)
            case "user", "message", "pns": throw invocation.parsed.mistake("--set: \(name) is set twice")
            default:
                guard let field = ContentField(rawValue: String(name)) else {
                    let known = ["user", "message", "pns"] + ContentField.allCases.map(\.rawValue)
                    throw invocation.parsed.mistake(
                        "--set: \(SafeText.quoted(String(name))) is none of \(known.joined(separator: ", "))")
                }
                guard change.content.updateValue(value, forKey: field) == nil else {
                    throw invocation.parsed.mistake("--set: \(name) is set twice")
                }
            }
        }
        return change
    }

    // MARK: --edit

    private func edited() throws -> Correction {
        guard invocation.console.isInputTerminal || invocation.parsed[Confirmation.option] else {
            throw invocation.parsed.mistake("--edit needs a terminal; --set needs none")
        }
        let entry = try onlyEntry()
        guard let value = entry.value else { throw CommandFailure("the dead letter \(entry.place) has no value") }
        try replayer.context.recordReveal("edit \(selection.text)", at: SystemClock.wall())
        let edited = try edit(value)
        guard edited != value else {
            throw CommandFailure("nothing was changed, and nothing was replayed", status: .needsConfirmation)
        }
        let correction = Correction.value(edited, place: entry.place)
        do throws(InvalidArgument) {
            _ = try correction.applied(to: entry, replayer.context.decoder)
        } catch {
            throw CommandFailure("what was edited is no event: \(SafeText.escaped("\(error)")); nothing was replayed")
        }
        return correction
    }

    private func onlyEntry() throws -> DeadLetterEntry {
        let reader = try replayer.context.deadLetters()
        defer { reader.close() }
        var found: [DeadLetterEntry] = []
        func visit(_ entry: inout DeadLetterEntry) -> Bool {
            found.append(entry)
            return found.count < 2
        }
        try replayer.scan(selection, reader, onProgress: { _, _ in true }, visit)
        guard let entry = found.first, found.count == 1 else {
            throw CommandFailure(
                found.isEmpty ? "there is no such dead letter" : "--edit takes one dead letter, and these are more")
        }
        return entry
    }

    private func edit(_ value: [UInt8]) throws -> [UInt8] {
        let environment = invocation.environment
        let editor = [environment["VISUAL"], environment["EDITOR"]].compactMap { $0 }.first { !$0.isEmpty } ?? "editor"
        // No other user can read a directory of mkdtemp.
        var template = Array("\(invocation.temporaryDirectory)/herald-edit-XXXXXX".utf8CString)
        guard let directory = mkdtemp(&template).map({ String(cString: $0) }) else {
            throw CommandFailure("cannot make a directory in \(invocation.temporaryDirectory) (TMPDIR)")
        }
        defer { try? FileManager.default.removeItem(atPath: directory) }
        let file = "\(directory)/event.json"
        try Data(value).write(to: URL(fileURLWithPath: file))
        // Through a shell, because the variable may hold arguments, as git reads it.
        guard system("\(editor) '\(file.replacing("'", with: "'\\''"))'") == 0 else {
            throw CommandFailure("the editor (\(SafeText.escaped(editor))) failed; nothing was replayed")
        }
        var edited = Array(try Data(contentsOf: URL(fileURLWithPath: file)))
        // Editors end the last line.
        if edited.last == 0x0A, value.last != 0x0A { edited.removeLast() }
        return edited
    }
}
