// swift-tools-version: 6.2

import PackageDescription

/// The arrows between the targets go one way: from the bottom of this list to the top.
let sources: [Target] = [
  // System libraries: a module map and a shim header for macros and variadics, nothing else.
  .systemLibrary(
    name: "CZlib", pkgConfig: "zlib", providers: [.apt(["zlib1g-dev"]), .brew(["zlib"])]),
  .systemLibrary(
    name: "CCurl", pkgConfig: "libcurl", providers: [.apt(["libcurl4-openssl-dev"]), .brew(["curl"])]),
  .systemLibrary(name: "CPlatform"),

  // What every other target stands on.
  .target(name: "SystemIO", dependencies: ["CPlatform"]),
  .target(name: "ZipArchive", dependencies: ["CZlib", "SystemIO"]),
  .target(name: "SnapshotFormat", dependencies: ["SystemIO", "ZipArchive", .crypto]),

  // What differs between two snapshots.
  .target(name: "SnapshotDiff", dependencies: ["SnapshotFormat", "ZipArchive"]),

  // What client and server alike read and write in HTTP's fields and targets.
  .target(name: "HTTPSemantics", dependencies: [.httpTypes, .rawStructuredFields]),

  // What an app drops in.
  .target(name: "DataSnapshots", dependencies: ["SnapshotFormat", "SystemIO"]),
  .target(name: "Repositories", dependencies: ["SystemIO"]),
  .target(name: "HTTPTransport", dependencies: ["SystemIO", .httpTypes]),
  .target(
    name: "CurlTransport",
    dependencies: [
      "HTTPTransport", "SystemIO", .httpTypes, .target(name: "CCurl", condition: .when(platforms: [.linux])),
    ]),
  .target(name: "URLSessionTransport", dependencies: ["HTTPTransport", "SystemIO", .httpTypes]),
  .target(
    name: "SnapshotClient",
    dependencies: [
      "SnapshotFormat", "SystemIO", "HTTPSemantics", "HTTPTransport", .httpTypes, .crypto,
      .target(name: "CurlTransport", condition: .when(platforms: [.linux])),
      .target(
        name: "URLSessionTransport", condition: .when(platforms: [.macOS, .iOS, .tvOS, .watchOS, .visionOS])),
    ]),

  // The server.
  .target(name: "HTTPEngine", dependencies: ["SystemIO", "HTTPSemantics", .httpTypes, .logging]),
  .target(
    name: "SnapshotSettings",
    dependencies: [
      "DataSnapshots", "SnapshotClient", "SnapshotFormat", "HTTPEngine", "HTTPSemantics", "HTTPTransport",
      "SystemIO", .httpTypes, .logging,
    ]),
  .target(
    name: "PrometheusMetrics", dependencies: [.product(name: "CoreMetrics", package: "swift-metrics")]),
  .target(name: "SnapshotStore", dependencies: ["SnapshotFormat", "SystemIO"]),
  .target(
    name: "FileStore", dependencies: ["SnapshotStore", "SnapshotFormat", "SystemIO", .crypto, .logging]),
  .target(
    name: "SQLiteCatalog", dependencies: ["SnapshotStore", "SnapshotFormat", "SystemIO", .grdb]),
  .target(
    name: "SnapshotPages",
    dependencies: [
      "SnapshotDiff", "SnapshotFormat", "HTTPSemantics", .mustache,
    ], resources: [.embedInCode("Templates"), .embedInCode("Assets")]),
  .target(
    name: "SnapshotServer",
    dependencies: [
      "SnapshotPages", "SnapshotDiff", "HTTPEngine", "HTTPSemantics", "SnapshotStore", "SnapshotFormat",
      "ZipArchive", "SystemIO", .httpTypes, .logging, .crypto,
      .product(name: "CoreMetrics", package: "swift-metrics"), .tracing,
    ]),

  // The command, which puts them together.
  .executableTarget(
    name: "snapshot",
    dependencies: [
      "SystemIO", "ZipArchive", "SnapshotFormat", "SnapshotDiff", "DataSnapshots", "SnapshotClient",
      "HTTPTransport",
      "HTTPEngine", "SnapshotStore", "FileStore", "SQLiteCatalog", "SnapshotServer", "PrometheusMetrics",
      .httpTypes, .logging, .product(name: "CoreMetrics", package: "swift-metrics"),
      .product(name: "ArgumentParser", package: "swift-argument-parser"),
      .product(name: "Configuration", package: "swift-configuration"),
      .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
      .product(name: "UnixSignals", package: "swift-service-lifecycle"),
      .product(name: "Yams", package: "Yams"),
    ]),
]

