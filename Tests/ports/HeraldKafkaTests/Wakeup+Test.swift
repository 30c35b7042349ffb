import Foundation
import HeraldThreads

extension Wakeup {
    /// Blocks, and says whether it was woken within this time; takes all signals away.
    func wait(milliseconds: Int64) -> Bool {
        defer { drain() }
        return wait(for: .milliseconds(milliseconds))
    }

    /// As ``wait(milliseconds:)``, without keeping one of the few threads that async tests share.
    func waiting(milliseconds: Int64) async -> Bool {
        await withCheckedContinuation { continuation in
            Thread.detachNewThread { continuation.resume(returning: self.wait(milliseconds: milliseconds)) }
        }
    }
}
