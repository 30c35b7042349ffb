import FoundationEssentials
import Glibc
import HeraldHTTP
import HeraldText
import HeraldThreads

/// A real one-node Apache Kafka in a temporary directory: for tests whose clients cannot talk to ``EmbeddedBroker``.
///
/// It ends with this object or this process, even a killed one: a shell beside it holds a pipe, ends the broker when
/// the pipe closes, and removes the directory.
package final class LocalKafka: Sendable {
    package struct Failure: Error, CustomStringConvertible {
        package let description: String
    }

    /// Its address, for the setting `kafka.bootstrapServers`.
    package let bootstrapServers: String

    private static let patience = Duration.seconds(90)
    private static let heap = "-Xmx256m"

    private let keeper: pid_t
    private let pipe: Int32

    /// Starts it, and returns when it accepts connections, after 3 to 5 s.
    ///
    /// - Parameters:
    ///   - home: the folder of an unpacked Kafka release (3.3 or later), with `libs`.
    ///   - environment: `JAVA_HOME` or `PATH` locate Java, `TMPDIR` the directory.
    package init(home: String, environment: [String: String]) throws(Failure) {
        guard access("\(home)/libs", R_OK | X_OK) == 0 else {
            throw Failure(
                description:
                    "\(SafeText.escaped(home)) is no Kafka: it has no folder libs. Name the folder that Kafka's "
                    + "kafka_2.13-….tgz unpacks to.")
        }
        let java = try Self.java(environment)
        let directory = try Self.directory(environment["TMPDIR"])
        let ports: [UInt16]
        do throws(Failure) {
            ports = try Self.freePorts(2)
            try Self.prepare(directory, port: ports[0], controller: ports[1])
            (keeper, pipe) = try Self.start(
                [
                    java, Self.heap, "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1",
                    "-Dlog4j2.configurationFile=\(directory)/log4j2.properties", "-cp", "\(home)/libs/*", "kafka.Kafka",
                    "\(directory)/server.properties",
                ], in: directory)
        } catch {
            try? FileManager.default.removeItem(atPath: directory)
            throw error
        }
        bootstrapServers = "127.0.0.1:\(ports[0])"
        do throws(Failure) {
            try Self.waitUntilReady(port: ports[0], in: directory)
        } catch {
            Self.end(keeper, pipe)
            throw error
        }
    }

    deinit { Self.end(keeper, pipe) }

    private static func end(_ keeper: pid_t, _ pipe: Int32) {
        close(pipe)
        while waitpid(keeper, nil, 0) == -1, errno == EINTR {}
    }

    // MARK: Requirements

    private static func java(_ environment: [String: String]) throws(Failure) -> String {
        let homes = environment["JAVA_HOME"].map { $0.isEmpty ? [] : ["\($0)/bin"] } ?? []
        let folders = homes + (environment["PATH"] ?? "/usr/bin:/bin").split(separator: ":").map(String.init)
        guard let folder = folders.first(where: { access("\($0)/java", X_OK) == 0 }) else {
            throw Failure(
                description:
                    "Kafka needs Java 17 or later, and there is no java on the PATH: install it, or set JAVA_HOME.")
        }
        return "\(folder)/java"
    }

    private static func directory(_ parent: String?) throws(Failure) -> String {
        var template = Array("\(parent ?? "/tmp")/herald-sandbox-XXXXXX".utf8CString)
        guard let path = mkdtemp(&template) else { throw failure("there is no temporary directory (TMPDIR)") }
        return String(cString: path)
    }

    /// Ports that are free at this moment: Kafka must know its ports before it opens them.
    private static func freePorts(_ count: Int) throws(Failure) -> [UInt16] {
        var sockets: [ListeningSocket] = []
        defer { for socket in sockets { close(socket.descriptor) } }
        do throws(SystemError) {
            for _ in 0..<count { sockets.append(try ListeningSocket(host: "127.0.0.1", port: 0)) }
        } catch {
            throw Failure(description: "Kafka was not started: \(error)")
        }
        return sockets.map(\.port)
    }

    // MARK: Its files

    /// Writes the files it reads; this spares a Java process for `StorageTool format`.
    private static func prepare(_ directory: String, port: UInt16, controller: UInt16) throws(Failure) {
        let data = "\(directory)/data"
        guard mkdir(data, 0o700) == 0 else { throw failure("\(data) cannot be made") }
        try write(
            "version=1\nnode.id=1\ncluster.id=\(identity())\ndirectory.id=\(identity())\n",
            to: "\(data)/meta.properties")
        try write(
            """
            process.roles=broker,controller
            node.id=1
            controller.quorum.voters=1@127.0.0.1:\(controller)
            listeners=PLAINTEXT://127.0.0.1:\(port),CONTROLLER://127.0.0.1:\(controller)
            controller.listener.names=CONTROLLER
            listener.security.protocol.map=CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT
            log.dirs=\(data)
            num.network.threads=2
            num.io.threads=4
            broker.session.timeout.ms=60000
            group.initial.rebalance.delay.ms=0
            offsets.topic.replication.factor=1
            offsets.topic.num.partitions=1
            transaction.state.log.replication.factor=1
            transaction.state.log.min.isr=1
            transaction.state.log.num.partitions=1
            log.cleaner.dedupe.buffer.size=2097152

            """, to: "\(directory)/server.properties")
        try write(
            """
            appender.c.type = Console
            appender.c.name = C
            appender.c.layout.type = PatternLayout
            appender.c.layout.pattern = %p %m%n
            rootLogger.level = warn
            rootLogger.appenderRef.c.ref = C

            """, to: "\(directory)/log4j2.properties")
    }

    /// 22 letters and digits, Kafka's form of 16 bytes; the last one can only be one of four.
    private static func identity() -> String {
        let letters = Array("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789")
        return String((0..<21).map { _ in letters[Int.random(in: letters.indices)] }) + "A"
    }

    private static func write(_ text: String, to path: String) throws(Failure) {
        guard FileManager.default.createFile(atPath: path, contents: Data(text.utf8)) else {
            throw failure("\(path) cannot be written")
        }
    }

    private static func failure(_ what: String) -> Failure {
        Failure(description: "Kafka was not started: \(what): \(String(cString: strerror(errno)))")
    }

    // MARK: Its process

    /// The keeper; it outlives this process briefly to clean up.
    private static let script = """
        directory=$1; shift
        "$@" </dev/null >"$directory/log" 2>&1 &
        echo $! >"$directory/pid"
        while read -r _; do :; done
        kill -KILL $! 2>/dev/null; wait $! 2>/dev/null
        /bin/rm -rf "$directory"
        """

    private static func start(_ command: [String], in directory: String) throws(Failure) -> (pid_t, Int32) {
        var ends: [Int32] = [0, 0]
        guard Glibc.pipe(&ends) == 0 else { throw failure("there is no pipe") }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_adddup2(&actions, ends[0], STDIN_FILENO)
        // A reader of this process's output must not wait for the end of the broker's.
        posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0)
        posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0)
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var signals = sigset_t()
        sigfillset(&signals)
        posix_spawnattr_setsigdefault(&attributes, &signals)
        sigemptyset(&signals)
        posix_spawnattr_setsigmask(&attributes, &signals)
        // A terminal's stop key is for the sandbox alone.
        posix_spawnattr_setpgroup(&attributes, 0)
        posix_spawnattr_setflags(
            &attributes, Int16(POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETPGROUP))
        let words = ["sh", "-c", script, "sh", directory] + command
        var arguments: [UnsafeMutablePointer<CChar>?] = words.map { strdup($0) } + [nil]
        defer { for argument in arguments { free(argument) } }
        var id: pid_t = 0
        let number = posix_spawn(&id, "/bin/sh", &actions, &attributes, &arguments, environ)
        close(ends[0])
        guard number == 0 else {
            close(ends[1])
            errno = number
            throw failure("there is no shell")
        }
        return (id, ends[1])
    }

    private static func waitUntilReady(port: UInt16, in directory: String) throws(Failure) {
        let end = ContinuousClock.now + patience
        var id = ""
        while !takesConnections(port) {
            id = id.isEmpty ? text(of: "\(directory)/pid").filter(\.isNumber) : id
            // An ended process has no program any more, even before its parent has waited for it.
            guard id.isEmpty || access("/proc/\(id)/exe", F_OK) == 0 else {
                throw Failure(description: "Kafka stopped while it started:\n\(lastLines(of: directory))")
            }
            guard ContinuousClock.now < end else {
                throw Failure(description: "Kafka did not start within \(patience):\n\(lastLines(of: directory))")
            }
            usleep(20_000)
        }
    }

    private static func takesConnections(_ port: UInt16) -> Bool {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = INADDR_LOOPBACK.bigEndian
        address.sin_port = port.bigEndian
        return withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
            }
        }
    }

    private static func lastLines(of directory: String) -> String {
        text(of: "\(directory)/log").split(separator: "\n").suffix(10).map { SafeText.escaped(String($0)) }
            .joined(separator: "\n")
    }

    private static func text(of path: String) -> String {
        String(decoding: FileManager.default.contents(atPath: path) ?? Data(), as: UTF8.self)
    }
}