let tests: [Target] = [
  .target(name: "TestSupport", dependencies: ["SystemIO", "CPlatform"], path: "Tests/TestSupport"),
  .executableTarget(
    name: "echo-server",
    dependencies: [
      "HTTPEngine", "HTTPSemantics", "SystemIO", .httpTypes, .logging,
      .product(name: "ArgumentParser", package: "swift-argument-parser"),
      .product(name: "UnixSignals", package: "swift-service-lifecycle"),
    ], path: "Tests/EchoServer"),
  .testTarget(name: "SystemIOTests", dependencies: ["SystemIO", "TestSupport"]),
  .testTarget(name: "ZipArchiveTests", dependencies: ["ZipArchive", "SystemIO", "TestSupport"]),
  .testTarget(
    name: "SnapshotFormatTests", dependencies: ["SnapshotFormat", "ZipArchive", "SystemIO", "TestSupport"]),
  .testTarget(
    name: "SnapshotDiffTests",
    dependencies: ["SnapshotDiff", "SnapshotFormat", "ZipArchive", "SystemIO", "TestSupport"]),
  .testTarget(
    name: "DataSnapshotsTests",
    dependencies: ["DataSnapshots", "Repositories", "SnapshotFormat", "SystemIO", "TestSupport"]),
  .testTarget(name: "RepositoriesTests", dependencies: ["Repositories", "SystemIO", "TestSupport"]),
  .testTarget(name: "HTTPSemanticsTests", dependencies: ["HTTPSemantics", .httpTypes]),
  .testTarget(
    name: "HTTPEngineTests",
    dependencies: [
      "HTTPEngine", "HTTPSemantics", "SystemIO", "TestSupport", "echo-server", .httpTypes, .logging,
    ]),
  .testTarget(
    name: "PrometheusMetricsTests",
    dependencies: ["PrometheusMetrics", .product(name: "CoreMetrics", package: "swift-metrics")]),
  .testTarget(
    name: "SnapshotStoreTests",
    dependencies: [
      "SnapshotStore", "FileStore", "SQLiteCatalog", "SnapshotFormat", "SystemIO", "TestSupport", .logging,
      .grdb,
    ]),
  .testTarget(
    name: "SnapshotPagesTests",
    dependencies: [
      "SnapshotPages", "SnapshotDiff", "SnapshotFormat", "HTTPSemantics", "SystemIO", "TestSupport",
      .mustache,
    ]),
  .testTarget(
    name: "SnapshotServerTests",
    dependencies: [
      "SnapshotServer", "SQLiteCatalog", "PrometheusMetrics", "HTTPEngine", "HTTPSemantics", "SnapshotStore",
      "FileStore", "SnapshotFormat", "ZipArchive", "SystemIO", "TestSupport", .crypto, .httpTypes, .logging,
      .tracing,
      .product(name: "InMemoryTracing", package: "swift-distributed-tracing"),
    ]),
  .testTarget(
    name: "SnapshotClientTests",
    dependencies: [
      "SnapshotClient", "HTTPSemantics", "HTTPTransport", "URLSessionTransport", "SnapshotFormat", "SystemIO",
      "TestSupport", .httpTypes,
      .target(name: "CurlTransport", condition: .when(platforms: [.linux])),
    ]),
  .testTarget(
    name: "SnapshotSettingsTests",
    dependencies: [
      "SnapshotSettings", "DataSnapshots", "SnapshotClient", "SnapshotFormat", "SnapshotServer",
      "SnapshotStore", "HTTPEngine", "HTTPTransport", "SystemIO", "TestSupport", .httpTypes, .logging,
    ]),
  .testTarget(
    name: "EndToEndTests",
    dependencies: [
      "snapshot", "DataSnapshots", "SnapshotFormat", "SnapshotClient", "SnapshotStore", "HTTPEngine",
      "SystemIO", "TestSupport", .crypto,
      .product(name: "Yams", package: "Yams"),
    ]),
]

