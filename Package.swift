// swift-tools-version: 6.2

import PackageDescription

/// The targets of a folder. Each is in a subfolder with its name.
func group(_ folder: String, _ targets: [Target]) -> [Target] {
  for target in targets { target.path = "\(folder)/\(target.name)" }
  return targets
}

// Dependencies go one way: a target depends only on groups above its own, and on targets above it in its own group.

// Apple wants SDKs to declare why they use some APIs (Sources/Base/SystemIO/PrivacyInfo.xcprivacy). Only packages that
// are built on a Mac get the resource: it adds generated code that imports Foundation.
#if canImport(Darwin)
  let privacyManifest = (resources: [Resource.copy("PrivacyInfo.xcprivacy")], exclude: [String]())
#else
  let privacyManifest = (resources: [Resource](), exclude: ["PrivacyInfo.xcprivacy"])
#endif

/// Targets that know nothing of snapshots or HTTP. Those that begin with C are system libraries: a module map, and a
/// shim header for macros and variadic functions.
let base = group(
  "Sources/Base",
  [
    .systemLibrary(
      name: "CZlib", pkgConfig: "zlib", providers: [.apt(["zlib1g-dev"]), .brew(["zlib"])]),
    .systemLibrary(
      name: "CCurl", pkgConfig: "libcurl", providers: [.apt(["libcurl4-openssl-dev"]), .brew(["curl"])]),
    .systemLibrary(
      name: "COpenSSL", pkgConfig: "openssl", providers: [.apt(["libssl-dev"]), .brew(["openssl@3"])]),
    .systemLibrary(
      name: "CPostgreSQL", pkgConfig: "libpq", providers: [.apt(["libpq-dev"]), .brew(["libpq"])]),
    .systemLibrary(name: "CPlatform"),
    .target(
      name: "SystemIO", dependencies: ["CPlatform"], exclude: privacyManifest.exclude,
      resources: privacyManifest.resources),
    .target(name: "JSONText"),
    .target(name: "ZipArchive", dependencies: ["CZlib", "SystemIO"]),
  ])

/// The format of a snapshot, and the comparison of two snapshots.
let snapshots = group(
  "Sources/Snapshots",
  [
    .target(name: "SnapshotSealing", dependencies: ["SystemIO", "JSONText", .cryptoOfApps]),
    .target(
      name: "SnapshotFormat",
      dependencies: ["SnapshotSealing", "SystemIO", "JSONText", "ZipArchive", .cryptoOfApps]),
    .target(
      name: "SnapshotDiff", dependencies: ["JSONText", "SnapshotFormat", "SnapshotViewer", "ZipArchive"]),
    .target(name: "Redaction", dependencies: ["JSONText", "ZipArchive", .cryptoOfApps]),
    .target(name: "SnapshotViewer", dependencies: ["JSONText", "SystemIO", "ZipArchive"]),
    .target(name: "HTTPArchive", dependencies: ["JSONText", "SnapshotFormat"]),
  ])

/// HTTP for server and client, independent of snapshots.
let http = group(
  "Sources/HTTP",
  [
    .target(
      name: "HTTPSemantics", dependencies: ["SystemIO", "JSONText", .httpTypes, .rawStructuredFields]),
    .target(
      name: "HTTPEngine", dependencies: ["SystemIO", "JSONText", "HTTPSemantics", .httpTypes, .logging]),
    .target(name: "HTTPTLS", dependencies: ["COpenSSL", "HTTPEngine", "SystemIO"]),
    .target(
      name: "HTTPClient",
      dependencies: [
        "SystemIO", .httpTypes, .cryptoOfApps, .target(name: "CCurl", condition: .when(platforms: [.linux])),
      ]),
  ])

