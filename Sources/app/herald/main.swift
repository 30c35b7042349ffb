import Glibc
import HeraldCommandLine
import HeraldThreads

// A reader that has gone shows as a failed write, not as a signal.
signal(SIGPIPE, SIG_IGN)
CoreDumps.forbid()
let status = await Herald.run(Array(CommandLine.arguments.dropFirst()))
// Without the handlers of exit(3): those of OpenSSL free what threads that end at the same moment use, and the process
// dies after all that it did. Nothing is left to be flushed, since all output goes straight to its descriptor.
_exit(status.rawValue)
