// swift-tools-version: 6.2
import PackageDescription

// The benchmarks' parts outside of Python: a package of its own, which a build or a test of Herald does not build.

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
        .executableTarget(
            name: "last-word",
            dependencies: [
                .product(name: "HeraldCore", package: "herald"),
                .product(name: "HeraldEvents", package: "herald"),
            ],
            swiftSettings: [.swiftLanguageMode(.v6)]),
        // In C, because they are the comparison for Herald: without Swift and without Herald.
        .executableTarget(name: "kafka-bare", linkerSettings: [.linkedLibrary("rdkafka")]),
        .executableTarget(name: "backend"),
    ]
)