/// The libraries that an app depends on.
let app = group(
  "Sources/App",
  [
    .target(
      name: "DataSnapshots",
      dependencies: [
        "SnapshotSealing", "SnapshotFormat", "Redaction", "ZipArchive", "JSONText", "SystemIO",
      ]),
    .target(name: "Repositories", dependencies: ["JSONText", "SystemIO"]),
    .target(
      name: "SnapshotClient",
      dependencies: ["SnapshotFormat", "SystemIO", "HTTPSemantics", "HTTPClient", .httpTypes]),
    .target(name: "SnapshotURLSession", dependencies: ["DataSnapshots", "SnapshotFormat"]),
    .target(
      name: "SnapshotReplay",
      dependencies: ["DataSnapshots", "SnapshotDiff", "SnapshotFormat", "Redaction", "SystemIO"]),
    .target(
      name: "SnapshotSettings",
      dependencies: [
        "DataSnapshots", "SnapshotClient", "SnapshotSealing", "SnapshotFormat", "HTTPEngine", "HTTPSemantics",
        "HTTPClient", "SystemIO", .httpTypes, .logging,
      ]),
  ])

/// The server's storage of bundles, and its index.
let storage = group(
  "Sources/Storage",
  [
    .target(name: "SnapshotStore", dependencies: ["SnapshotFormat", "SystemIO", .logging]),
    .target(
      name: "FileStore", dependencies: ["SnapshotStore", "SnapshotFormat", "SystemIO", .crypto, .logging]),
    .target(
      name: "SQLiteCatalog", dependencies: ["SnapshotStore", "SnapshotFormat", "SystemIO", .grdb]),
    .target(
      name: "S3Client", dependencies: ["HTTPSemantics", "HTTPClient", "SystemIO", .crypto, .httpTypes]),
    .target(
      name: "S3Store",
      dependencies: ["S3Client", "HTTPClient", "SnapshotStore", "SnapshotFormat", "SystemIO", .logging]),
    .target(name: "PostgreSQLClient", dependencies: ["CPostgreSQL", "SystemIO"]),
  ])

/// The API, the web pages, and the server composed of them.
let server = group(
  "Sources/Server",
  [
    .target(name: "PrometheusMetrics", dependencies: ["SystemIO", .coreMetrics]),
    .target(
      name: "Observability",
      dependencies: [
        "HTTPEngine", "SnapshotStore", "SnapshotFormat", "JSONText", "SystemIO", .httpTypes, .logging,
        .coreMetrics, .tracing,
      ]),
    .target(
      name: "AccessControl",
      dependencies: [
        "Observability", "HTTPEngine", "HTTPSemantics", "SnapshotStore", "SnapshotFormat", "SystemIO",
        .httpTypes, .logging, .crypto,
      ]),
    .target(
      name: "SnapshotService", dependencies: ["SnapshotStore", "SnapshotFormat", "SystemIO", .logging]),
    .target(
      name: "SnapshotAPI",
      dependencies: [
        "SnapshotService", "Observability", "AccessControl", "HTTPEngine", "HTTPSemantics", "SnapshotStore",
        "SnapshotFormat", "ZipArchive", "JSONText", "SystemIO", .httpTypes, .logging, .crypto, .tracing,
      ]),
    .target(
      name: "Webhooks",
      dependencies: [
        "Observability", "AccessControl", "SnapshotAPI", "HTTPEngine", "HTTPClient", "HTTPSemantics",
        "SnapshotStore", "SnapshotFormat", "SystemIO", .httpTypes, .logging, .crypto, .grdb,
      ]),
    .target(
      name: "PostgreSQLStore",
      dependencies: [
        "Observability", "AccessControl", "Webhooks", "PostgreSQLClient", "SnapshotStore", "SnapshotFormat",
        "SystemIO", .logging,
      ]),
    .target(
      name: "SnapshotWeb",
      dependencies: [
        "SnapshotService", "Observability", "AccessControl", "SnapshotAPI", "Webhooks", "SnapshotDiff",
        "SnapshotViewer", "HTTPEngine", "HTTPSemantics", "SnapshotStore", "SnapshotFormat", "ZipArchive",
        "JSONText", "SystemIO", .httpTypes, .logging, .mustache,
      ], resources: [.embedInCode("Templates"), .embedInCode("Assets")]),
    .target(
      name: "ReplayServer",
      dependencies: [
        "DataSnapshots", "Redaction", "SnapshotFormat", "AccessControl", "SnapshotWeb", "HTTPEngine",
        "HTTPSemantics", "HTTPClient", "SystemIO", .httpTypes,
      ]),
    .target(
      name: "HTTPArchiveImport",
      dependencies: [
        "DataSnapshots", "HTTPArchive", "Redaction", "SnapshotFormat", "SystemIO", "ZipArchive",
      ]),
    .target(
      name: "SnapshotServer",
      dependencies: [
        "SnapshotService", "HTTPArchiveImport", "Redaction", "Observability", "AccessControl", "SnapshotAPI",
        "SnapshotWeb", "Webhooks", "PrometheusMetrics", "HTTPClient", "HTTPEngine", "HTTPTLS",
        "SnapshotStore", "FileStore", "SQLiteCatalog", "S3Client", "S3Store", "PostgreSQLClient",
        "PostgreSQLStore", "SnapshotFormat", "SnapshotDiff", "SnapshotViewer", "SystemIO", .httpTypes,
        .logging, .coreMetrics,
      ]),
  ])

