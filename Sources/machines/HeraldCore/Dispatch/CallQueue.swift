import HeraldEvents

/// The wanted calls that have not begun, in a queue for each class of urgency and each push service.
///
/// A class is a request topic, or all retries together. Classes get their turns by weight, so that a one-time code is
/// never behind a campaign; within a class the push services take turns, so that one which may not be called at the moment
/// delays no other. Tokens whose event is gone stay until their turn, and are recognised then.
struct CallQueue: Sendable {
    private let width: Int
    private var rings: [Ring<CallToken>]
    private var weights: [Int]
    private var credits: [Int]
    private var counts: [Int]
    /// The push services with calls, for each class.
    private var waiting: [PushServiceSet]
    private var lastService: [Int]
    private var cursor = 0
    /// The number of calls.
    private(set) var count = 0

    /// Queues for `width` push services (64 at most) and one class of each weight.
    init(width: Int, weights: [Int]) {
        self.width = width
        self.weights = weights
        let filler = CallToken(slot: SlotID(index: 0, generation: 0), service: 0)
        rings = Array(repeating: Ring(capacity: 16, filler: filler), count: width * weights.count)
        credits = weights
        counts = Array(repeating: 0, count: weights.count)
        waiting = Array(repeating: PushServiceSet(), count: weights.count)
        lastService = Array(repeating: 63, count: weights.count)
    }

    var isEmpty: Bool { count == 0 }

    /// The number of classes.
    var classes: Int { weights.count }

    /// The number of calls of a class.
    func count(ofClass number: Int) -> Int { counts[number] }

    /// The number of calls of a class to a push service.
    func count(ofClass number: Int, toService service: Int) -> Int { rings[number * width + service].count }

    /// The number of calls to a push service.
    func count(toService service: Int) -> Int {
        var sum = 0
        for number in weights.indices { sum += rings[number * width + service].count }
        return sum
    }

    /// The push services with calls.
    var services: PushServiceSet { waiting.reduce(PushServiceSet()) { $0.union($1) } }

    mutating func append(_ token: CallToken, toClass number: Int) {
        rings[number * width + Int(token.service)].append(token)
        waiting[number].insert(Int(token.service))
        counts[number] += 1
        count += 1
    }

    /// The next call to one of these push services.
    mutating func popFirst(among open: PushServiceSet) -> CallToken? {
        guard count > 0 else { return nil }
        if let number = classByCredit(open) { return pop(number, open) }
        var any = false
        for number in weights.indices where !waiting[number].intersection(open).isEmpty {
            credits[number] = weights[number]
            any = true
        }
        guard any, let number = classByCredit(open) else { return nil }
        return pop(number, open)
    }

    /// The call of a class that suits and has waited longest, or came last.
    func find(ofClass number: Int, newest: Bool, where suits: (CallToken) -> Bool) -> CallToken? {
        for service in waiting[number] {
            let ring = rings[number * width + service]
            for place in 0..<ring.count {
                let token = ring[newest ? ring.count - 1 - place : place]
                if suits(token) { return token }
            }
        }
        return nil
    }

    /// The number of calls of the class, to the same push service, before this one.
    func ahead(of token: CallToken, ofClass number: Int) -> Int {
        let ring = rings[number * width + Int(token.service)]
        return (0..<ring.count).first { ring[$0] == token } ?? 0
    }

    /// Removes this call of a class; the others stay in order.
    mutating func remove(_ token: CallToken, ofClass number: Int) {
        let service = Int(token.service)
        for _ in 0..<rings[number * width + service].count {
            guard let first = take(number, service), first != token else { continue }
            append(first, toClass: number)
        }
    }

    /// Removes the calls to a push service, and returns them.
    mutating func removeAll(toService service: Int) -> [CallToken] {
        var removed: [CallToken] = []
        for number in weights.indices {
            while let token = take(number, service) { removed.append(token) }
        }
        return removed
    }

    mutating func removeAll() {
        for index in rings.indices { rings[index].removeAll() }
        for number in weights.indices {
            counts[number] = 0
            waiting[number] = PushServiceSet()
        }
        count = 0
    }

    private mutating func classByCredit(_ open: PushServiceSet) -> Int? {
        for step in weights.indices {
            var number = cursor + step
            if number >= weights.count { number -= weights.count }
            if credits[number] > 0, !waiting[number].intersection(open).isEmpty {
                cursor = number
                return number
            }
        }
        return nil
    }

    private mutating func pop(_ number: Int, _ open: PushServiceSet) -> CallToken? {
        credits[number] -= 1
        let candidates = waiting[number].intersection(open).rawValue
        let behind = lastService[number] == 63 ? 0 : candidates >> UInt64(lastService[number] + 1)
        let service =
            behind == 0
            ? candidates.trailingZeroBitCount : lastService[number] + 1 + behind.trailingZeroBitCount
        lastService[number] = service
        return take(number, service)
    }

    private mutating func take(_ number: Int, _ service: Int) -> CallToken? {
        let index = number * width + service
        guard let token = rings[index].popFirst() else { return nil }
        if rings[index].isEmpty { waiting[number].remove(service) }
        counts[number] -= 1
        count -= 1
        return token
    }
}
