import Glibc

package enum ExitStatus: Int32, Sendable, CaseIterable {
    case done = 0
    case failed = 1
    case usage = 2
    case partlyDone = 3
    /// A confirmation is needed, and there is no terminal to ask on.
    case needsConfirmation = 4
    case unreachable = 5
    case badSettings = 78

    package var summary: String {
        switch self {
        case .done: "All was done."
        case .failed: "It failed; standard error says why."
        case .usage: "The command line was not understood, or the events to publish are wrong."
        case .partlyDone: "A part was done."
        case .needsConfirmation: "It needs a confirmation, and there is no terminal to ask on."
        case .unreachable: "A broker or the backend could not be reached."
        case .badSettings: "The settings are wrong; standard error names each mistake."
        }
    }
}

/// A failure of a command: the message for standard error, and the exit status.
package struct CommandFailure: Error, Sendable, CustomStringConvertible {
    package let status: ExitStatus
    /// The failure and its remedy.
    package let description: String

    package init(_ description: String, status: ExitStatus = .failed) {
        self.status = status
        self.description = description
    }

    /// A failed write, by the system's error number; a closed reader of standard output is not a failure.
    ///
    /// - Parameter name: The file's name, if it is one.
    init(writing number: Int32, to name: String?) {
        self.init(
            (name.map { "\($0): " } ?? "") + "cannot write: \(String(cString: strerror(number)))",
            status: name == nil && number == EPIPE ? .done : .failed)
    }
}
