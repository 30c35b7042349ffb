/// The newest sends, by number and message id, limited in number and size.
struct SendLog: Sendable {
    static let limitBytes = 256 << 20

    private let limit: Int
    private var sends: [Int: HubSend] = [:]
    private var numbers: [String: Int] = [:]
    private var oldest = 1
    private var sizeBytes = 0
    private(set) var lastNumber = 0

    init(limit: Int) {
        self.limit = max(limit, 1)
    }

    /// The remaining sends, oldest first.
    var elements: [HubSend] { lastNumber < oldest ? [] : (oldest...lastNumber).compactMap { sends[$0] } }

    mutating func append(_ send: HubSend) -> HubSend {
        var send = send
        lastNumber += 1
        send.number = lastNumber
        sends[lastNumber] = send
        if let id = send.messageID { numbers[id] = lastNumber }
        sizeBytes += send.sizeBytes
        while sends.count > limit || (sizeBytes > Self.limitBytes && sends.count > 1) { dropOldest() }
        return send
    }

    subscript(message id: String) -> HubSend? { numbers[id].flatMap { sends[$0] } }

    mutating func update(_ id: String, _ change: (inout HubSend) -> Void) {
        guard let number = numbers[id], var send = sends.removeValue(forKey: number) else { return }
        change(&send)
        sends[number] = send
    }

    /// Forgets the sends so far; their numbers are not reused.
    mutating func removeAll() {
        sends = [:]
        numbers = [:]
        oldest = lastNumber + 1
        sizeBytes = 0
    }

    private mutating func dropOldest() {
        if let send = sends.removeValue(forKey: oldest) {
            sizeBytes -= send.sizeBytes
            if let id = send.messageID { numbers[id] = nil }
        }
        oldest += 1
    }
}
