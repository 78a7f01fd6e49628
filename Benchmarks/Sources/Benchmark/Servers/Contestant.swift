import Foundation

/// A server in the comparison.
enum Contestant: String, CaseIterable, Codable {
  /// Only `HTTPEngine`, in `EngineServer`.
  case engine
  /// The same, with the system calls that an audit requires.
  case engineAudited
  /// The same, with an event loop that waits for the disk.
  case engineOnLoop
  /// ``engine`` with TLS.
  case engineTLS
  /// The product: `snapshot serve`.
  case serve
  case nginx
  /// nginx with `tcp_nopush on`.
  case nginxPush
  /// nginx with TLS, and the same certificate.
  case nginxTLS
  case hummingbird
  case flyingFox
  /// Hummingbird that hashes and synchronizes uploads.
  case hummingbirdDurable

  var name: String {
    switch self {
    case .engine: "HTTPEngine"
    case .engineAudited: "HTTPEngine, audited"
    case .engineOnLoop: "HTTPEngine, on the loop"
    case .engineTLS: "HTTPEngine, TLS"
    case .serve: "snapshot serve"
    case .nginx: "nginx"
    case .nginxPush: "nginx, tcp_nopush"
    case .nginxTLS: "nginx, TLS"
    case .hummingbird: "Hummingbird"
    case .flyingFox: "FlyingFox"
    case .hummingbirdDurable: "Hummingbird, durable"
    }
  }

  var isSecure: Bool { self == .engineTLS || self == .nginxTLS }

  /// The command that starts the server at `port` with `folder`, which contains `files/` and `uploads/`.
  func launch(_ tools: Tools, port: UInt16, folder: String) throws -> Launch {
    switch self {
    case .engine: Launch("\(tools.peers)/EngineServer", ["\(port)", folder])
    case .engineAudited: Launch("\(tools.peers)/EngineServer", ["\(port)", folder, "--audited"])
    case .engineOnLoop: Launch("\(tools.peers)/EngineServer", ["\(port)", folder, "--on-loop"])
    case .engineTLS:
      Launch("\(tools.peers)/EngineServer", ["\(port)", folder, try Certificate.write(to: folder)])
    case .hummingbird, .hummingbirdDurable: Launch("\(tools.peers)/HummingbirdPeer", ["\(port)", folder])
    case .flyingFox: Launch("\(tools.peers)/FlyingFoxPeer", ["\(port)", folder])
    case .nginx, .nginxPush, .nginxTLS:
      Launch(
        tools.nginx,
        [
          "-p", folder, "-c",
          try NginxConfiguration(
            port: port, folder: folder, push: self == .nginxPush,
            certificate: self == .nginxTLS ? Certificate.write(to: folder) : nil
          ).write(),
        ])
    case .serve:
      Launch(
        tools.snapshot, ["serve", "--port", "\(port)", "--storage", "\(folder)/storage"],
        // Logs as little as its peers, and has as many event loops as cores.
        ["SNAPSHOT_SERVER_LOG_LEVEL": "warning", "SNAPSHOT_SERVER_EVENT_LOOPS": "1"])
    }
  }

  /// A path that returns 200 as soon as the server is ready.
  var probe: String { self == .serve ? "/healthz" : "/small" }

  /// A request that uploads a bundle.
  func upload(_ number: Int, _ bundle: BundleFile) -> Exchange {
    switch self {
    case .serve:
      .put("/v1/reports/BENCH-1/snapshots", bundle.payload, fields: bundle.digestField, method: "POST")
    case .hummingbirdDurable: .put("/durable/\(number)", bundle.payload)
    default: .put("/uploads/\(number)", bundle.payload)
    }
  }

  /// A request that downloads a bundle.
  func download(_ bundle: BundleFile) -> Exchange {
    .get(
      self == .serve ? "/v1/snapshots/\(bundle.id).zip" : "/files/\(bundle.name)", expecting: bundle.payload)
  }
}

/// A program, its arguments, and additional environment variables.
struct Launch {
  var program: String
  var arguments: [String]
  var environment: [String: String]

  init(_ program: String, _ arguments: [String], _ environment: [String: String] = [:]) {
    self.program = program
    self.arguments = arguments
    self.environment = environment
  }
}

/// The paths of the programs.
struct Tools {
  /// The folder of the peers' binaries.
  var peers: String
  var snapshot: String
  var nginx: String

  /// Returns copies in `folder`. An installed program is a copy, too; one that a linker has written piece by piece starts
  /// slower, because of how its pages are placed in the system's cache.
  func copied(to folder: String) throws -> Tools {
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    var copies = self
    copies.peers = folder
    copies.snapshot = "\(folder)/snapshot"
    try FileManager.default.copyItem(atPath: snapshot, toPath: copies.snapshot)
    for name in ["EngineServer", "HummingbirdPeer", "FlyingFoxPeer", "libFlushCounter.so"] {
      try FileManager.default.copyItem(atPath: "\(peers)/\(name)", toPath: "\(folder)/\(name)")
    }
    return copies
  }
}
