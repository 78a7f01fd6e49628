/// A server that takes part.
enum Contestant: String, CaseIterable, Codable {
  /// `HTTPEngine` alone, in `EngineServer`.
  case engine
  /// The product: `snapshot serve`.
  case serve
  case nginx
  /// nginx with `tcp_nopush on`.
  case nginxPush
  case hummingbird
  case flyingFox
  /// Hummingbird hashing and flushing what it takes in.
  case hummingbirdDurable

  var name: String {
    switch self {
    case .engine: "HTTPEngine"
    case .serve: "snapshot serve"
    case .nginx: "nginx"
    case .nginxPush: "nginx, tcp_nopush"
    case .hummingbird: "Hummingbird"
    case .flyingFox: "FlyingFox"
    case .hummingbirdDurable: "Hummingbird, durable"
    }
  }

  /// How it is started, to listen at `port` over `folder`, which holds `files/` and `uploads/`.
  func launch(_ tools: Tools, port: UInt16, folder: String) throws -> Launch {
    switch self {
    case .engine: Launch("\(tools.peers)/EngineServer", ["\(port)", folder])
    case .hummingbird, .hummingbirdDurable: Launch("\(tools.peers)/HummingbirdPeer", ["\(port)", folder])
    case .flyingFox: Launch("\(tools.peers)/FlyingFoxPeer", ["\(port)", folder])
    case .nginx, .nginxPush:
      Launch(
        tools.nginx,
        [
          "-p", folder, "-c",
          try NginxConfiguration(port: port, folder: folder, push: self == .nginxPush).write(),
        ])
    case .serve:
      Launch(
        tools.snapshot, ["serve", "--port", "\(port)", "--storage", "\(folder)/storage"],
        // As quiet as its peers, and with as many loops as it gets cores.
        ["SNAPSHOT_SERVER_LOG_LEVEL": "warning", "SNAPSHOT_SERVER_EVENT_LOOPS": "1"])
    }
  }

  /// What it answers 200 to as soon as it serves.
  var probe: String { self == .serve ? "/healthz" : "/small" }

  /// Takes a bundle in.
  func upload(_ number: Int, _ bundle: BundleFile) -> Exchange {
    switch self {
    case .serve:
      .put("/v1/reports/BENCH-1/snapshots", bundle.payload, fields: bundle.digestField, method: "POST")
    case .hummingbirdDurable: .put("/durable/\(number)", bundle.payload)
    default: .put("/uploads/\(number)", bundle.payload)
    }
  }

  /// Gives a bundle out.
  func download(_ bundle: BundleFile) -> Exchange {
    .get(
      self == .serve ? "/v1/snapshots/\(bundle.id).zip" : "/files/\(bundle.name)", expecting: bundle.payload)
  }
}

/// A program, its arguments, and what is added to its environment.
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

/// Where the programs are.
struct Tools {
  /// The folder of the peers' binaries.
  var peers: String
  var snapshot: String
  var nginx: String
}
