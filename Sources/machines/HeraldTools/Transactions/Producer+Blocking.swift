package import HeraldKafka
internal import HeraldThreads
package import HeraldTime

extension Producer {
    /// Makes a transactional call, which blocks, on a thread of its own, and goes on taking delivery reports meanwhile: a commit
    /// or an abort would never end without.
    package func blocking(
        pollingReports pollReports: (_ wait: Milliseconds) -> Void,
        _ call: @escaping @Sendable (Producer) throws(KafkaError) -> Void
    ) throws(KafkaError) {
        let outcome = Guarded<Result<Void, KafkaError>?>(nil)
        let thread: OwnThread
        do {
            thread = try OwnThread(name: "transaction") { [self] in
                let result: Result<Void, KafkaError>
                do throws(KafkaError) {
                    try call(self)
                    result = .success(())
                } catch {
                    result = .failure(error)
                }
                outcome.withLock { $0 = result }
            }
        } catch {
            throw KafkaError(code: KafkaError.Code.state, message: "\(error)")
        }
        while outcome.withLock({ $0 == nil }) { pollReports(.milliseconds(1)) }
        thread.join()
        pollReports(.zero)
        if case .failure(let error) = outcome.withLock({ $0 }) { throw error }
    }
}
