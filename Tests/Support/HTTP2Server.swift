import Foundation
import Glibc
import Testing

/// A Debian server that speaks HTTP/2, on loopback with the tests' certificate.
package final class HTTP2Server: Sendable {
    /// The kinds of servers.
    package enum Kind: String, Sendable, CaseIterable, CustomTestStringConvertible {
        /// From the package nghttp2-server.
        case nghttpd
        /// From the package nginx-light (or nginx).
        case nginx
        /// From the package apache2-bin, with mod_http2.
        case apache2

        package var testDescription: String { rawValue }

        var package: String {
            switch self {
            case .nghttpd: "nghttp2-server"
            case .nginx: "nginx-light"
            case .apache2: "apache2-bin"
            }
        }
    }

    /// The program's path; `nil` when it is not installed, which the run's last lines report.
    package static func path(_ name: String, package: String) -> String? {
        let found = ["/usr/sbin", "/usr/bin", "/usr/local/bin"].map { "\($0)/\(name)" }
            .first { FileManager.default.isExecutableFile(atPath: $0) }
        if found == nil {
            SkippedSuites.note(absent: "\(name) (Debian package \(package)): what it says of our HTTP/2")
        }
        return found
    }

    /// Scheme, address and port.
    public let origin: String
    private let port: Int
    private let folder: URL
    private let process: ChildProcess

    /// Starts it and waits until it listens; `nil` when it is not installed.
    ///
    /// - Parameters:
    ///   - streams: The maximum number of concurrent calls on a connection.
    ///   - calls: The number of calls after which a connection goes away, where configurable.
    package init?(_ kind: Kind, isEncrypted: Bool, streams: Int = 100, calls: Int = 1_000) throws {
        guard let program = Self.path(kind.rawValue, package: kind.package), let port = FreePorts.take(1).first else {
            return nil
        }
        self.port = port
        origin = "\(isEncrypted ? "https" : "http")://127.0.0.1:\(port)"
        folder = FileManager.default.temporaryDirectory.appending(path: "herald-\(UUID().uuidString)")
        let site = folder.appending(path: "site")
        try FileManager.default.createDirectory(at: site, withIntermediateDirectories: true)
        try Data("ok".utf8).write(to: site.appending(path: "x"))
        // Its workers may run as another user.
        for path in [folder.path, site.path] { chmod(path, 0o755) }
        let identity = try TestCertificates.shared().good
        let text: String
        switch kind {
        case .nghttpd: text = ""
        case .nginx:
            text = Self.nginx(folder, port, isEncrypted ? identity : nil, streams: streams, calls: calls)
        case .apache2:
            text = Self.apache(folder, port, isEncrypted ? identity : nil, streams: streams, calls: calls)
        }
        let file = folder.appending(path: "configuration")
        try text.write(to: file, atomically: true, encoding: .utf8)
        let command: [String] =
            switch kind {
            case .nghttpd:
                [program, "-a", "127.0.0.1", "-d", site.path, "-m", "\(streams)"]
                    + (isEncrypted
                        ? ["\(port)", identity.keyFile, identity.certificateFile] : ["--no-tls", "\(port)"])
            case .nginx: [program, "-c", file.path, "-p", folder.path]
            case .apache2: [program, "-X", "-f", file.path, "-k", "start"]
            }
        process = try ChildProcess(command, output: folder.appending(path: "output"))
    }

    /// Waits until it listens.
    package func listens() async throws -> Bool {
        try await eventually { !process.isRunning || isListening }
            && process.isRunning
    }

    /// Its output so far.
    package var output: String {
        ["output", "error.log"].map { (try? String(contentsOf: folder.appending(path: $0), encoding: .utf8)) ?? "" }
            .joined()
    }

    /// Makes it reload its configuration, which ends connections with GOAWAY where supported.
    package func reload() { process.signal(SIGHUP) }

    /// Ends it at once.
    package func stop() {
        // Its children end with it.
        process.signal(SIGTERM)
        _ = process.wait()
        try? FileManager.default.removeItem(at: folder)
    }

    private var isListening: Bool {
        let socket = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(socket) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        address.sin_port = UInt16(port).bigEndian
        return withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(socket, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
            }
        }
    }

    private static func nginx(
        _ folder: URL, _ port: Int, _ identity: ServerIdentity?, streams: Int, calls: Int
    ) -> String {
        let tls = identity.map { "ssl_certificate \($0.certificateFile); ssl_certificate_key \($0.keyFile);" }
        let paths = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map { "\($0)_temp_path \(folder.path)/\($0);" }
        return """
            daemon off; worker_processes 1; pid \(folder.path)/pid; error_log \(folder.path)/error.log;
            events { worker_connections 200; }
            http {
                access_log off; \(paths.joined(separator: " "))
                server {
                    listen 127.0.0.1:\(port) \(identity == nil ? "" : "ssl ")http2;
                    \(tls ?? "")
                    http2_max_concurrent_streams \(streams); keepalive_requests \(calls);
                    location / { return 200 "ok"; }
                }
            }
            """
    }

    private static func apache(
        _ folder: URL, _ port: Int, _ identity: ServerIdentity?, streams: Int, calls: Int
    ) -> String {
        let modules = (["mpm_event", "authz_core", "http2"] + (identity == nil ? [] : ["ssl"])).map {
            "LoadModule \($0)_module /usr/lib/apache2/modules/mod_\($0).so"
        }
        let tls = identity.map {
            "SSLEngine on\nSSLCertificateFile \($0.certificateFile)\nSSLCertificateKeyFile \($0.keyFile)"
        }
        return """
            \(modules.joined(separator: "\n"))
            ServerRoot \(folder.path)
            ServerName 127.0.0.1
            User nobody
            Group nogroup
            Listen 127.0.0.1:\(port)
            PidFile \(folder.path)/pid
            ErrorLog \(folder.path)/error.log
            DefaultRuntimeDir \(folder.path)
            DocumentRoot \(folder.path)/site
            Protocols \(identity == nil ? "h2c" : "h2 http/1.1")
            H2MaxSessionStreams \(streams)
            MaxKeepAliveRequests \(calls)
            \(tls ?? "")
            """
    }
}
