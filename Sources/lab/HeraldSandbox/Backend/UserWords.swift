package import HeraldText

/// What users said last, for `/sandbox/preferences/USER`.
///
/// Any thread; each call may take as long as a broker's answer.
package protocol UserWords: Sendable {
    /// The user's word; `nil` without one.
    func word(of user: String) throws -> JSONValue?
    /// Takes a record's value for the user's word, and returns when it holds.
    ///
    /// - Throws: `InvalidArgument` for a value or a user that cannot be.
    func set(_ value: [UInt8], of user: String) throws
    /// Forgets the user's word, and returns when that holds.
    func forget(_ user: String) throws
}

extension UserWords {
    /// Answers a request about a user's word.
    func reply(to method: String, of user: String, _ body: [UInt8]) -> Reply? {
        do {
            switch method {
            case "GET":
                return try word(of: user).map { .json($0) } ?? .failure(404, "this user has said nothing")
            case "PUT": try set(body, of: user)
            case "DELETE": try forget(user)
            default: return nil
            }
            return .ok
        } catch let error as InvalidArgument {
            return .failure(400, error.description)
        } catch {
            return .failure(503, "\(error)")
        }
    }
}
