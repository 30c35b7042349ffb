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

/// A kind of reason: its word, what it means, what ends it, and what changes it.
public protocol WaitKind: Sendable, Equatable, CaseIterable {
    /// Its word in metrics and JSON.
    var word: String { get }
    /// What it waits for.
    var meaning: String { get }
    /// What ends it.
    var end: String { get }
    /// The settings, options and commands that change it; empty when none does.
    var changes: [String] { get }
}
