import Glibc
import HeraldCommandLine
import HeraldFeedback
import HeraldSettings
import HeraldTelemetry
import HeraldThreads
import HeraldTools

enum FeedbackCommand: HeraldCommand {
    static let declaration = CommandDeclaration(
        "feedback", "Ask a notification hub what became of each message, and record it.",
        details:
            "For each result that names the hub's message it asks the hub until the message is done with or 30 minutes "
            + "old, and writes one record to topics.feedback, exactly once; and one for each device that the hub's "
            + "feedback container names as gone. It needs backend.hub.telemetry and a hub of the Standard tier. One works "
            + "for a group at a time: a second one takes over from the first, which ends with 1. On SIGTERM or SIGINT it records "
            + "what it knows and exits with 0; what is open is asked about by the next one.",
        examples: [.init("herald feedback --config herald.yaml", "Run beside the workers.")])
    static let usedSettings: UsedSettings = .feedback
    static let isService = true

    static func run(_ invocation: Invocation) async throws -> ExitStatus {
        let settings = try invocation.settings(requiring: [.kafka, .backend])
        let configuration = try settings.target.feedbackConfiguration()
        let writer = try settings.logWriter()
        let logger = Logger(writer, level: settings.log.level)
        let follower = try FeedbackFollower(configuration, logger: logger)
        try StopSignals.catchAll()
        let signals = try OwnThread(name: "signals") {
            _ = StopSignals.wait()
            follower.stop()
            _ = StopSignals.wait()
            logger.warning("second signal: stopping at once")
            _ = writer.close(within: .milliseconds(200))
            _exit(ExitStatus.failed.rawValue)
        }
        logger.info("starting", ["group": .string(settings.feedbackGroup)])
        defer {
            withExtendedLifetime(signals) {}
            _ = writer.close(within: .seconds(2))
        }
        do throws(ToolFailure) {
            try follower.run()
            logger.info("stopped")
            return .done
        } catch {
            logger.error("\(error)")
            return .failed
        }
    }
}
