public import HeraldTime

/// Why something waits: a closed set, of which a machine finds one when it is asked, in the state that it acts on.
///
/// ``WaitReason`` is the set of a worker's events, ``JobWaitReason`` that of letters, recipients and their jobs.
public protocol WaitWords: Sendable, Equatable {
    /// The kinds of the set.
    associatedtype Kind: WaitKind

    /// What kind of reason it is.
    var kind: Kind { get }
    /// Since when, where the state tells.
    var since: WallTime? { get }
    /// When it ends by itself, or is looked at again, at the earliest; `nil` when only something that happens ends it.
    var until: WallTime? { get }
    /// What it does, as a sentence goes on behind "it".
    var phrase: String { get }
}

/// A kind of reason, by its place among all; it has its cases and its rows.
///
/// docs/RUNBOOK.md has the table of each set, and a test compares.
public protocol WaitKind: Sendable, Equatable, CaseIterable, RawRepresentable where RawValue: BinaryInteger {
    /// The rows, in the order of the kinds.
    static var rows: [WaitRow] { get }
}

/// The row of a kind of reason.
public struct WaitRow: Sendable {
    fileprivate let word: String
    fileprivate let meaning: String
    fileprivate let end: String
    fileprivate let changes: [String]

    init(_ word: String, _ meaning: String, end: String, _ changes: String...) {
        (self.word, self.meaning, self.end, self.changes) = (word, meaning, end, changes)
    }
}

extension WaitKind {
    private var row: WaitRow { Self.rows[Int(rawValue)] }

    /// Its word in metrics and JSON.
    public var word: String { row.word }
    /// What it waits for.
    public var meaning: String { row.meaning }
    /// What ends it.
    public var end: String { row.end }
    /// The settings, options and commands that change it; empty when none does.
    public var changes: [String] { row.changes }
}