/// The command: it runs the server, maintains its storage, and is its client.
let command = group(
  "Sources/Command",
  [
    .executableTarget(
      name: "snapshot",
      dependencies: [
        "SnapshotService", "SystemIO", "JSONText", "ZipArchive", "SnapshotSealing", "SnapshotFormat",
        "SnapshotDiff", "SnapshotViewer", "Redaction", "HTTPArchive", "HTTPArchiveImport", "DataSnapshots",
        "SnapshotClient", "HTTPClient", "HTTPSemantics", "HTTPEngine", "HTTPTLS", "SnapshotStore",
        "FileStore", "Observability", "AccessControl", "SnapshotAPI", "Webhooks", "SnapshotWeb",
        "ReplayServer", "PostgreSQLStore", "SnapshotServer", .httpTypes, .logging, .argumentParser,
        .configuration, .crypto, .cryptoExtras, .serviceLifecycle, .unixSignals, .yams,
      ])
  ])

/// Code that tests share, and a server that runs the HTTP engine alone.
let support: [Target] = [
  .target(
    name: "TestSupport", dependencies: ["SystemIO", "COpenSSL", "CPlatform"], path: "Tests/TestSupport"),
  .target(
    name: "StoreTesting",
    dependencies: [
      "SnapshotStore", "FileStore", "S3Client", "S3Store", "SQLiteCatalog", "PostgreSQLClient",
      "PostgreSQLStore", "SnapshotSealing", "SnapshotFormat", "SystemIO", "S3Testing", "PostgreSQLTesting",
      "TestSupport", .logging,
    ], path: "Tests/StoreTesting"),
  .target(
    name: "S3Testing",
    dependencies: [
      "S3Client", "HTTPEngine", "HTTPSemantics", "HTTPClient", "SystemIO", "TestSupport", .crypto, .httpTypes,
      .logging,
    ], path: "Tests/S3Testing", exclude: ["run", "start-ceph", "start-moto"]),
  .target(name: "RedactionTesting", path: "Tests/RedactionTesting"),
  .target(
    name: "PostgreSQLTesting", dependencies: ["PostgreSQLClient", "TestSupport"],
    path: "Tests/PostgreSQLTesting", exclude: ["start-postgresql"]),
  .target(
    name: "ServerTesting",
    dependencies: [
      "AccessControl", "HTTPEngine", "HTTPSemantics", "Observability", "S3Client", "S3Store", "S3Testing",
      "SnapshotAPI", "SnapshotFormat", "SnapshotServer", "SnapshotService", "SnapshotStore", "StoreTesting",
      "SystemIO", "TestSupport", "Webhooks", "ZipArchive", .httpTypes, .logging,
    ], path: "Tests/ServerTesting"),
  .executableTarget(
    name: "echo-server",
    dependencies: [
      "HTTPEngine", "HTTPTLS", "HTTPSemantics", "SystemIO", .httpTypes, .logging, .argumentParser,
      .unixSignals,
    ], path: "Tests/EchoServer"),
]

