import HeraldEvents
import HeraldKernel
import HeraldSettings
import HeraldTime

extension Settings {
    /// When a call that failed for now is made again: what workers do, and what `herald explain` says that they will do.
    var retryPolicy: RetryPolicy {
        RetryPolicy(
            immediate: retry.immediate, delays: retryDelayNames.map(\.length),
            maxElapsed: Milliseconds(retry.maxElapsed))
    }

    /// The delays of the retry topics.
    var retryDelayNames: [DelayName] { retry.delays.compactMap { DelayName($0.text) } }
}
