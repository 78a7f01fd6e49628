import Foundation

/// The command-line options.
struct Options {
  /// The duration and number of the measurements.
  struct Effort {
    var rounds = 5
    var seconds = 0.8
    var starts = 9
    static let quick = Effort(rounds: 1, seconds: 0.2, starts: 3)
  }

  var tools: Tools
  /// A folder on the disk for uploads. Files created in it are removed.
  var work = ".benchmark"
  var effort = Effort()
  /// The path of the JSON report.
  var json: String?
  /// The file with the targets that earlier runs met.
  var met: String?
  var updatesMet = false
  /// The parts of the benchmark to run; all if empty.
  var only: [String] = []
  /// The kinds of slow clients.
  var slow = SlowClient.Kind.allCases

  static let usage = """
    usage: Benchmark --peers FOLDER --snapshot FILE [--work FOLDER] [--json FILE] [--met FILE [--update]]
                     [--quick] [--only SUITE]… [--slow KIND]…
      --peers     the folder of EngineServer, HummingbirdPeer and FlyingFoxPeer
      --snapshot  the release build of snapshot
      --work      a folder on the disk to measure; files created in it are removed
      --json      also write the report to this file as JSON
      --met       fail if a target that is listed in this file is missed in every round
      --update    add the targets that are met to that file
      --quick     a single short round, to check that the benchmark works
      --only      run only this part; can be repeated: \(Suite.allCases.map(\.rawValue).joined(separator: " "))
      --slow      the kinds of slow clients (default: all); one or more of:
                  \(SlowClient.Kind.allCases.map(\.rawValue).joined(separator: " "))

    """

  init(_ arguments: [String]) throws {
    var rest = arguments[...]
    var peers: String?
    var snapshot: String?
    var slow: [SlowClient.Kind] = []
    while let word = rest.popFirst() {
      func value() throws -> String {
        guard let value = rest.popFirst() else { throw Failure("\(word) requires a value\n\(Self.usage)") }
        return value
      }
      switch word {
      case "--peers": peers = try value()
      case "--snapshot": snapshot = try value()
      case "--work": work = try value()
      case "--json": json = try value()
      case "--met": met = try value()
      case "--update": updatesMet = true
      case "--quick": effort = .quick
      case "--only": only.append(try value())
      case "--slow":
        let name = try value()
        guard let kind = SlowClient.Kind(rawValue: name) else {
          throw Failure("there is no kind of slow client \(name)\n\(Self.usage)")
        }
        slow.append(kind)
      default: throw Failure("unknown option \(word)\n\(Self.usage)")
      }
    }
    guard let peers, let snapshot else { throw Failure(Self.usage) }
    if !slow.isEmpty { self.slow = slow }
    tools = Tools(peers: peers, snapshot: snapshot, nginx: Self.nginx)
    work = URL(filePath: work).standardizedFileURL.path
  }

  /// The path of nginx. Debian installs it in a folder that is only in root's PATH.
  private static var nginx: String {
    FileManager.default.isExecutableFile(atPath: "/usr/sbin/nginx") ? "/usr/sbin/nginx" : "nginx"
  }
}
