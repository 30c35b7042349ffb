internal import Dispatch
internal import HeraldThreads
import HeraldTime

/// Calls that block, each on a thread of its own, and waited for no longer than a given time.
enum SideBySide {
    /// What each call returned, in the items' order; `nil` for one that has not in time, which is left to itself.
    static func map<Item: Sendable, Result: Sendable>(
        _ items: [Item], within limit: Milliseconds, _ body: @escaping @Sendable (Item) -> Result
    ) -> [Result?] {
        let results = Guarded<[Result?]>(Array(repeating: nil, count: items.count))
        let all = DispatchGroup()
        for (index, item) in items.enumerated() {
            all.enter()
            let thread = try? OwnThread(name: "doctor") {
                let result = body(item)
                results.withLock { $0[index] = result }
                all.leave()
            }
            if thread == nil { all.leave() }
        }
        _ = all.wait(timeout: .now() + .milliseconds(Int(limit.count)))
        return results.withLock { $0 }
    }
}
