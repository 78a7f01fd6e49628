// swift-tools-version: 6.2

import PackageDescription

let package = Package(
  name: "benchmarks",
  platforms: [.macOS(.v15)],
  products: [.library(name: "FlushCounter", type: .dynamic, targets: ["CFlushCounter"])],
  dependencies: [
    .package(name: "data-snapshots", path: ".."),
    .package(url: "https://github.com/apple/swift-crypto", from: "4.5.2"),
    .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0"),
    .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
    // The peers in the comparison. No product depends on them.
    .package(url: "https://github.com/hummingbird-project/hummingbird", exact: "2.28.1"),
    .package(url: "https://github.com/swhitty/FlyingFox", exact: "0.27.1"),
    .package(url: "https://github.com/apple/swift-nio", from: "2.101.0"),
  ],
  targets: [
    .target(name: "CAllocations"),
    .executableTarget(
      name: "Overhead",
      dependencies: ["CAllocations", .product(name: "DataSnapshots", package: "data-snapshots")]),

    .executableTarget(
      name: "CatalogBenchmark",
      dependencies: [
        .product(name: "SQLiteCatalog", package: "data-snapshots"),
        .product(name: "PostgreSQLStore", package: "data-snapshots"),
        .product(name: "SnapshotFormat", package: "data-snapshots"),
      ]),

    .executableTarget(name: "ScaleBenchmark"),

    // The servers in the comparison, besides nginx and `snapshot serve`.
    .executableTarget(
      name: "EngineServer",
      dependencies: [
        .product(name: "HTTPEngine", package: "data-snapshots"),
        .product(name: "HTTPTLS", package: "data-snapshots"),
        .product(name: "HTTPTypes", package: "swift-http-types"),
        .product(name: "Logging", package: "swift-log"),
      ]),
    .executableTarget(
      name: "HummingbirdPeer",
      dependencies: [
        .product(name: "Hummingbird", package: "hummingbird"),
        .product(name: "NIOCore", package: "swift-nio"),
        .product(name: "NIOPosix", package: "swift-nio"),
        .product(name: "Crypto", package: "swift-crypto"),
        .product(name: "Logging", package: "swift-log"),
      ]),
    .executableTarget(
      name: "FlyingFoxPeer", dependencies: [.product(name: "FlyingFox", package: "FlyingFox")]),

    // The benchmark.
    .target(
      name: "CBenchmark",
      linkerSettings: [.linkedLibrary("z"), .linkedLibrary("ssl"), .linkedLibrary("crypto")]),
    .target(name: "CFlushCounter"),
    .executableTarget(
      name: "Benchmark",
      dependencies: [
        "CBenchmark",
        .product(name: "Crypto", package: "swift-crypto"),
        .product(name: "HTTPEngine", package: "data-snapshots"),
      ]),
  ],
  swiftLanguageModes: [.v6]
)
