import Foundation

/// What the command line says.
struct Options {
  /// How long, and how often, each figure is taken.
  struct Effort {
    var rounds = 5
    var seconds = 0.8
    var starts = 9
    static let quick = Effort(rounds: 1, seconds: 0.2, starts: 3)
  }

  var tools: Tools
  /// A folder on the disk that uploads go to; what is made there is removed.
  var work = ".benchmark"
  var effort = Effort()
  /// Where the report goes as JSON.
  var json: String?
  /// Only work whose name begins so.
  var only: [String] = []
  /// Which slow clients there are.
  var slow = SlowClient.Kind.allCases

  static let usage = """
    usage: Benchmark --peers FOLDER --snapshot FILE [--work FOLDER] [--json FILE] [--quick] [--only SUITE]…
                     [--slow KIND]…
      --peers     the folder of EngineServer, HummingbirdPeer and FlyingFoxPeer
      --snapshot  the release build of snapshot
      --work      where files are made, and removed again, on the disk that is to be measured
      --json      the report as JSON too
      --quick     one short round of everything: to see whether it works, not to judge by
      --only      one of: \(Suite.allCases.map(\.rawValue).joined(separator: " "))
      --slow      what slow clients do; all at once if it isn't said, one or more of:
                  \(SlowClient.Kind.allCases.map(\.rawValue).joined(separator: " "))

    """

  init(_ arguments: [String]) throws {
    var rest = arguments[...]
    var peers: String?
    var snapshot: String?
    var slow: [SlowClient.Kind] = []
    while let word = rest.popFirst() {
      func value() throws -> String {
        guard let value = rest.popFirst() else { throw Failure("\(word) lacks its value\n\(Self.usage)") }
        return value
      }
      switch word {
      case "--peers": peers = try value()
      case "--snapshot": snapshot = try value()
      case "--work": work = try value()
      case "--json": json = try value()
      case "--quick": effort = .quick
      case "--only": only.append(try value())
      case "--slow":
        let name = try value()
        guard let kind = SlowClient.Kind(rawValue: name) else {
          throw Failure("nobody is slow at \(name)\n\(Self.usage)")
        }
        slow.append(kind)
      default: throw Failure("what is \(word)?\n\(Self.usage)")
      }
    }
    guard let peers, let snapshot else { throw Failure(Self.usage) }
    if !slow.isEmpty { self.slow = slow }
    tools = Tools(peers: peers, snapshot: snapshot, nginx: Self.nginx)
    work = URL(filePath: work).standardizedFileURL.path
  }

  /// Debian has it where only root's path looks.
  private static var nginx: String {
    FileManager.default.isExecutableFile(atPath: "/usr/sbin/nginx") ? "/usr/sbin/nginx" : "nginx"
  }
}
