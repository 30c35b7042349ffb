import Glibc
import HeraldCommandLine

// A reader that has gone shows as a failed write, not as a signal.
signal(SIGPIPE, SIG_IGN)
exit(await Herald.run(Array(CommandLine.arguments.dropFirst())).rawValue)
