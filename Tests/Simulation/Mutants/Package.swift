// swift-tools-version: 6.2
import PackageDescription

// The package that mutants.py builds in .build/mutants: engine, lane and jobs, which may be broken there, and the
// simulation. No other package builds the simulation's program.

let strict: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    // The runs are ten times as fast, and a mutant compiles equally fast: files are optimised one by one.
    .unsafeFlags(["-O"]),
]
let package = Package(
    name: "mutant",
    targets: [
        .systemLibrary(name: "CEpoll", path: "Sources/c/CEpoll"),
        .systemLibrary(name: "CExpat", path: "Sources/c/CExpat", pkgConfig: "expat"),
        .systemLibrary(name: "CRDKafka", path: "Sources/c/CRDKafka", pkgConfig: "rdkafka"),
        .systemLibrary(name: "CSSL", path: "Sources/c/CSSL", pkgConfig: "openssl"),
        .target(name: "HeraldBytes", path: "Sources/base/HeraldBytes", swiftSettings: strict),
        .target(
            name: "HeraldTime", dependencies: ["HeraldBytes"], path: "Sources/base/HeraldTime",
            swiftSettings: strict),
        .target(
            name: "HeraldThreads", dependencies: ["CEpoll"], path: "Sources/base/HeraldThreads",
            swiftSettings: strict),
        .target(
            name: "HeraldText", path: "Sources/base/HeraldText", swiftSettings: strict),
        .target(
            name: "HeraldTelemetry", dependencies: ["HeraldBytes", "HeraldText", "HeraldThreads", "HeraldTime"],
            path: "Sources/base/HeraldTelemetry", swiftSettings: strict),
        .target(
            name: "HeraldKafka", dependencies: ["CRDKafka", "HeraldText", "HeraldThreads", "HeraldTime"],
            path: "Sources/ports/HeraldKafka", swiftSettings: strict),
        .target(
            name: "HeraldEvents", dependencies: ["HeraldBytes", "HeraldText", "HeraldTime"],
            path: "Sources/contract/HeraldEvents", swiftSettings: strict + [.enableExperimentalFeature("Lifetimes")]),
        .target(
            name: "HeraldKernel", dependencies: ["HeraldTime"], path: "Sources/kernel/HeraldKernel",
            swiftSettings: strict + [.define("CHECKED_TRANSITIONS")]),
        .target(
            name: "HeraldDriver",
            dependencies: [
                "HeraldBytes", "HeraldEvents", "HeraldKafka", "HeraldKernel", "HeraldText", "HeraldThreads",
                "HeraldTime",
            ],
            path: "Sources/kernel/HeraldDriver", swiftSettings: strict),
        .target(
            name: "HeraldCore", dependencies: ["HeraldBytes", "HeraldEvents", "HeraldKernel", "HeraldTime"],
            path: "Sources/machines/HeraldCore", swiftSettings: strict),
        // The lane without a worker's clients.
        .target(
            name: "HeraldWorker",
            dependencies: [
                "HeraldBytes", "HeraldCore", "HeraldDriver", "HeraldEvents", "HeraldKafka", "HeraldKernel",
                "HeraldTelemetry", "HeraldText", "HeraldTime",
            ],
            path: "Sources/machines/HeraldWorker",
            sources: [
                "Campaigns/Machine", "Lane", "Report/LaneMeter.swift", "Report/LaneReport.swift",
                "Report/Throttling.swift",
                "OutageReason+Words.swift",
            ],
            swiftSettings: strict),
        // A hub's telemetry of its messages.
        .target(
            name: "HeraldHub", dependencies: ["CExpat", "HeraldBytes", "HeraldText", "HeraldTime"],
            path: "Sources/ports/HeraldHub", swiftSettings: strict),
        // A follower's machine without its clients.
        .target(
            name: "HeraldFeedback",
            dependencies: [
                "HeraldCore", "HeraldDriver", "HeraldEvents", "HeraldHub", "HeraldKafka", "HeraldTime", "HeraldTools",
            ],
            path: "Sources/machines/HeraldFeedback", swiftSettings: strict),
        // A replay's machine without its clients, and its part of the tools.
        .target(
            name: "HeraldTools",
            dependencies: [
                "HeraldBytes", "HeraldDriver", "HeraldEvents", "HeraldKafka", "HeraldKernel", "HeraldText",
                "HeraldThreads", "HeraldTime",
            ],
            path: "Sources/machines/HeraldTools", swiftSettings: strict),
        .target(
            name: "HeraldReplay",
            dependencies: [
                "HeraldBytes", "HeraldDriver", "HeraldEvents", "HeraldKafka", "HeraldKernel", "HeraldText",
                "HeraldTime", "HeraldTools",
            ],
            path: "Sources/machines/HeraldReplay", swiftSettings: strict),
        // A publisher's machine without its clients.
        .target(
            name: "HeraldCampaigns",
            dependencies: [
                "CSSL", "HeraldBytes", "HeraldDriver", "HeraldEvents", "HeraldKafka", "HeraldKernel", "HeraldText",
                "HeraldThreads", "HeraldTime", "HeraldTools",
            ],
            path: "Sources/machines/HeraldCampaigns", swiftSettings: strict),
        .target(
            name: "Simulation",
            dependencies: [
                "HeraldBytes", "HeraldCampaigns", "HeraldCore", "HeraldDriver", "HeraldEvents", "HeraldFeedback",
                "HeraldHub", "HeraldKafka", "HeraldKernel", "HeraldReplay", "HeraldTelemetry", "HeraldText",
                "HeraldTime", "HeraldTools", "HeraldWorker",
            ],
            path: "Tests/Simulation/World", swiftSettings: strict),
        .executableTarget(
            name: "simulate", dependencies: ["Simulation"], path: "Tests/Simulation/Program", swiftSettings: strict),
    ]
)
