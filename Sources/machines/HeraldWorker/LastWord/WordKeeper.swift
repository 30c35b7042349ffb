import HeraldBytes
package import HeraldCore
package import HeraldEvents
import HeraldText

/// Applies the records of both topics to the table that lanes look at.
package struct WordKeeper {
    /// The longest text about a recall: results carry it.
    private static let longestSaying = 300

    package let table: LastWord
    private var reader: PreferenceReader

    /// A keeper of the table.
    package init(_ table: LastWord, pushServices: PushServices) {
        self.table = table
        reader = PreferenceReader(pushServices: pushServices)
    }

    /// Applies a record of the preferences topic.
    ///
    /// - Returns: what is wrong with it, as a continuation of "the record"; `nil` for a sound one. A broken one opts nobody
    ///   in.
    package mutating func takePreference(key: RawSpan?, value: RawSpan?) -> String? {
        guard let key, key.byteCount > 0 else { return Self.keyless }
        let isKept = Preference.isKept(under: key)
        guard let value else {
            if isKept { table.keep(nil, under: key) } else { table.set(nil, of: key) }
            return nil
        }
        let reading = reader.read(value)
        if isKept, reading.isSound {
            table.keep(reading.optOut, under: key)
            return table.findsKeptWords
                ? nil : "is the opt-out of a forgotten user, whom nobody finds without preferences.forgetKeyFile"
        }
        if reading.isSound {
            table.set(reading.optOut, quiet: reading.quiet, of: key)
        } else {
            table.refuse(reading.optOut, of: key)
        }
        return reading.problem
    }

    /// Applies a record of the recalls topic.
    ///
    /// - Returns: what is wrong with it, as a continuation of "the record"; `nil` for a sound one. One whose key is sound
    ///   recalls all the same.
    package mutating func takeRecall(key: RawSpan?, value: RawSpan?) -> String? {
        guard let key else { return Self.keyless }
        let subject: Recall.Subject
        do throws(InvalidArgument) {
            subject = try Recall.Subject(key: key)
        } catch {
            return "\(error)"
        }
        var saying = ""
        var problem: String?
        if let value {
            let reading = Recall.reading(value)
            (saying, problem) = (Self.saying(of: reading.recall), reading.problem)
        }
        let isRecalled = value != nil
        switch subject {
        case .campaign(let name): table.recall(campaign: name.utf8.span.bytes, isRecalled, words: saying)
        case .event(let id, let user, let source?):
            table.recall(
                id: id.utf8.span.bytes, source: source.utf8.span.bytes, user: user.utf8.span.bytes, isRecalled,
                words: saying)
        case .event(let id, let user, nil):
            table.recall(id: id.utf8.span.bytes, source: nil, user: user.utf8.span.bytes, isRecalled, words: saying)
        }
        return problem
    }

    private static let keyless = "has no key, which says whom or what it is about"

    /// By whom, and why.
    private static func saying(of recall: Recall) -> String {
        guard recall.by != nil || recall.reason != nil else { return "" }
        let text = (recall.by ?? "somebody") + (recall.reason.map { ": \($0)" } ?? "")
        return String(SafeText.escaped(text).prefix(longestSaying))
    }
}