/// The folders of the tests mirror those of the targets.
let tests = [
  group(
    "Tests/Base",
    [
      .testTarget(name: "SystemIOTests", dependencies: ["SystemIO", "TestSupport"]),
      .testTarget(name: "JSONTextTests", dependencies: ["JSONText"]),
      .testTarget(name: "ZipArchiveTests", dependencies: ["ZipArchive", "SystemIO", "TestSupport"]),
    ]),
  group(
    "Tests/Snapshots",
    [
      .testTarget(
        name: "SnapshotSealingTests",
        dependencies: [
          "SnapshotSealing", "ZipArchive", "JSONText", "SystemIO", "TestSupport", .crypto, .cryptoExtras,
        ]),
      .testTarget(
        name: "SnapshotFormatTests",
        dependencies: ["SnapshotFormat", "SnapshotSealing", "ZipArchive", "SystemIO", "TestSupport"]),
      .testTarget(name: "RedactionTests", dependencies: ["Redaction", "ZipArchive"]),
      .testTarget(
        name: "SnapshotDiffTests",
        dependencies: ["SnapshotDiff", "SnapshotFormat", "ZipArchive", "SystemIO", "TestSupport"]),
      .testTarget(
        name: "SnapshotViewerTests",
        dependencies: ["SnapshotViewer", "JSONText", "ZipArchive", "SystemIO", "TestSupport"]),
      .testTarget(name: "HTTPArchiveTests", dependencies: ["HTTPArchive", "JSONText", "SnapshotFormat"]),
    ]),
  group(
    "Tests/HTTP",
    [
      .testTarget(name: "HTTPSemanticsTests", dependencies: ["HTTPSemantics", .httpTypes]),
      .testTarget(
        name: "HTTPEngineTests",
        dependencies: [
          "HTTPEngine", "HTTPTLS", "HTTPSemantics", "SystemIO", "TestSupport", "echo-server", .httpTypes,
          .logging,
        ]),
      .testTarget(
        name: "HTTPClientTests", dependencies: ["HTTPClient", "SystemIO", "TestSupport", .httpTypes]),
    ]),
  group(
    "Tests/App",
    [
      .testTarget(
        name: "DataSnapshotsTests",
        dependencies: [
          "DataSnapshots", "Redaction", "Repositories", "SnapshotSealing", "SnapshotFormat", "ZipArchive",
          "SystemIO", "RedactionTesting", "TestSupport",
        ]),
      .testTarget(name: "RepositoriesTests", dependencies: ["Repositories", "SystemIO", "TestSupport"]),
      .testTarget(
        name: "SnapshotClientTests",
        dependencies: [
          "SnapshotClient", "HTTPSemantics", "HTTPClient", "SnapshotFormat", "SystemIO", "TestSupport",
          .httpTypes,
        ]),
      .testTarget(
        name: "SnapshotURLSessionTests",
        dependencies: [
          "SnapshotURLSession", "DataSnapshots", "SnapshotFormat", "HTTPEngine", "HTTPSemantics", "SystemIO",
          "TestSupport", .httpTypes, .logging,
        ]),
      .testTarget(
        name: "SnapshotReplayTests",
        dependencies: [
          "SnapshotReplay", "SnapshotURLSession", "DataSnapshots", "SnapshotFormat", "SystemIO",
          "TestSupport",
        ]),
      .testTarget(
        name: "SnapshotSettingsTests",
        dependencies: [
          "SnapshotSettings", "DataSnapshots", "SnapshotClient", "SnapshotSealing", "SnapshotFormat",
          "SnapshotServer", "StoreTesting", "HTTPEngine", "HTTPClient", "SystemIO", "TestSupport", .httpTypes,
          .logging,
        ]),
    ]),
  group(
    "Tests/Storage",
    [
      .testTarget(
        name: "SnapshotStoreTests",
        dependencies: [
          "SnapshotStore", "FileStore", "S3Client", "S3Store", "SnapshotFormat", "HTTPClient", "SystemIO",
          "S3Testing", "StoreTesting", "TestSupport",
        ]),
      .testTarget(
        name: "FileStoreTests",
        dependencies: [
          "FileStore", "SnapshotStore", "SnapshotFormat", "SystemIO", "StoreTesting", "TestSupport", .logging,
        ]),
      .testTarget(
        name: "SQLiteCatalogTests",
        dependencies: [
          "SQLiteCatalog", "SnapshotStore", "SnapshotFormat", "SystemIO", "StoreTesting", "TestSupport",
          .grdb,
        ]),
      .testTarget(
        name: "S3StoreTests",
        dependencies: [
          "S3Store", "S3Client", "SnapshotStore", "SnapshotFormat", "ZipArchive", "SystemIO", "S3Testing",
          "StoreTesting", "TestSupport", .logging,
        ]),
      .testTarget(
        name: "S3ClientTests",
        dependencies: [
          "S3Client", "S3Testing", "HTTPClient", "SystemIO", "TestSupport", .crypto, .httpTypes,
        ]),
      .testTarget(
        name: "PostgreSQLClientTests",
        dependencies: ["PostgreSQLClient", "PostgreSQLTesting", "SystemIO", "TestSupport"]),
    ]),
  group(
    "Tests/Server",
    [
      .testTarget(name: "PrometheusMetricsTests", dependencies: ["PrometheusMetrics", .coreMetrics]),
      .testTarget(
        name: "PostgreSQLStoreTests",
        dependencies: [
          "AccessControl", "HTTPEngine", "Observability", "PostgreSQLClient", "PostgreSQLStore",
          "PostgreSQLTesting", "SnapshotFormat", "SnapshotServer", "SnapshotStore", "StoreTesting",
          "TestSupport",
        ]),
      .testTarget(
        name: "ObservabilityTests",
        dependencies: [
          "AccessControl", "HTTPEngine", "Observability", "PostgreSQLClient", "PostgreSQLStore",
          "PostgreSQLTesting", "PrometheusMetrics", "ServerTesting", "SnapshotAPI", "SnapshotFormat",
          "SnapshotServer", "SnapshotStore", "StoreTesting", "SystemIO", "TestSupport", .httpTypes,
          .inMemoryTracing, .logging, .tracing,
        ]),
      .testTarget(
        name: "AccessControlTests",
        dependencies: [
          "AccessControl", "FileStore", "HTTPEngine", "HTTPSemantics", "Observability", "ServerTesting",
          "SnapshotAPI", "SnapshotFormat", "SnapshotServer", "SnapshotService", "SnapshotStore",
          "StoreTesting", "SystemIO", "TestSupport", .httpTypes, .logging,
        ]),
      .testTarget(
        name: "SnapshotAPITests",
        dependencies: [
          "AccessControl", "FileStore", "HTTPEngine", "HTTPSemantics", "Observability", "PrometheusMetrics",
          "S3Client", "S3Store", "S3Testing", "SQLiteCatalog", "ServerTesting", "SnapshotAPI",
          "SnapshotFormat", "SnapshotServer", "SnapshotService", "SnapshotStore", "StoreTesting", "SystemIO",
          "TestSupport", "ZipArchive", .crypto, .httpTypes, .logging,
        ]),
      .testTarget(
        name: "WebhooksTests",
        dependencies: [
          "AccessControl", "HTTPClient", "HTTPEngine", "HTTPSemantics", "PostgreSQLClient", "PostgreSQLStore",
          "PostgreSQLTesting", "ServerTesting", "SnapshotFormat", "SnapshotServer", "SnapshotStore",
          "StoreTesting", "SystemIO", "TestSupport", "Webhooks", .crypto, .httpTypes, .logging,
        ]),
      .testTarget(
        name: "SnapshotWebTests",
        dependencies: [
          "AccessControl", "HTTPEngine", "HTTPSemantics", "JSONText", "Observability", "ServerTesting",
          "SnapshotAPI", "SnapshotDiff", "SnapshotFormat", "SnapshotServer", "SnapshotStore",
          "SnapshotViewer", "SnapshotWeb", "SystemIO", "TestSupport", "Webhooks", "ZipArchive", .httpTypes,
          .logging, .mustache,
        ]),
      .testTarget(
        name: "ReplayServerTests",
        dependencies: [
          "ReplayServer", "DataSnapshots", "Redaction", "SnapshotClient", "SnapshotFormat", "HTTPEngine",
          "HTTPClient", "SystemIO", "TestSupport", .httpTypes, .logging,
        ]),
      .testTarget(
        name: "SnapshotServerTests",
        dependencies: [
          "AccessControl", "FileStore", "HTTPEngine", "HTTPSemantics", "HTTPTLS", "Observability",
          "PostgreSQLClient", "PostgreSQLStore", "PostgreSQLTesting", "S3Client", "S3Store", "S3Testing",
          "ServerTesting", "SnapshotAPI", "SnapshotFormat", "SnapshotServer", "SnapshotService",
          "SnapshotStore", "StoreTesting", "SystemIO", "TestSupport", .httpTypes, .logging,
        ]),
    ]),
  group(
    "Tests/Command",
    [
      .testTarget(
        name: "EndToEndTests",
        dependencies: [
          "snapshot", "news-reader", "SnapshotServer", "Webhooks", "DataSnapshots", "SnapshotSealing",
          "SnapshotFormat", "SnapshotClient", "SnapshotStore", "Observability", "HTTPEngine", "HTTPTLS",
          "HTTPClient", "PostgreSQLTesting", "S3Testing", "SystemIO", "RedactionTesting", "TestSupport",
          "JSONText", .argumentParser, .crypto, .httpTypes, .logging, .yams,
        ])
    ]),
  // A small app with bugs, its reports, and the tests that `snapshot test` has written of them.
  group(
    "Tests/SampleApp",
    [
      .target(name: "NewsReading", dependencies: ["DataSnapshots", "SnapshotURLSession"]),
      .executableTarget(name: "news-reader", dependencies: ["NewsReading", "DataSnapshots"]),
      .testTarget(
        name: "NewsReaderTests",
        dependencies: ["NewsReading", "SnapshotReplay", "DataSnapshots", "TestSupport"],
        exclude: ["Fixtures"]),
    ]),
  // Compiles on Linux what only Apple's platforms compile.
  group(
    "Tests",
    [
      .testTarget(
        name: "AppleBranchTests", dependencies: ["snapshot", "TestSupport"], exclude: ["StandIns", "run"])
    ]),
].flatMap { $0 }

