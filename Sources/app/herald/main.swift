import Glibc
import HeraldCommandLine
import HeraldThreads

// A reader that has gone becomes a write error, not a signal.
signal(SIGPIPE, SIG_IGN)
CoreDumps.forbid()
let status = await Herald.run(Array(CommandLine.arguments.dropFirst()))
// Skips the handlers of exit(3): OpenSSL's free memory that threads ending at the same time still use, and the process
// would crash after finishing its work. There is nothing to flush, since all output goes straight to its descriptor.
_exit(status.rawValue)
