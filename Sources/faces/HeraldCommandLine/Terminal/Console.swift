import Glibc
import HeraldText

/// What a command reads from and writes to: data on standard output, everything else on standard error.
package struct Console: Sendable {
    package struct Stream: Sendable {
        package let isTerminal: Bool
        /// Columns of the terminal; 80 when it is none.
        package let width: Int
        /// The file behind it, if it is one.
        let descriptor: Int32?
        private let sink: @Sendable (String) throws -> Void

        /// A stream that hands its text to `sink`.
        package init(isTerminal: Bool, width: Int = 80, sink: @escaping @Sendable (String) throws -> Void) {
            self.init(isTerminal: isTerminal, width: width, descriptor: nil, sink: sink)
        }

        fileprivate init(
            isTerminal: Bool, width: Int, descriptor: Int32?,
            sink: @escaping @Sendable (String) throws -> Void
        ) {
            self.isTerminal = isTerminal
            self.width = width
            self.descriptor = descriptor
            self.sink = sink
        }

        /// Writes the text as it is.
        package func write(_ text: String) throws { try sink(text) }
    }

    /// Standard output: data.
    package let output: Stream
    /// Standard error: progress, prompts, logs, mistakes.
    package let error: Stream
    /// Whether a person can answer on standard input.
    package let isInputTerminal: Bool
    package let isQuiet: Bool
    /// Whether colours are allowed where a terminal is.
    package let allowsColor: Bool
    private let line: @Sendable () -> String?
    /// Runs what it is given, a prompt and the reading of its answer, while the terminal shows nothing that is typed.
    private let hiding: @Sendable (() -> String?) -> String?

    /// A console of these parts; `line` gives the next line of standard input.
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

    /// The process's own console.
    ///
    /// `NO_COLOR` (not empty) and `TERM=dumb` forbid colours.
    package static func system(environment: [String: String], isQuiet: Bool, noColor: Bool) -> Self {
        Self(
            output: .descriptor(STDOUT_FILENO), error: .descriptor(STDERR_FILENO),
            isInputTerminal: isatty(STDIN_FILENO) == 1, isQuiet: isQuiet,
            allowsColor: !noColor && environment["NO_COLOR", default: ""].isEmpty && environment["TERM"] != "dumb",
            hiding: HiddenInput.during, line: { readLine() })
    }

    /// The next line of standard input; nil at its end.
    package func readInputLine() -> String? { line() }

    /// Asks a person on standard error; the answer without the spaces around it, nil at the input's end.
    package func ask(_ prompt: String) -> String? {
        try? error.write(prompt)
        guard let line = line() else { return nil }
        return String(line.trimmingPrefix { $0 == " " }.reversed().drop { $0 == " " || $0 == "\r" }.reversed())
    }

    /// The same for a secret: it is not shown, and is taken as it is typed.
    package func askHidden(_ prompt: String) -> String? {
        // What is typed as soon as the prompt is seen must not show.
        hiding {
            try? error.write(prompt)
            return line()
        }
    }

    package func print(_ text: String) throws { try output.write(text + "\n") }

    /// Writes what a command has done: a reader that has gone changes nothing of it.
    package func report(_ body: (Console) throws -> Void) throws {
        do {
            try body(self)
        } catch {
            guard (error as? CommandFailure)?.status == .done else { throw error }
        }
    }

    /// A line for people on standard error, also when quiet; a broken standard error is ignored.
    package func complain(_ text: String) { try? error.write(text + "\n") }

    /// A line for people on standard error, unless quiet; a terminal gets it broken at spaces.
    package func remark(_ text: String) {
        guard !isQuiet else { return }
        complain(error.isTerminal ? Wrapping.lines(text, width: error.width).joined(separator: "\n") : text)
    }
}

extension Console.Stream {
    /// A file descriptor, which stays open.
    ///
    /// - Parameter name: a file's, for what is said when it takes no more.
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
