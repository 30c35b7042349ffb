internal import HeraldReplay
internal import HeraldText

/// The results of each batch of a replay: pure, fed with its progress.
struct BatchLog: Sendable {
    struct Batch: Sendable, Equatable {
        var number: Int
        var replayed = 0
        var delivered = 0
        var failed = 0
    }

    private static let limit = 50
    private(set) var batches: [Batch] = []
    private var before = ReplayProgress()

    mutating func note(_ progress: ReplayProgress) {
        if batches.last?.number != progress.batch {
            // The counts at the beginning of a batch belong to earlier ones.
            update(progress)
            before = progress
            batches.append(Batch(number: progress.batch))
            if batches.count > Self.limit { batches.removeFirst() }
        }
        update(progress)
    }

    private mutating func update(_ progress: ReplayProgress) {
        guard let index = batches.indices.last else { return }
        batches[index].replayed = progress.replayed - before.replayed
        batches[index].delivered = progress.delivered - before.delivered
        batches[index].failed = progress.failed - before.failed
    }

    var object: JSONValue {
        .array(
            batches.map { batch in
                [
                    "batch": .integer(batch.number), "replayed": .integer(batch.replayed),
                    "delivered": .integer(batch.delivered), "failed": .integer(batch.failed),
                ]
            })
    }
}
