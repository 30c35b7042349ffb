// swift-tools-version: 6.2
import Foundation
import PackageDescription

// Arrows point inward: HeraldCore knows no Kafka, no HTTP, no clock and no logger; HeraldKafka and
// HeraldHTTP know no notifications. docs/DESIGN.md has the file map and the reasons.

let strict: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    // The one rule for warnings: with a flag on the command line, each command that forgot it would build anew.
    .treatAllWarnings(as: .error),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
]

/// A module in the folder of its area; the areas are listed in docs/DESIGN.md.
func module(
    _ area: String, _ name: String, _ dependencies: [Target.Dependency] = [], settings: [SwiftSetting] = []
) -> Target {
    .target(
        name: name, dependencies: dependencies, path: "Sources/\(area)/\(name)", swiftSettings: strict + settings)
}

func library(
    _ name: String, pkgConfig: String? = nil, package: String? = nil
) -> Target {
    .systemLibrary(
        name: name, path: "Sources/c/\(name)", pkgConfig: pkgConfig, providers: package.map { [.apt([$0])] })
}

/// What a folder has beside Swift, for those in which other things read the rest: the console's scripts and styles stand
/// with the page that they belong to.
func others(in folder: String) -> [String] {
    let root = URL(fileURLWithPath: Context.packageDirectory).appendingPathComponent(folder)
    let names = FileManager.default.enumerator(atPath: root.path)?.compactMap { $0 as? String } ?? []
    return names.filter { !["", "swift"].contains(($0 as NSString).pathExtension) }.sorted()
}

/// Tests in the folder of the area whose modules they test, or in one of their own.
func tests(
    _ folder: String, _ name: String, _ dependencies: [Target.Dependency], exclude: [String] = []
) -> Target {
    .testTarget(
        name: name, dependencies: dependencies + ["TestSupport"], path: "Tests/\(folder)", exclude: exclude,
        swiftSettings: strict)
}