/// What must hold of every parser, whatever it is given: replayed as tests over the inputs that are kept, or, where
/// `FUZZING` is set, driven by libFuzzer.
let isFuzzing = Context.environment["FUZZING"] != nil
let fuzzed: [Target.Dependency] = [
  "HTTPEngine", "HTTPSemantics", "HTTPTransport", "SnapshotDiff", "SnapshotFormat", "ZipArchive", "SystemIO",
  .httpTypes,
  .target(name: "CurlTransport", condition: .when(platforms: [.linux])),
]
let fuzzing: Target =
  isFuzzing
  ? .executableTarget(
    name: "fuzz", dependencies: fuzzed, path: "Tests/Fuzzing",
    exclude: ["Seeds", "Found", "Words", "FuzzedParserTests.swift"])
  : .testTarget(
    name: "FuzzingTests", dependencies: fuzzed, path: "Tests/Fuzzing",
    exclude: ["Seeds", "Found", "Words", "Fuzzer"])

let package = Package(
  name: "data-snapshots",
  platforms: [.macOS(.v15), .iOS(.v18)],
  products: [
    .library(name: "DataSnapshots", targets: ["DataSnapshots"]),
    .library(name: "Repositories", targets: ["Repositories"]),
    .library(name: "SnapshotClient", targets: ["SnapshotClient"]),
    .library(name: "SnapshotFormat", targets: ["SnapshotFormat"]),
    .library(name: "SnapshotDiff", targets: ["SnapshotDiff"]),
    .library(name: "SnapshotSettings", targets: ["SnapshotSettings"]),
    .library(name: "SQLiteCatalog", targets: ["SQLiteCatalog", "SnapshotStore"]),
    .library(name: "HTTPEngine", targets: ["HTTPEngine", "HTTPSemantics", "SystemIO"]),
    .executable(name: "snapshot", targets: ["snapshot"]),
  ],
  dependencies: [
    .package(url: "https://github.com/apple/swift-argument-parser", .upToNextMinor(from: "1.8.2")),
    .package(url: "https://github.com/apple/swift-configuration", .upToNextMinor(from: "1.4.0")),
    .package(url: "https://github.com/apple/swift-crypto", .upToNextMinor(from: "4.5.2")),
    .package(url: "https://github.com/apple/swift-distributed-tracing", .upToNextMinor(from: "1.7.3")),
    .package(url: "https://github.com/apple/swift-http-structured-headers", .upToNextMinor(from: "1.7.0")),
    .package(url: "https://github.com/apple/swift-http-types", .upToNextMinor(from: "1.8.0")),
    .package(url: "https://github.com/apple/swift-log", .upToNextMinor(from: "1.16.2")),
    .package(url: "https://github.com/apple/swift-metrics", .upToNextMinor(from: "2.13.0")),
    .package(url: "https://github.com/groue/GRDB.swift", .upToNextMinor(from: "7.10.0")),
    .package(url: "https://github.com/hummingbird-project/swift-mustache", .upToNextMinor(from: "2.1.1")),
    .package(url: "https://github.com/jpsim/Yams", .upToNextMinor(from: "6.2.2")),
    .package(url: "https://github.com/swift-server/swift-service-lifecycle", .upToNextMinor(from: "2.13.0")),
  ],
  targets: sources + tests + [fuzzing],
  swiftLanguageModes: [.v6]
)

extension Target.Dependency {
  static var crypto: Self { .product(name: "Crypto", package: "swift-crypto") }
  static var grdb: Self { .product(name: "GRDB", package: "GRDB.swift") }
  static var httpTypes: Self { .product(name: "HTTPTypes", package: "swift-http-types") }
  static var logging: Self { .product(name: "Logging", package: "swift-log") }
  static var mustache: Self { .product(name: "Mustache", package: "swift-mustache") }
  static var rawStructuredFields: Self {
    .product(name: "RawStructuredFieldValues", package: "swift-http-structured-headers")
  }
  static var tracing: Self { .product(name: "Tracing", package: "swift-distributed-tracing") }
}

/// Where raw memory is the subject; everywhere else the compiler checks that none is touched.
let unsafeTargets: Set<String> = [
  "SystemIO", "ZipArchive", "HTTPEngine", "CurlTransport", "URLSessionTransport", "TestSupport",
  "fuzz",
]

for target in package.targets where target.type != .system {
  var settings: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
  ]
  if target.type != .test, !unsafeTargets.contains(target.name) {
    settings.append(.strictMemorySafety())
  }
  if Context.environment["WARNINGS_AS_ERRORS"] != nil {
    settings.append(.treatAllWarnings(as: .error))
  }
  // libFuzzer brings the entry point.
  if target.name == "fuzz" { settings.append(.unsafeFlags(["-parse-as-library"])) }
  target.swiftSettings = settings
}
