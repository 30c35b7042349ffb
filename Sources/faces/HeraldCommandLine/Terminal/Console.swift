import Glibc
import HeraldText

/// A command's input and outputs: data on standard output, everything else on standard error.
package struct Console: Sendable {
    package struct Stream: Sendable {
        package let isTerminal: Bool
        package let width: Int
        /// The underlying file descriptor, if there is one.
        let descriptor: Int32?
        private let sink: @Sendable (String) throws -> Void

        package init(
            isTerminal: Bool, width: Int = 80, descriptor: Int32? = nil,
            sink: @escaping @Sendable (String) throws -> Void
        ) {
            self.isTerminal = isTerminal
            self.width = width
            self.descriptor = descriptor
            self.sink = sink
        }

        package func write(_ text: String) throws { try sink(text) }
    }

    package let output: Stream
    package let error: Stream
    /// Whether a person can answer on standard input.
    package let isInputTerminal: Bool
    package let isQuiet: Bool
    /// Whether colours are allowed on terminals.
    package let allowsColor: Bool
    private let line: @Sendable () -> String?
    /// Runs a closure (a prompt and the reading of its answer) while the terminal does not show typed text.
    private let hiding: @Sendable (() -> String?) -> String?

    /// A console of these parts; `line` reads the next line of standard input.
    package init(
        output: Stream, error: Stream, isInputTerminal: Bool, isQuiet: Bool = false, allowsColor: Bool = true,
        hiding: @escaping @Sendable (() -> String?) -> String? = { $0() }, line: @escaping @Sendable () -> String?
    ) {
        self.output = output
        self.error = error
        self.isInputTerminal = isInputTerminal
        self.isQuiet = isQuiet
        self.allowsColor = allowsColor
        self.hiding = hiding
        self.line = line
    }

    /// `NO_COLOR` (not empty) and `TERM=dumb` forbid colours.
    package static func system(environment: [String: String], isQuiet: Bool, noColor: Bool) -> Self {
        Self(
            output: .descriptor(STDOUT_FILENO), error: .descriptor(STDERR_FILENO),
            isInputTerminal: isatty(STDIN_FILENO) == 1, isQuiet: isQuiet,
            allowsColor: !noColor && environment["NO_COLOR", default: ""].isEmpty && environment["TERM"] != "dumb",
            hiding: HiddenInput.during, line: { readLine() })
    }

    /// Asks a person on standard error; returns the answer without surrounding spaces, nil at the input's end.
    package func ask(_ prompt: String) -> String? {
        try? error.write(prompt)
        guard let line = line() else { return nil }
        return String(line.trimmingPrefix { $0 == " " }.reversed().drop { $0 == " " || $0 == "\r" }.reversed())
    }

    /// The same for a secret: it is not shown while typed, and its spaces are kept.
    package func askHidden(_ prompt: String) -> String? {
        // Typing may begin as soon as the prompt appears, so echo is off before that.
        hiding {
            try? error.write(prompt)
            return line()
        }
    }

    package func print(_ text: String) throws { try output.write(text + "\n") }

    /// Writes the result of a finished command; a closed reader does not make it fail.
    package func report(_ body: (Console) throws -> Void) throws {
        do {
            try body(self)
        } catch {
            guard (error as? CommandFailure)?.status == .done else { throw error }
        }
    }

    /// A line for people on standard error, even when quiet; a broken standard error is ignored.
    package func complain(_ text: String) { try? error.write(text + "\n") }

    /// A line for people on standard error, unless quiet; on a terminal it is wrapped at spaces.
    package func remark(_ text: String) {
        guard !isQuiet else { return }
        complain(error.isTerminal ? Wrapping.lines(text, width: error.width).joined(separator: "\n") : text)
    }
}

extension Console.Stream {
    /// A file descriptor, which stays open.
    ///
    /// - Parameter name: A file's name, for the error of a failed write.
    static func descriptor(_ descriptor: Int32, name: String? = nil) -> Self {
        let isTerminal = isatty(descriptor) == 1
        let width = isTerminal ? TerminalSize.of(descriptor)?.columns ?? 80 : 80
        return Self(isTerminal: isTerminal, width: width, descriptor: descriptor) { text in
            var rest = Array(text.utf8)[...]
            while !rest.isEmpty {
                let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
                if count >= 0 {
                    rest = rest.dropFirst(count)
                } else if errno == EAGAIN {
                    var wait = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
                    poll(&wait, 1, -1)
                } else if errno != EINTR {
                    throw CommandFailure(writing: errno, to: name)
                }
            }
        }
    }
}
