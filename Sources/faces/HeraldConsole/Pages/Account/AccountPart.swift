internal import HeraldAccount
internal import HeraldText
internal import HeraldThreads
internal import HeraldTime
internal import HeraldTools

/// The *Account* page: what was published in a span of time, and what became of it.
///
/// It reads topics for seconds or minutes, so it is a task that ends when no page asks for it any more.
final class AccountPart: ConsolePart {
    private static let mostNamed = 1_000

    private let context: ConsoleContext
    private let accounts: AskedTasks<AccountRun>
    private let housekeeping: RepeatedWork

    init(_ context: ConsoleContext) throws {
        self.context = context
        let accounts = try AskedTasks<AccountRun>(
            name: "account", most: 2, keeping: .seconds(600),
            busy: "two accounts are made already; wait until one has ended"
        )
        self.accounts = accounts
        housekeeping = try RepeatedWork(name: "housekeeping", every: .seconds(30)) { accounts.sweep() }
    }

    func stop() {
        housekeeping.stop()
        accounts.stop()
    }

    var routes: [ConsoleRoute] {
        [
            .get("/api/account") { [self] in try begin($0) },
            .get("/api/account/*") { [self] in try standing(of: $0.parameters[0]) },
        ]
    }

    private func begin(_ request: ConsoleRequest) throws -> ConsoleAnswer {
        let now = SystemClock.wall()
        func moment(_ name: String) throws -> WallTime? {
            guard let text = request.text(name), !text.isEmpty else { return nil }
            guard let moment = MomentText.parse(text, now: now) else {
                throw FormMistake(name, "\(SafeText.quoted(text)) is not understood; write 22:00, 24h or a moment")
            }
            return moment
        }
        let (since, until) = (try moment("since"), try moment("until"))
        if let since, since >= until ?? now {
            throw FormMistake("since", "is not before \(until == nil ? "now" : "the end")")
        }
        let key = AccessToken.random()
        let asked = AccountRun(since: request.text("since"), until: request.text("until"))
        try accounts.begin(key) { [context] work in
            var run = asked
            work.publish(run)
            run.account = try context.account.account(
                since: since, until: until, naming: Self.mostNamed, reach: context.reach, admin: context.admin
            ) { stage, passed, total in
                (run.stage, run.passed, run.total) = (stage.rawValue, passed, total)
                work.publish(run)
                return work.isWanted
            }
            work.publish(run)
        }
        return .json(asked.json.with("account", .string(key)))
    }

    private func standing(of key: String) throws -> ConsoleAnswer {
        guard let snapshot = accounts.ask(key), let run = snapshot.value else {
            throw Refused("this account was forgotten; make it again", status: 404)
        }
        if let failure = snapshot.failure { return .json(["state": "failed", "error": .failure(failure)]) }
        return .json(run.json.with("account", .string(key)))
    }
}

/// An account as a page asks for it: how far it is, and what came out.
struct AccountRun: Sendable {
    /// As they were asked for; `nil` for the topics' beginning, and for now.
    let since: String?
    let until: String?
    var stage: String?
    var passed: Int64 = 0
    var total: Int64 = 0
    var account: Account?

    var json: JSONValue {
        var members: [JSONValue.Member] = [
            .init("state", account == nil ? "reading" : "done"), .init("stage", .text(stage)),
            .init("passed", .integer(Int(passed))), .init("total", .integer(Int(total))),
            .init(
                "command",
                .words(
                    ["herald", "account"]
                        + [("--since", since), ("--until", until)].flatMap { option, value in
                            value.map { $0.isEmpty ? [] : [option, $0] } ?? []
                        })),
        ]
        if let account {
            members += account.json
            members += [
                .init("missingCount", .integer(account.missingCount)),
                .init("sentences", .words(account.sentences)),
                .init("columns", .words(account.total.columns.map(\.name))),
            ]
        }
        return JSONValue.object(members).safe
    }
}