let package = Package(
    name: "herald",
    // What the API of HeraldRegistration needs; everything else is for Linux.
    platforms: [.iOS(.v15), .macOS(.v12), .tvOS(.v15), .visionOS(.v1), .watchOS(.v8)],
    products: [
        .executable(name: "herald", targets: ["herald"]),
        .library(name: "HeraldEvents", targets: ["HeraldEvents", "HeraldText"]),
        .library(name: "HeraldBackend", targets: ["HeraldBackend", "HeraldDevices", "HeraldEvents", "HeraldText"]),
        // For apps: Foundation alone.
        .library(name: "HeraldRegistration", targets: ["HeraldRegistration", "HeraldDevices"]),
        .library(name: "HeraldKafka", targets: ["HeraldKafka", "HeraldTime"]),
        // For the micro-benchmarks, which are a package of their own; nothing about them is promised.
        .library(name: "HeraldCore", targets: ["HeraldCore", "HeraldKernel", "HeraldTime"]),
        .library(name: "HeraldHub", targets: ["HeraldHub"]),
    ],
    targets: [
        library("CRDKafka", pkgConfig: "rdkafka", package: "librdkafka-dev"),
        library("CCurl", pkgConfig: "libcurl", package: "libcurl4-openssl-dev"),
        library("CEpoll"),
        library("CHTTPParser", package: "libhttp-parser-dev"),
        library("CYAML", pkgConfig: "yaml-0.1", package: "libyaml-dev"),
        library("CNGHTTP2", pkgConfig: "libnghttp2", package: "libnghttp2-dev"),
        library("CMicroHTTPD", pkgConfig: "libmicrohttpd", package: "libmicrohttpd-dev"),
        library("CExpat", pkgConfig: "expat", package: "libexpat1-dev"),
        library("CSSL", pkgConfig: "openssl", package: "libssl-dev"),
        .target(name: "CBuild", path: "Sources/c/CBuild"),
        .target(name: "CConsolePage", path: "Sources/c/CConsolePage"),

        // Bytes, time, threads, text: they know nothing of each other's users.
        module("base", "HeraldBytes"),
        module("base", "HeraldTime", ["HeraldBytes"]),
        module("base", "HeraldThreads", ["CEpoll"]),
        module("base", "HeraldText"),
        module("base", "HeraldTelemetry", ["HeraldBytes", "HeraldText", "HeraldThreads", "HeraldTime"]),

        // What records say.
        module(
            "contract", "HeraldEvents", ["HeraldBytes", "HeraldText", "HeraldTime"],
            settings: [.enableExperimentalFeature("Lifetimes")]),

        // What decides: machines that are values.
        module(
            "kernel", "HeraldKernel", ["HeraldTime"],
            settings: [.define("CHECKED_TRANSITIONS", .when(configuration: .debug))]),

        // Brokers, HTTP, the notification backend.
        module("ports", "HeraldKafka", ["CRDKafka", "HeraldText", "HeraldThreads", "HeraldTime"]),
        module(
            "ports", "HeraldHTTP",
            ["CCurl", "CEpoll", "CHTTPParser", "CMicroHTTPD", "CNGHTTP2", "CSSL", "HeraldThreads", "HeraldTime"]),
        module("ports", "HeraldDevices"),
        module("ports", "HeraldRegistration", ["HeraldDevices"]),
        module(
            "ports", "HeraldHub",
            ["CExpat", "CSSL", "HeraldBytes", "HeraldEvents", "HeraldHTTP", "HeraldText", "HeraldTime"]),
        module(
            "ports", "HeraldBackend",
            [
                "CSSL", "HeraldBytes", "HeraldDevices", "HeraldEvents", "HeraldHTTP", "HeraldHub", "HeraldText",
                "HeraldThreads", "HeraldTime",
            ]),

        module(
            "ports", "HeraldTraces", ["HeraldHTTP", "HeraldTelemetry", "HeraldText", "HeraldThreads", "HeraldTime"]),

        // What carries out what machines decide.
        module(
            "kernel", "HeraldDriver",
            [
                "HeraldEvents", "HeraldBytes", "HeraldKafka", "HeraldKernel", "HeraldText", "HeraldThreads",
                "HeraldTime",
            ]),

        // What decides, what carries out, what shows it.
        module("machines", "HeraldCore", ["HeraldBytes", "HeraldEvents", "HeraldKernel", "HeraldTime"]),
        module(
            "machines", "HeraldWorker",
            [
                "HeraldBackend", "HeraldBytes", "HeraldCore", "HeraldDriver", "HeraldEvents", "HeraldHTTP", "HeraldHub",
                "HeraldKafka", "HeraldKernel", "HeraldTelemetry", "HeraldText", "HeraldThreads", "HeraldTime",
            ]),
        module(
            "machines", "HeraldFeedback",
            [
                "HeraldCore", "HeraldDriver", "HeraldEvents", "HeraldHTTP", "HeraldHub", "HeraldKafka",
                "HeraldTelemetry", "HeraldText", "HeraldThreads", "HeraldTime", "HeraldTools",
            ]),
        module(
            "faces", "HeraldAdmin",
            [
                "HeraldBackend", "HeraldCore", "HeraldDriver", "HeraldEvents", "HeraldHTTP", "HeraldKafka",
                "HeraldTelemetry", "HeraldText", "HeraldThreads", "HeraldTime", "HeraldWorker",
            ]),

        // What people and jobs do with a cluster.
        module(
            "machines", "HeraldTools",
            [
                "CSSL", "HeraldBytes", "HeraldCore", "HeraldDriver", "HeraldEvents", "HeraldHTTP", "HeraldKafka",
                "HeraldKernel",
                "HeraldText", "HeraldThreads", "HeraldTime",
            ]),
        module(
            "machines", "HeraldOffsets",
            ["HeraldCore", "HeraldDriver", "HeraldEvents", "HeraldKafka", "HeraldKernel", "HeraldTime", "HeraldTools"]),
        module(
            "machines", "HeraldReplay",
            [
                "HeraldBytes", "HeraldDriver", "HeraldEvents", "HeraldKafka", "HeraldKernel", "HeraldText",
                "HeraldThreads", "HeraldTime", "HeraldTools",
            ]),
        module(
            "machines", "HeraldCampaigns",
            [
                "CSSL", "HeraldBytes", "HeraldDriver", "HeraldEvents", "HeraldKafka", "HeraldKernel", "HeraldText",
                "HeraldThreads",
                "HeraldTime", "HeraldTools",
            ]),
        module(
            "views", "HeraldTimeline",
            [
                "HeraldBytes", "HeraldEvents", "HeraldKafka", "HeraldKernel", "HeraldReplay", "HeraldText",
                "HeraldTime",
                "HeraldTools",
            ]),
        module(
            "views", "HeraldAccount",
            ["HeraldBytes", "HeraldDriver", "HeraldEvents", "HeraldKafka", "HeraldText", "HeraldTime", "HeraldTools"]),
        module(
            "faces", "HeraldDoctor",
            [
                "CEpoll", "CSSL", "HeraldBackend", "HeraldBytes", "HeraldCore", "HeraldDriver", "HeraldEvents",
                "HeraldHTTP",
                "HeraldHub", "HeraldKafka", "HeraldThreads", "HeraldTime", "HeraldTools",
            ]),
        .target(
            name: "HeraldConsole",
            dependencies: [
                "CConsolePage", "HeraldAccount", "HeraldBytes", "HeraldCampaigns", "HeraldDriver", "HeraldEvents",
                "HeraldHTTP", "HeraldKafka",
                "HeraldReplay", "HeraldText", "HeraldThreads", "HeraldTime", "HeraldTimeline", "HeraldTools",
            ],
            path: "Sources/faces/HeraldConsole",
            // CConsolePage makes them part of the program.
            exclude: others(in: "Sources/faces/HeraldConsole"), swiftSettings: strict),

        // A backend and a broker to try Herald on.
        module(
            "lab", "HeraldSandbox",
            [
                "HeraldBytes", "HeraldEvents", "HeraldHTTP", "HeraldHub", "HeraldKafka", "HeraldText", "HeraldThreads",
                "HeraldTime",
            ]),
        module(
            "lab", "HeraldDemo",
            [
                "HeraldBytes", "HeraldCommandLine", "HeraldEvents", "HeraldKafka", "HeraldSandbox", "HeraldText",
                "HeraldThreads", "HeraldTime", "HeraldWorker",
            ]),

        // Settings, command line, the program.
        module(
            "app", "HeraldSettings",
            [
                "CYAML", "HeraldBackend", "HeraldCore", "HeraldEvents", "HeraldHTTP", "HeraldHub", "HeraldTelemetry",
                "HeraldText", "HeraldThreads", "HeraldTime",
            ]),
        module("faces", "HeraldCommandLine", ["HeraldText"]),
        .executableTarget(
            name: "herald",
            dependencies: [
                "CBuild",
                "HeraldAccount", "HeraldAdmin", "HeraldBackend", "HeraldBytes", "HeraldCampaigns", "HeraldCommandLine",
                "HeraldConsole",
                "HeraldCore", "HeraldDemo", "HeraldDevices",
                "HeraldDoctor", "HeraldEvents", "HeraldFeedback",
                "HeraldHTTP", "HeraldHub",
                "HeraldKafka", "HeraldKernel", "HeraldOffsets",
                "HeraldSandbox", "HeraldSettings", "HeraldTelemetry", "HeraldText", "HeraldThreads", "HeraldTime",
                "HeraldReplay", "HeraldTimeline", "HeraldTools", "HeraldTraces", "HeraldWorker",
            ],
            path: "Sources/app/herald", swiftSettings: strict),

        // What docs/PUBLISHING.md shows to services in Swift.
        .executableTarget(
            name: "publish-example", dependencies: ["HeraldEvents", "HeraldKafka", "HeraldTime"],
            path: "docs/examples/publish/swift",
            swiftSettings: strict),
        // What docs/PREFERENCES.md shows to them.
        .executableTarget(
            name: "opt-out-example", dependencies: ["HeraldEvents", "HeraldKafka", "HeraldTime"],
            path: "docs/examples/opt-out/swift",
            swiftSettings: strict),
        .target(
            name: "TestSupport",
            dependencies: [
                "CNGHTTP2", "CRDKafka", "CSSL", "HeraldBytes", "HeraldKafka", "HeraldThreads", "HeraldTime",
            ],
            path: "Tests/Support",
            swiftSettings: strict),
        .testTarget(
            name: "SandboxExample", dependencies: ["HeraldKafka", "HeraldTime"], path: "docs/examples/sandbox",
            exclude: ["NotificationsTest.java", "notifications_test.go", "test_notifications.py"], swiftSettings: strict
        ),
        tests("base/HeraldTimeTests", "HeraldTimeTests", ["HeraldBytes", "HeraldTime"]),
        tests("base/HeraldBytesTests", "HeraldBytesTests", ["HeraldBytes"]),
        tests(
            "contract/HeraldEventsTests", "HeraldEventsTests",
            ["HeraldBytes", "HeraldEvents", "HeraldText", "HeraldTime"]),
        tests(
            "kernel/HeraldDriverTests", "HeraldDriverTests",
            ["HeraldDriver", "HeraldEvents", "HeraldKafka", "HeraldKernel", "HeraldThreads", "HeraldTime"]),
        tests(
            "machines/HeraldCoreTests", "HeraldCoreTests",
            ["HeraldCore", "HeraldEvents", "HeraldKernel", "HeraldTime"]),
        tests(
            "ports/HeraldKafkaTests", "HeraldKafkaTests", ["HeraldKafka", "HeraldText", "HeraldThreads", "HeraldTime"]),
        tests(
            "machines/HeraldWorkerTests", "HeraldWorkerTests",
            [
                "HeraldBackend", "HeraldCore", "HeraldDriver", "HeraldEvents", "HeraldHTTP", "HeraldKafka",
                "HeraldKernel", "HeraldTelemetry", "HeraldThreads", "HeraldTime", "HeraldWorker",
            ]
        ),
        tests(
            "machines/HeraldFeedbackTests", "HeraldFeedbackTests",
            [
                "HeraldBytes", "HeraldCore", "HeraldDriver", "HeraldEvents", "HeraldFeedback", "HeraldHub",
                "HeraldKafka", "HeraldKernel", "HeraldText", "HeraldTime", "HeraldTools",
            ]),
        tests(
            "ports/HeraldHTTPTests", "HeraldHTTPTests",
            ["CNGHTTP2", "HeraldBytes", "HeraldHTTP", "HeraldThreads", "HeraldTime"]),
        tests(
            "ports/HeraldHubTests", "HeraldHubTests",
            ["HeraldBytes", "HeraldEvents", "HeraldHTTP", "HeraldHub", "HeraldText", "HeraldThreads", "HeraldTime"]),
        tests(
            "ports/HeraldBackendTests", "HeraldBackendTests",
            [
                "HeraldBackend", "HeraldDevices", "HeraldEvents", "HeraldHTTP", "HeraldHub", "HeraldText",
                "HeraldThreads", "HeraldTime",
            ]),
        tests(
            "ports/HeraldRegistrationTests", "HeraldRegistrationTests",
            [
                "HeraldBackend", "HeraldDevices", "HeraldEvents", "HeraldHTTP", "HeraldHub", "HeraldRegistration",
                "HeraldSandbox", "HeraldText", "HeraldThreads",
            ]),
        tests("base/HeraldTextTests", "HeraldTextTests", ["HeraldText"]),
        tests(
            "app/HeraldSettingsTests", "HeraldSettingsTests",
            [
                "HeraldBackend", "HeraldEvents", "HeraldHub", "HeraldSettings", "HeraldTelemetry", "HeraldText",
                "HeraldTime",
            ]),
        tests(
            "faces/HeraldCommandLineTests", "HeraldCommandLineTests",
            ["HeraldCommandLine", "HeraldText", "HeraldThreads"]),
        tests(
            "base/HeraldTelemetryTests", "HeraldTelemetryTests",
            ["HeraldBytes", "HeraldTelemetry", "HeraldThreads", "HeraldTime"]),
        tests(
            "ports/HeraldTracesTests", "HeraldTracesTests",
            ["HeraldBytes", "HeraldTelemetry", "HeraldText", "HeraldThreads", "HeraldTime", "HeraldTraces"]),
        tests(
            "faces/HeraldAdminTests", "HeraldAdminTests",
            [
                "HeraldAdmin", "HeraldBackend", "HeraldCore", "HeraldDriver", "HeraldEvents", "HeraldHTTP",
                "HeraldKafka",
                "HeraldTelemetry", "HeraldThreads", "HeraldTime", "HeraldTools", "HeraldWorker",
            ]),
        tests(
            "lab/HeraldSandboxTests", "HeraldSandboxTests",
            ["HeraldBytes", "HeraldSandbox", "HeraldHTTP", "HeraldHub", "HeraldText", "HeraldThreads", "HeraldTime"]),
        tests(
            "lab/HeraldDemoTests", "HeraldDemoTests",
            ["HeraldCommandLine", "HeraldDemo", "HeraldEvents", "HeraldSandbox", "HeraldText", "HeraldTime"]),
        tests(
            "machines/HeraldToolsTests", "HeraldToolsTests",
            ["HeraldBytes", "HeraldDriver", "HeraldEvents", "HeraldKafka", "HeraldText", "HeraldTime", "HeraldTools"]),
        tests(
            "machines/HeraldReplayTests", "HeraldReplayTests",
            [
                "HeraldBytes", "HeraldDriver", "HeraldEvents", "HeraldKafka", "HeraldKernel", "HeraldReplay",
                "HeraldText",
                "HeraldTime", "HeraldTools",
            ]),
        tests(
            "views/HeraldTimelineTests", "HeraldTimelineTests",
            [
                "HeraldEvents", "HeraldKafka", "HeraldKernel", "HeraldReplay", "HeraldTime", "HeraldTimeline",
                "HeraldTools",
            ]),
        tests(
            "views/HeraldAccountTests", "HeraldAccountTests",
            ["HeraldAccount", "HeraldEvents", "HeraldKafka", "HeraldText", "HeraldTime"]),
        tests(
            "faces/HeraldConsoleTests", "HeraldConsoleTests",
            [
                "HeraldAdmin", "HeraldBytes", "HeraldCampaigns", "HeraldConsole", "HeraldCore", "HeraldDriver",
                "HeraldEvents",
                "HeraldHTTP", "HeraldKafka", "HeraldReplay", "HeraldText", "HeraldThreads", "HeraldTime",
                "HeraldTimeline", "HeraldTools",
            ],
            // Node runs them: scripts/page-tests.
            exclude: others(in: "Tests/faces/HeraldConsoleTests")),
        tests(
            "faces/HeraldDoctorTests", "HeraldDoctorTests",
            [
                "HeraldBackend", "HeraldDoctor", "HeraldDriver", "HeraldEvents", "HeraldHTTP", "HeraldHub",
                "HeraldKafka",
                "HeraldSandbox", "HeraldText", "HeraldThreads", "HeraldTime", "HeraldTools",
            ]),
        tests(
            "machines/HeraldCampaignsTests", "HeraldCampaignsTests",
            [
                "HeraldBytes", "HeraldCampaigns", "HeraldDriver", "HeraldEvents", "HeraldKafka", "HeraldKernel",
                "HeraldText", "HeraldTime", "HeraldTools",
            ]),
        tests(
            "app/CommandTests", "CommandTests",
            [
                "herald", "HeraldCampaigns", "HeraldCommandLine", "HeraldCore", "HeraldDoctor", "HeraldEvents",
                "HeraldHTTP", "HeraldHub",
                "HeraldKafka", "HeraldKernel", "HeraldSandbox", "HeraldSettings",
                "HeraldText", "HeraldThreads", "HeraldTime", "HeraldWorker",
            ]),
        // Its program is built by Tests/Simulation/Mutants/Package.swift, which optimises it.
        .target(
            name: "Simulation",
            dependencies: [
                "HeraldBytes", "HeraldCampaigns", "HeraldCore", "HeraldDriver", "HeraldEvents", "HeraldFeedback",
                "HeraldHub", "HeraldKafka", "HeraldKernel", "HeraldReplay", "HeraldTelemetry", "HeraldText",
                "HeraldTime", "HeraldTools", "HeraldWorker",
            ],
            path: "Tests/Simulation/World", swiftSettings: strict),
        tests("Simulation/Tests", "SimulationTests", ["HeraldCore", "HeraldTime", "Simulation"]),
        tests(
            "EndToEndTests", "EndToEndTests",
            [
                "herald", "publish-example", "opt-out-example", "HeraldBytes", "HeraldEvents", "HeraldHTTP",
                "HeraldHub", "HeraldKafka", "HeraldSandbox", "HeraldThreads", "HeraldTime",
            ]),
    ]
)
