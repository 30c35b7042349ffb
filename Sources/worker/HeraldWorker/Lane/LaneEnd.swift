/// How a lane ended.
package enum LaneEnd: Sendable, Equatable {
    /// It drained and left the group; everything under way was finished or, if not `complete`, will be taken again.
    case drained(complete: Bool)
    /// It can't go on; the sentence says what happened and what to do.
    case failed(String)
}
