public import Foundation
public import Testing

/// A file or folder of `../shared/judges`: cases written by others, read from there.
public struct Judge: Sendable {
    /// Lists written by people's programs.
    public static let audiences = Self(name: "audiences")
    /// The CloudEvents project's conformance features for Kafka.
    public static let cloudEvents = Self(name: "cloudevents/kafka-protocol-binding.feature")
    /// Answers of the real service to its .NET SDK (``HubRecordings``).
    public static let azure = Self(name: "azure-dotnet")
    /// Dead letters of a real Spring application (``SpringLetters``).
    public static let spring = Self(name: "spring-kafka/dead-letters.json")
    /// The Mustache specification's cases of interpolation.
    public static let mustache = Self(name: "mustache/interpolation.json")

    private let name: String

    /// Its location.
    public var url: URL { Repository.root.appending(path: "../shared/judges/\(name)").standardizedFileURL }

    /// Whether it is on this machine.
    private var isThere: Bool { FileManager.default.fileExists(atPath: url.path) }

    /// Its content.
    public func text() throws -> String { try String(contentsOf: url, encoding: .utf8) }

    /// The condition for tests that need it; elsewhere the run's last lines name them.
    fileprivate var condition: ConditionTrait {
        .enabled("needs ../shared/judges/\(name) beside the repository") {
            if !isThere { SkippedSuites.note(absent: "../shared/judges/\(name)") }
            return isThere
        }
    }
}

extension Trait where Self == ConditionTrait {
    /// Runs the test only where this file is.
    public static func judged(by judge: Judge) -> Self { judge.condition }
}
