// The table of users' last words, of ten million users or another number: what it takes, and how fast it is.
//
//     last-word [USERS]

import Foundation
import HeraldCore
import HeraldEvents

let count = CommandLine.arguments.dropFirst().first.flatMap { Int($0) } ?? 10_000_000
let clock = ContinuousClock()
let table = LastWord(hashSeed: 7, pushServices: .standard, maxLag: .seconds(5))

/// Calls `body` with each user's name, and prints how long one took.
func measure(_ what: String, _ users: Range<Int>, _ body: (RawSpan) -> Void) {
    let duration = clock.measure {
        for number in users {
            let user = "user-\(number)"
            body(user.utf8.span.bytes)
        }
    }
    let (seconds, attoseconds) = duration.components
    let nanoseconds = Double(seconds) * 1e9 + Double(attoseconds) / 1e9
    print("\(what): \(Int(nanoseconds / Double(users.count))) ns each, \(Int(nanoseconds / 1e6)) ms in all")
}

/// The most memory that the process has had.
func peak() -> String {
    let status = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
    return status.split(separator: "\n").first { $0.hasPrefix("VmHWM") }.map { String($0.dropFirst(6)) } ?? ""
}

var optOut = OptOut()
optOut.isOfPromotional = true
var found = 0

measure("the name alone", 0..<count) { found &+= $0.byteCount }
measure("set", 0..<count) { table.set(optOut, of: $0) }
print("\(table.users) users: \(table.bytes) bytes, \(Double(table.bytes) / Double(count)) each; peak\(peak())")
found = 0
measure("found", 0..<count) { if table.hasOptedOut($0) { found += 1 } }
measure("not found", count..<2 * count) { if table.hasOptedOut($0) { found += 1 } }
precondition(found == count, "\(found) of \(count) users are found")
measure("set again", 0..<count) { table.set(optOut, of: $0) }
