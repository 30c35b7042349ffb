import HeraldCommandLine
import HeraldEvents
import HeraldText
import HeraldTime

/// The live table of events in progress: one line for each event and push service.
///
/// Pure: facts, terminal size and time come in; lines come out, none wider than the terminal.
struct LiveTable {
    /// Styles text, where the terminal can.
    typealias Paint = (_ text: String, _ style: Style) -> String

    /// Lines without events: title, headings, an empty one, the totals.
    private static let frameLines = 4
    private static let userColumns = 7
    private static let serviceColumns = 4
    private static let callColumns = 5
    private static let stateColumns = 33...48
    private static let messageColumns = 8...48
    private static let gap = "  "

    private let size: TerminalSize
    private let paint: Paint
    private let messageWidth: Int
    private let stateWidth: Int

    init(size: TerminalSize, paint: @escaping Paint) {
        self.size = size
        self.paint = paint
        // The last column stays free: some terminals wrap as soon as it is written.
        let fixed = Self.userColumns + Self.serviceColumns + Self.callColumns + 4 * Self.gap.count + 1
        let left = size.columns - fixed
        messageWidth = (left - Self.stateColumns.lowerBound).clamped(to: Self.messageColumns)
        stateWidth = (left - messageWidth).clamped(to: Self.stateColumns)
    }

    /// The lines of a frame: at most the terminal's height, less one for the cursor.
    func lines(_ tracker: DemoTracker, title: String, hint: String, now: WallTime) -> [String] {
        let rows = Self.rows(of: tracker, limit: max(1, size.rows - 1 - Self.frameLines))
        var lines = [painted(title, .bold)]
        lines.append(painted(line("USER", "MESSAGE", "PNS", "STATE", "CALLS"), .dim))
        for row in rows { lines.append(text(of: row, now: now)) }
        lines.append("")
        lines.append(painted(Self.totals(of: tracker) + Self.gap + hint, .bold))
        return Array(lines.suffix(max(1, size.rows - 1)))
    }

    // MARK: Rows

    /// One line: an event for one of its push services.
    struct Row: Equatable {
        var user: String
        var message: String
        var pushService: String
        var state: DeliveryState
        var calls: Int
        /// Whether the previous line belongs to the same event.
        var isContinued: Bool

        var isSettled: Bool { if case .settled = state { true } else { false } }
    }

    /// The newest rows, in the order of the events; unsettled events have priority over settled ones.
    static func rows(of tracker: DemoTracker, limit: Int) -> [Row] {
        let all = tracker.entries.flatMap(rows(of:))
        let underWay = all.indices.filter { !all[$0].isSettled }.suffix(limit)
        let settled = all.indices.filter { all[$0].isSettled }.suffix(limit - underWay.count)
        let shown = (underWay + settled).sorted()
        return shown.enumerated().map { place, index in
            var row = all[index]
            row.isContinued = row.isContinued && place > 0 && shown[place - 1] == index - 1
            return row
        }
    }

    private static func rows(of entry: TrackedEvent) -> [Row] {
        let scene = entry.event.scene
        guard !scene.pushServices.isEmpty else {
            return [
                Row(
                    user: scene.user, message: scene.message, pushService: "", state: entry.state, calls: 0,
                    isContinued: false)
            ]
        }
        return scene.pushServices.enumerated().map { index, pushService in
            Row(
                user: scene.user, message: scene.message, pushService: pushService, state: entry.state(pushService),
                calls: entry.callCount(pushService), isContinued: index > 0)
        }
    }

    // MARK: Text

    private func text(of row: Row, now: WallTime) -> String {
        let words = StateWords(row.state, now: now)
        return line(
            row.isContinued ? "" : row.user, row.isContinued ? "" : row.message, row.pushService,
            words.text(columns: stateWidth), row.calls > 0 ? "\(row.calls)" : "", style: words.style)
    }

    /// A line of the table, cut to the terminal's width; only the state is styled, after padding.
    private func line(
        _ user: String, _ message: String, _ service: String, _ state: String, _ calls: String, style: Style? = nil
    ) -> String {
        let before = [
            SafeText.escaped(user).fitted(toColumns: Self.userColumns),
            SafeText.escaped(message).fitted(toColumns: messageWidth),
            SafeText.escaped(service).fitted(toColumns: Self.serviceColumns), "",
        ].joined(separator: Self.gap)
        let left = size.columns - 1 - before.displayWidth
        guard left >= stateWidth else { return cut(before + state) }
        let state = state.fitted(toColumns: stateWidth)
        let padding = String(repeating: " ", count: max(0, Self.callColumns - calls.displayWidth))
        let after = left - stateWidth >= Self.gap.count + Self.callColumns ? Self.gap + padding + calls : ""
        return before + (style.map { paint(state, $0) } ?? state) + after
    }

    private func painted(_ text: String, _ style: Style) -> String { paint(cut(text), style) }

    private func cut(_ text: String) -> String {
        let columns = max(0, size.columns - 1)
        return text.displayWidth > columns ? text.fitted(toColumns: columns) : text
    }

    private static func totals(of tracker: DemoTracker) -> String {
        let results = tracker.results
        var parts = Outcome.allCases.compactMap { outcome -> String? in
            let count = results.count { $0.outcome == outcome }
            return count == 0 ? nil : "\(count) \(outcome.rawValue)"
        }
        parts.append("\(tracker.openCount) under way")
        return parts.joined(separator: " · ")
    }
}

extension Int {
    fileprivate func clamped(to range: ClosedRange<Int>) -> Int {
        Swift.min(Swift.max(self, range.lowerBound), range.upperBound)
    }
}
