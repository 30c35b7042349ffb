// swift-tools-version: 6.2
import PackageDescription

// What mutants.py builds in .build/mutants: the engine, which is broken there, and the simulation.

let strict: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    // The runs are ten times as fast, and a mutant takes no longer to compile: files are optimised one by one.
    .unsafeFlags(["-O"]),
]
let package = Package(
    name: "mutant",
    targets: [
        .target(name: "HeraldBytes", path: "Sources/foundation/HeraldBytes", swiftSettings: strict),
        .target(
            name: "HeraldTime", dependencies: ["HeraldBytes"], path: "Sources/foundation/HeraldTime",
            swiftSettings: strict),
        .target(
            name: "HeraldEvents", dependencies: ["HeraldBytes", "HeraldTime"], path: "Sources/contract/HeraldEvents",
            swiftSettings: strict + [.enableExperimentalFeature("Lifetimes")]),
        .target(
            name: "HeraldCore", dependencies: ["HeraldEvents", "HeraldTime"], path: "Sources/worker/HeraldCore",
            swiftSettings: strict),
        .target(
            name: "Simulation", dependencies: ["HeraldCore", "HeraldEvents", "HeraldTime"], path: "Tests/Simulation",
            swiftSettings: strict),
        .executableTarget(
            name: "simulate", dependencies: ["Simulation"], path: "Tests/Simulate", swiftSettings: strict),
    ]
)
