// swift-tools-version: 6.2

import PackageDescription

let package = Package(
  name: "benchmarks",
  platforms: [.macOS(.v15)],
  dependencies: [.package(name: "data-snapshots", path: "..")],
  targets: [
    .target(name: "CAllocations"),
    .executableTarget(
      name: "Overhead",
      dependencies: ["CAllocations", .product(name: "DataSnapshots", package: "data-snapshots")]),
  ],
  swiftLanguageModes: [.v6]
)
