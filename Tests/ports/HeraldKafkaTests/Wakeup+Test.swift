import Foundation
import HeraldThreads

extension Wakeup {
    /// Blocks up to this long; returns whether a signal came, and takes all signals away.
    func wait(milliseconds: Int64) -> Bool {
        defer { drain() }
        return wait(for: .milliseconds(milliseconds))
    }

    /// Like ``wait(milliseconds:)``, without occupying one of the few threads that async tests share.
    func waiting(milliseconds: Int64) async -> Bool {
        await withCheckedContinuation { continuation in
            Thread.detachNewThread { continuation.resume(returning: self.wait(milliseconds: milliseconds)) }
        }
    }
}
