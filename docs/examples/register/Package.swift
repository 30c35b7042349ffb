// swift-tools-version: 6.2
import PackageDescription

// What an app needs of Herald: one product, over Foundation alone. `scripts/check-registration` builds it.
let package = Package(
    name: "register-example",
    platforms: [.iOS(.v15), .macOS(.v12)],
    dependencies: [.package(name: "herald", path: "../../..")],
    targets: [
        .executableTarget(name: "App", dependencies: [.product(name: "HeraldRegistration", package: "herald")])
    ]
)
