public import HeraldEvents
public import HeraldThreads

extension Worker {
    /// A lane turns at once when it is asked; one that has not answered by then is stuck, or ends.
    private static let patience = Duration.milliseconds(500)

    /// The reasons why events wait, from the lanes that have them in memory.
    ///
    /// Blocks until all have answered, or their time is over: what a silent lane has is not known, and it is named.
    public func waiting(_ query: WaitingQuery) throws(SystemError) -> WaitingPage {
        let answers = Guarded<[Int: WaitingPage]>([:])
        let news = try Wakeup()
        let lanes = mailboxes
        for (number, mailbox) in lanes.enumerated() {
            mailbox.post(
                .question(
                    WaitingQuestion(query) { answer in
                        answers.withLock { $0[number] = answer }
                        news.signal()
                    }))
        }
        let end = ContinuousClock.now + Self.patience
        while answers.withLock({ $0.count }) < lanes.count, ContinuousClock.now < end {
            if news.wait(for: end - ContinuousClock.now) { news.drain() }
        }
        let heard = answers.withLock { $0 }
        var page = WaitingPage(events: [])
        for number in lanes.indices {
            guard let answer = heard[number] else {
                page.silentLanes.append(number)
                continue
            }
            let room = WaitingPage.eventLimit - page.events.count
            page.events += answer.events.prefix(room)
            page.hidden += answer.hidden + max(0, answer.events.count - room)
        }
        return page
    }
}
