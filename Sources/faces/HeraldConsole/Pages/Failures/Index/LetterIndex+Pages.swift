internal import HeraldReplay
internal import HeraldTime

extension LetterIndex {
    /// The newest matching letters after a position in that order.
    func newest(
        _ condition: Condition, atMost limit: Int, behind cursor: LetterOrder?, isOver: () -> Bool
    ) -> IndexAnswer<[LetterOrder]> {
        var newest = NewestLetters<Void>(limit: limit, behind: cursor)
        var matched = 0
        let isCertain = visit(condition, isOver: isOver) { partition, row in
            matched += 1
            newest.add(
                LetterOrder(moment: WallTime(milliseconds: row.moment), partition: partition, offset: row.offset)
            ) {}
        }
        return IndexAnswer(value: newest.letters.map(\.order), matched: matched, isCertain: isCertain)
    }
}
