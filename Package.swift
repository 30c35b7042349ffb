// swift-tools-version: 6.2
import PackageDescription

// Arrows point inward: HeraldCore knows no Kafka, no HTTP, no clock and no logger; HeraldKafka and
// HeraldHTTP know no notifications. docs/DESIGN.md has the file map and the reasons.

let strict: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
]

func module(_ name: String, _ dependencies: [Target.Dependency] = [], settings: [SwiftSetting] = []) -> Target {
    .target(name: name, dependencies: dependencies, swiftSettings: strict + settings)
}

func tests(_ name: String, _ dependencies: [Target.Dependency], resources: [Resource] = []) -> Target {
    .testTarget(
        name: name, dependencies: dependencies + ["TestSupport"], resources: resources, swiftSettings: strict)
}

let package = Package(
    name: "herald",
    products: [
        .executable(name: "herald", targets: ["herald"]),
        .library(name: "HeraldEvents", targets: ["HeraldEvents"]),
        .library(name: "HeraldBackend", targets: ["HeraldBackend"]),
        .library(name: "HeraldKafka", targets: ["HeraldKafka"]),
        // For the micro-benchmarks, which are a package of their own; nothing about it is promised.
        .library(name: "HeraldCore", targets: ["HeraldCore", "HeraldTime"]),
    ],
    targets: [
        .systemLibrary(name: "CRDKafka", pkgConfig: "rdkafka", providers: [.apt(["librdkafka-dev"])]),
        .systemLibrary(name: "CCurl", pkgConfig: "libcurl", providers: [.apt(["libcurl4-openssl-dev"])]),
        .systemLibrary(name: "CEpoll"),
        .systemLibrary(name: "CHTTPParser", providers: [.apt(["libhttp-parser-dev"])]),
        .systemLibrary(name: "CYAML", pkgConfig: "yaml-0.1", providers: [.apt(["libyaml-dev"])]),
        .systemLibrary(name: "CMicroHTTPD", pkgConfig: "libmicrohttpd", providers: [.apt(["libmicrohttpd-dev"])]),
        .systemLibrary(name: "CSSL", pkgConfig: "openssl", providers: [.apt(["libssl-dev"])]),

        module("HeraldBytes"),
        module("HeraldThreads", ["CEpoll"]),
        module("HeraldTime", ["HeraldBytes"]),
        module("HeraldEvents", ["HeraldBytes", "HeraldTime"], settings: [.enableExperimentalFeature("Lifetimes")]),
        module("HeraldCore", ["HeraldEvents", "HeraldTime"]),
        module("HeraldKafka", ["CRDKafka", "HeraldThreads"]),
        module(
            "HeraldHTTP",
            ["CCurl", "CEpoll", "CHTTPParser", "CMicroHTTPD", "CSSL", "HeraldThreads", "HeraldTime"]),
        module("HeraldBackend", ["CSSL", "HeraldBytes", "HeraldHTTP", "HeraldThreads", "HeraldTime"]),
        module("HeraldText"),
        module("HeraldSettings", ["CYAML", "HeraldText"]),
        module("HeraldCommandLine", ["HeraldText"]),
        module("HeraldTelemetry", ["HeraldThreads", "HeraldTime"]),
        module(
            "HeraldWorker",
            [
                "HeraldBackend", "HeraldCore", "HeraldEvents", "HeraldHTTP", "HeraldKafka", "HeraldTelemetry",
                "HeraldThreads", "HeraldTime",
            ]),
        module(
            "HeraldDemo",
            [
                "HeraldBackend", "HeraldBytes", "HeraldCommandLine", "HeraldEvents", "HeraldKafka", "HeraldSandbox",
                "HeraldText", "HeraldThreads", "HeraldTime", "HeraldWorker",
            ]),
        module(
            "HeraldAdmin",
            [
                "HeraldCore", "HeraldEvents", "HeraldHTTP", "HeraldKafka", "HeraldTelemetry", "HeraldText",
                "HeraldTime", "HeraldWorker",
            ]),
        module("HeraldSandbox", ["HeraldBytes", "HeraldHTTP", "HeraldKafka", "HeraldThreads", "HeraldTime"]),
        module(
            "HeraldTools",
            ["HeraldBytes", "HeraldEvents", "HeraldHTTP", "HeraldKafka", "HeraldText", "HeraldThreads", "HeraldTime"]),
        module(
            "HeraldReplay",
            ["HeraldBytes", "HeraldEvents", "HeraldKafka", "HeraldText", "HeraldThreads", "HeraldTime", "HeraldTools"]),
        module(
            "HeraldCampaigns",
            [
                "CSSL", "HeraldBytes", "HeraldEvents", "HeraldKafka", "HeraldText", "HeraldThreads", "HeraldTime",
                "HeraldTools",
            ]),
        module(
            "HeraldDoctor",
            [
                "CSSL", "HeraldBackend", "HeraldEvents", "HeraldHTTP", "HeraldKafka", "HeraldThreads", "HeraldTime",
                "HeraldTools",
            ]),
        .executableTarget(
            name: "herald",
            dependencies: [
                "HeraldAdmin", "HeraldBackend", "HeraldCampaigns", "HeraldCommandLine", "HeraldCore", "HeraldDemo",
                "HeraldDoctor", "HeraldEvents",
                "HeraldHTTP",
                "HeraldKafka",
                "HeraldSandbox", "HeraldSettings", "HeraldTelemetry", "HeraldText", "HeraldThreads", "HeraldTime",
                "HeraldReplay", "HeraldTools", "HeraldWorker",
            ],
            swiftSettings: strict),

        // What docs/PUBLISHING.md shows to services in Swift.
        .executableTarget(
            name: "publish-example", dependencies: ["HeraldEvents", "HeraldKafka"], path: "docs/examples/publish/swift",
            swiftSettings: strict),
        .target(
            name: "TestSupport", dependencies: ["CSSL", "HeraldKafka", "HeraldThreads"], path: "Tests/Support",
            swiftSettings: strict),
        tests("HeraldTimeTests", ["HeraldTime"]),
        tests("HeraldBytesTests", ["HeraldBytes"]),
        tests("HeraldEventsTests", ["HeraldBytes", "HeraldEvents", "HeraldTime"]),
        tests("HeraldCoreTests", ["HeraldCore", "HeraldEvents", "HeraldTime"]),
        tests("HeraldKafkaTests", ["HeraldKafka"]),
        tests("HeraldWorkerTests", ["HeraldWorker"]),
        tests("HeraldHTTPTests", ["HeraldHTTP", "HeraldThreads", "HeraldTime"]),
        tests("HeraldBackendTests", ["HeraldBackend", "HeraldHTTP", "HeraldThreads", "HeraldTime"]),
        tests("HeraldTextTests", ["HeraldText"]),
        tests("HeraldSettingsTests", ["HeraldSettings", "HeraldText"]),
        tests("HeraldCommandLineTests", ["HeraldCommandLine", "HeraldText", "HeraldThreads"]),
        tests("HeraldTelemetryTests", ["HeraldTelemetry", "HeraldTime"]),
        tests(
            "HeraldAdminTests",
            [
                "HeraldAdmin", "HeraldCore", "HeraldEvents", "HeraldHTTP", "HeraldKafka", "HeraldTelemetry",
                "HeraldThreads", "HeraldTime", "HeraldWorker",
            ]),
        tests("HeraldSandboxTests", ["HeraldSandbox", "HeraldHTTP", "HeraldThreads", "HeraldTime"]),
        tests(
            "HeraldDemoTests",
            ["HeraldCommandLine", "HeraldDemo", "HeraldEvents", "HeraldSandbox", "HeraldText", "HeraldTime"]),
        tests("HeraldToolsTests", ["HeraldEvents", "HeraldKafka", "HeraldTime", "HeraldTools"]),
        tests(
            "HeraldReplayTests", ["HeraldEvents", "HeraldReplay", "HeraldTime", "HeraldTools"]),
        tests(
            "HeraldDoctorTests",
            ["HeraldDoctor", "HeraldHTTP", "HeraldKafka", "HeraldThreads", "HeraldTime", "HeraldTools"]),
        tests(
            "HeraldCampaignsTests",
            ["HeraldBytes", "HeraldCampaigns", "HeraldEvents", "HeraldTime", "HeraldTools"]),
        tests(
            "CommandTests",
            [
                "herald", "HeraldCampaigns", "HeraldCommandLine", "HeraldEvents", "HeraldKafka", "HeraldSandbox",
                "HeraldSettings",
                "HeraldText", "HeraldTime",
            ]),
        .target(
            name: "Simulation", dependencies: ["HeraldCore", "HeraldEvents", "HeraldTime"], path: "Tests/Simulation",
            swiftSettings: strict),
        .executableTarget(
            name: "simulate", dependencies: ["HeraldCore", "Simulation"], path: "Tests/Simulate",
            swiftSettings: strict),
        tests("SimulationTests", ["HeraldCore", "Simulation"]),
        tests(
            "EndToEndTests",
            ["herald", "publish-example", "HeraldKafka", "HeraldSandbox", "HeraldThreads", "HeraldTime"]),
    ]
)
