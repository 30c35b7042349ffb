import HeraldEvents
import HeraldText
import HeraldTime
import Testing

@testable import HeraldBackend

@Suite("Requests, byte for byte")
struct RequestWriterTests {
    private func target(_ credentials: Credentials) throws -> HTTPTarget {
        let configuration = try BackendConfiguration(url: "http://backend:8080", credentials: credentials)
        return HTTPTarget().showing(credentials.authorization, of: configuration, session: 0)
    }

    private func notification(
        _ target: HTTPTarget, user: String, message: String, key: String, traceparent: String = ""
    ) -> String {
        let call = TargetCall(
            token: 1, pushService: Array("apns".utf8), traceparent: Array(traceparent.utf8),
            now: WallTime(milliseconds: 0))
        var output: [UInt8] = []
        var scratch: [UInt8] = []
        let ended = target.write(
            call, of: DecodedEvent(id: key, user: user, message: message), value: [UInt8]().span.bytes,
            scratch: &scratch
        ) { $0(&output) }
        #expect(ended == nil)
        return String(decoding: output, as: UTF8.self)
    }

    @Test("A notification")
    func plain() throws {
        let target = try target(.basic(username: "alice", password: Secret("wonder")))
        let trace = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
        #expect(
            notification(target, user: "bob", message: "Hello", key: "notifications/3/42", traceparent: trace)
                == "POST /api/notifications?pns=apns&to_tag=bob HTTP/1.1\r\nHost: backend:8080\r\n"
                + "Authorization: Basic YWxpY2U6d29uZGVy\r\nUser-Agent: herald\r\n"
                + "Content-Type: application/json; charset=utf-8\r\nContent-Length: 7\r\n"
                + "Idempotency-Key: notifications/3/42:bob:apns\r\ntraceparent: \(trace)\r\n\r\n\"Hello\"")
    }

    @Test("A body that is an object has the message and all other parts; nothing else of the request differs")
    func object() throws {
        func request(_ body: HTTPBody, _ members: String) throws -> String {
            let value = Array(#"{"id":"i","user":"bob","pns":"apns","message":"a\"b"\#(members)}"#.utf8)
            var event = DecodedEvent()
            let failure = RecordDecoder().decode(
                topicKind: .request, topic: "t", partition: 0, offset: 0, value: value.span.bytes,
                headers: HeaderList(), into: &event)
            #expect(failure == nil)
            let configuration = try BackendConfiguration(url: "http://backend:8080", credentials: .none)
            let target = HTTPTarget(body: body).showing(nil, of: configuration, session: 0)
            #expect(target.carries(to: "apns") == (body == .object ? .all : []))
            var (output, scratch): ([UInt8], [UInt8]) = ([], [])
            let call = TargetCall(token: 1, pushService: Array("apns".utf8), now: WallTime(milliseconds: 0))
            let ended = target.write(call, of: event, value: value.span.bytes, scratch: &scratch) { $0(&output) }
            #expect(ended == nil)
            return String(decoding: output, as: UTF8.self)
        }
        func expected(_ body: String) -> String {
            "POST /api/notifications?pns=apns&to_tag=bob HTTP/1.1\r\nHost: backend:8080\r\nUser-Agent: herald\r\n"
                + "Content-Type: application/json; charset=utf-8\r\nContent-Length: \(body.utf8.count)\r\n"
                + "Idempotency-Key: i:bob:apns\r\n\r\n\(body)"
        }
        let all =
            #","category":"C","title":"t\n","badge":3,"link":"shop://1","data":{"b":"1","a":"\u00e9"},"image":"https://a/b","#
            + #""sound":"none""#
        #expect(try request(.text, all) == expected(#""a\"b""#))
        #expect(try request(.object, "") == expected(#"{"message":"a\"b"}"#))
        #expect(
            try request(.object, all)
                == expected(
                    #"{"message":"a\"b","title":"t\n","link":"shop://1","image":"https://a/b","#
                        + #""data":{"b":"1","a":"é"},"badge":3,"sound":"none","category":"C"}"#))
    }

    @Test("Characters that could add parameters, headers or others to a request are encoded")
    func hostile() throws {
        #expect(
            notification(
                try target(.none), user: "a@b.c#:-_&pns=x", message: "\"ü\"\r\n\u{2028}🎉+&#%", key: "id\r\nX-Evil: 1")
                == "POST /api/notifications?pns=apns&to_tag=a%40b.c%23%3A-_%26pns%3Dx HTTP/1.1\r\nHost: backend:8080\r\n"
                + "User-Agent: herald\r\nContent-Type: application/json; charset=utf-8\r\nContent-Length: 26\r\n"
                + "Idempotency-Key: id%0D%0AX-Evil%3A%201:a%40b.c%23%3A-_%26pns%3Dx:apns\r\n\r\n\"\\\"ü\\\"\\r\\n\\u2028🎉+&#%\""
        )
    }

    @Test("In a user that is any text, only RFC 3986's unreserved characters are unchanged")
    func anyText() throws {
        for scalar in (1..<0x180).compactMap({ Unicode.Scalar($0) }) {
            let user = String(Character(scalar))
            let isUnreserved = scalar.isASCII && (scalar.properties.isAlphabetic || "0123456789-._~".contains(user))
            let encoded = user.utf8.map { byte in
                let digits = String(byte, radix: 16, uppercase: true)
                return "%" + (byte < 16 ? "0" : "") + digits
            }.joined()
            let request = notification(try target(.none), user: user, message: "m", key: "k")
            #expect(request.contains("&to_tag=\(isUnreserved ? user : encoded) HTTP/1.1\r\n"), "\(scalar.value)")
        }
        let request = notification(try target(.none), user: "o'neil+ü 🎉", message: "m", key: "k")
        #expect(request.contains("&to_tag=o%27neil%2B%C3%BC%20%F0%9F%8E%89 HTTP/1.1\r\n"))
        #expect(request.contains("Idempotency-Key: k:o%27neil%2B%C3%BC%20%F0%9F%8E%89:apns\r\n"))
    }

    @Test(
        "Other requests",
        arguments: [
            ("POST", nil, "POST /x HTTP/1.1\r\nHost: backend:8080\r\nUser-Agent: herald\r\nContent-Length: 0\r\n\r\n"),
            ("DELETE", nil, "DELETE /x HTTP/1.1\r\nHost: backend:8080\r\nUser-Agent: herald\r\n\r\n"),
            (
                "PUT", "{}",
                "PUT /x HTTP/1.1\r\nHost: backend:8080\r\nUser-Agent: herald\r\n"
                    + "Content-Type: application/json; charset=utf-8\r\nContent-Length: 2\r\n\r\n{}"
            ),
        ] as [(String, String?, String)])
    func others(method: String, body: String?, expected: String) throws {
        var output: [UInt8] = []
        RequestWriter(authority: "backend:8080", authorization: nil).append(
            method: method, target: "/x", json: body, to: &output)
        #expect(String(decoding: output, as: UTF8.self) == expected)
    }
}
