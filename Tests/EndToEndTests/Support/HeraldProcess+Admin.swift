import Foundation
import TestSupport

extension HeraldProcess {
    /// The admin port from the log; waits for it.
    func adminPort() async throws -> UInt16 {
        let line = try await waitForLog("serving health and metrics")
        let object = try JSONSerialization.jsonObject(with: Data(line.text.utf8)) as? [String: Any]
        let address = object?["address"] as? String ?? ""
        guard let colon = address.lastIndex(of: ":"), let port = UInt16(address[address.index(after: colon)...]) else {
            throw WorldError("no port in \(line.text)")
        }
        return port
    }

    /// Requests a page of the admin port.
    func page(_ path: String, headers: [String: String] = [:]) async throws -> PlainHTTP.Answer {
        let port = try await adminPort()
        return try await Blocking.run {
            try PlainHTTP.request(port: port, "GET", path, headers: headers)
        }
    }

    /// The samples of `/metrics`: the name with its labels, and the value.
    func metrics() async throws -> [String: Double] {
        let lines = try await page("/metrics").text.split(separator: "\n").filter { !$0.hasPrefix("#") }
        return Dictionary(
            lines.compactMap { line in
                line.lastIndex(of: " ").flatMap { space in
                    Double(line[line.index(after: space)...]).map { (String(line[..<space]), $0) }
                }
            }, uniquingKeysWith: { $1 })
    }

    /// Waits until `/readyz` answers 200.
    func waitUntilReady() async throws {
        var last = ""
        guard
            try await eventually(
                within: Patience.seconds,
                {
                    let answer = try await page("/readyz")
                    last = answer.text
                    return answer.status == 200
                })
        else { throw WorldError("not ready: \(last)") }
    }

    /// Waits until `/readyz` answers 503 with this reason and a sentence containing this part; returns the sentence.
    @discardableResult
    func waitUntilNotReady(_ reason: String, naming part: String? = nil) async throws -> String {
        func names(_ sentence: String?) -> Bool { sentence.map { part.map($0.contains) ?? true } ?? false }
        var last = ""
        var sentence: String?
        _ = try await eventually(within: Patience.seconds) {
            let answer = try await page("/readyz")
            last = answer.text
            guard answer.status == 503 else { return false }
            let object = try JSONSerialization.jsonObject(with: Data(answer.body)) as? [String: Any]
            let reasons = object?["reasons"] as? [[String: String]] ?? []
            sentence = reasons.first { $0["reason"] == reason }?["sentence"]
            return names(sentence)
        }
        guard let sentence, names(sentence) else { throw WorldError("not \(reason), but: \(last)") }
        return sentence
    }
}
