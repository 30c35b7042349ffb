/// Why a request gets no answer, with HTTP's status for it.
package struct Refused: Error, Equatable, CustomStringConvertible {
    package let status: Int
    /// A sentence for people.
    package let description: String

    package init(_ description: String, status: Int) {
        self.description = description
        self.status = status
    }
}
