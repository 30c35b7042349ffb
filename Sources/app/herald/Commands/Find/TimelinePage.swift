import HeraldEvents
import HeraldText
import HeraldTimeline
import HeraldTools

/// An event's timeline for people; messages are not in it.
enum TimelinePage {
    /// Lines for people; everything from records is made safe to show.
    ///
    /// - Parameter waiting: what workers say that it waits for.
    static func lines(_ event: EventTimeline, _ waiting: Explanation.Waiting?) -> [String] {
        var head = [event.id ?? "\(event.origin)"]
        if let user = event.user { head.append("for \(user)") }
        if let source = event.source { head.append("by \(source)") }
        if let campaign = event.campaign { head.append("in campaign \(campaign)") }
        let dropped =
            event.droppedCount > 0 ? ["  \(event.droppedCount) older steps are left out"] : []
        let fault = event.fault.map { ["  its record \($0.wordsOfOne): \($0.consequence)"] } ?? []
        return [SafeText.escaped(head.joined(separator: " "))] + fault + dropped
            + event.steps.map { "  \($0.at.text)  \(SafeText.escaped($0.words))" }
            + (event.open.isEmpty || event.isMalformed
                ? [] : ["  " + SafeText.escaped("no outcome yet for \(event.open.joined(separator: ", "))")])
            + (waiting?.sentences ?? []).map { "  " + SafeText.escaped($0) }
    }
}