/// Properties that every parser has for any input. The tests check them with the stored inputs; with `FUZZING` set,
/// libFuzzer makes the inputs.
let isFuzzing = Context.environment["FUZZING"] != nil
let fuzzed: [Target.Dependency] = [
  "HTTPArchive", "HTTPEngine", "HTTPSemantics", "HTTPClient", "JSONText", "Redaction", "SnapshotDiff",
  "SnapshotFormat", "SnapshotSealing", "SnapshotViewer", "SystemIO", "ZipArchive", .httpTypes,
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
  platforms: [.macOS(.v13), .iOS(.v16)],
  products: [
    .library(name: "DataSnapshots", targets: ["DataSnapshots"]),
    .library(name: "Repositories", targets: ["Repositories"]),
    .library(name: "SnapshotClient", targets: ["SnapshotClient"]),
    .library(name: "SnapshotFormat", targets: ["SnapshotFormat"]),
    .library(name: "SnapshotDiff", targets: ["SnapshotDiff"]),
    .library(name: "SnapshotURLSession", targets: ["SnapshotURLSession"]),
    .library(name: "SnapshotReplay", targets: ["SnapshotReplay"]),
    .library(name: "SnapshotSettings", targets: ["SnapshotSettings"]),
    .library(name: "SQLiteCatalog", targets: ["SQLiteCatalog", "SnapshotStore"]),
    .library(name: "PostgreSQLStore", targets: ["PostgreSQLStore", "PostgreSQLClient", "SnapshotStore"]),
    .library(name: "HTTPEngine", targets: ["HTTPEngine", "HTTPSemantics", "SystemIO"]),
    .library(name: "HTTPTLS", targets: ["HTTPTLS"]),
    .executable(name: "snapshot", targets: ["snapshot"]),
  ],
  traits: [
    .trait(
      name: "Server", description: "The server, its catalogue and the command; an app needs none of them."),
    .default(enabledTraits: ["Server"]),
  ],
  dependencies: [
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
    .package(url: "https://github.com/apple/swift-configuration", from: "1.4.0"),
    .package(url: "https://github.com/apple/swift-crypto", from: "4.5.2"),
    .package(url: "https://github.com/apple/swift-distributed-tracing", from: "1.7.3"),
    .package(url: "https://github.com/apple/swift-http-structured-headers", from: "1.7.0"),
    .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0"),
    .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
    .package(url: "https://github.com/apple/swift-metrics", from: "2.13.0"),
    .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
    .package(url: "https://github.com/hummingbird-project/swift-mustache", from: "2.1.1"),
    .package(url: "https://github.com/jpsim/Yams", from: "6.2.2"),
    .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
  ],
  targets: base + snapshots + http + app + storage + server + command + support + tests + [fuzzing],
  swiftLanguageModes: [.v6]
)

