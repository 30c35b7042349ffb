// swift-tools-version: 6.2
import PackageDescription

// What the benchmarks need beside Python: a package of its own, so that nobody who builds or tests Herald builds it.

let package = Package(
    name: "benchmarks",
    dependencies: [.package(name: "herald", path: "..")],
    targets: [
        .executableTarget(
            name: "micro",
            dependencies: [
                .product(name: "HeraldCore", package: "herald"),
                .product(name: "HeraldEvents", package: "herald"),
                .product(name: "HeraldHub", package: "herald"),
            ],
            swiftSettings: [.swiftLanguageMode(.v6)]),
        // In C, because they are what Herald is measured against: nothing of Swift's and nothing of Herald's.
        .executableTarget(name: "kafka-bare", linkerSettings: [.linkedLibrary("rdkafka")]),
        .executableTarget(name: "backend"),
    ]
)