// `make docs` needs DocC's plugin; nothing else does, so that an app does not resolve it.
if Context.environment["DOCUMENTATION"] != nil {
  package.dependencies.append(.package(url: "https://github.com/swiftlang/swift-docc-plugin", from: "1.5.0"))
}

extension Target.Dependency {
  static var crypto: Self { .product(name: "Crypto", package: "swift-crypto") }
  /// Apple's systems have CryptoKit, which an app then need not link again.
  static var cryptoOfApps: Self {
    .product(name: "Crypto", package: "swift-crypto", condition: .when(platforms: [.linux]))
  }
  static var httpTypes: Self { .product(name: "HTTPTypes", package: "swift-http-types") }
  static var logging: Self { .product(name: "Logging", package: "swift-log") }
  static var rawStructuredFields: Self {
    .product(name: "RawStructuredFieldValues", package: "swift-http-structured-headers")
  }

  static var argumentParser: Self { server("ArgumentParser", "swift-argument-parser") }
  static var configuration: Self { server("Configuration", "swift-configuration") }
  static var cryptoExtras: Self { server("CryptoExtras", "swift-crypto") }
  static var coreMetrics: Self { server("CoreMetrics", "swift-metrics") }
  static var grdb: Self { server("GRDB", "GRDB.swift") }
  static var inMemoryTracing: Self { server("InMemoryTracing", "swift-distributed-tracing") }
  static var mustache: Self { server("Mustache", "swift-mustache") }
  static var serviceLifecycle: Self { server("ServiceLifecycle", "swift-service-lifecycle") }
  static var tracing: Self { server("Tracing", "swift-distributed-tracing") }
  static var unixSignals: Self { server("UnixSignals", "swift-service-lifecycle") }
  static var yams: Self { server("Yams", "Yams") }

  /// A dependency of the server. SwiftPM does not resolve it if the trait `Server` is off.
  private static func server(_ product: String, _ package: String) -> Self {
    .product(name: product, package: package, condition: .when(traits: ["Server"]))
  }
}

/// Targets that use raw memory. In all others the compiler checks that they use none.
let unsafeTargets: Set<String> = [
  "SystemIO", "ZipArchive", "HTTPEngine", "HTTPTLS", "HTTPClient", "PostgreSQLClient", "TestSupport",
  "StoreTesting", "fuzz",
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
  // libFuzzer contains the entry point.
  if target.name == "fuzz" { settings.append(.unsafeFlags(["-parse-as-library"])) }
  target.swiftSettings = settings
}
