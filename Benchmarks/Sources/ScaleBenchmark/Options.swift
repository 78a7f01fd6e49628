import Foundation

/// The command-line options.
struct Options {
  /// The release build of `snapshot`.
  var snapshot = ""
  /// A folder on the disk to measure. Files created in it are removed.
  var work = ".benchmark"
  /// The numbers of bundles, ascending.
  var sizes = [1_000, 10_000, 100_000, 1_000_000]
  /// The number of tombstones of the simulated year; 0 omits it.
  var tombstones = 1_000_000
  /// The path of the drawing.
  var svg: String?
  /// The number of starts of which the median is reported.
  var starts = 7
  /// The number of requests of each kind.
  var requests = 200

  static let usage = """
    usage: ScaleBenchmark --snapshot FILE [--work FOLDER] [--sizes N,N,…] [--tombstones N] [--svg FILE]
      --snapshot    the release build of snapshot
      --work        a folder on the disk to measure; files created in it are removed
      --sizes       the numbers of bundles (default: 1000,10000,100000,1000000)
      --tombstones  the number of deleted snapshots to add at the end (default: 1000000)
      --svg         also draw the curves to this file

    """

  init(_ arguments: [String]) throws {
    var rest = arguments[...]
    while let word = rest.popFirst() {
      guard let value = rest.popFirst() else { throw Failure("\(word) requires a value\n\(Self.usage)") }
      switch word {
      case "--snapshot": snapshot = URL(filePath: value).standardizedFileURL.path
      case "--work": work = URL(filePath: value).standardizedFileURL.path
      case "--sizes": sizes = try value.split(separator: ",").map { try Self.number(String($0)) }.sorted()
      case "--tombstones": tombstones = try Self.number(value)
      case "--svg": svg = value
      default: throw Failure("unknown option \(word)\n\(Self.usage)")
      }
    }
    guard !snapshot.isEmpty, sizes.allSatisfy({ $0 >= 10 }) else { throw Failure(Self.usage) }
  }

  /// Writes a progress message to stderr.
  func message(_ text: String) { FileHandle.standardError.write(Data("\(text)\n".utf8)) }

  private static func number(_ text: String) throws -> Int {
    guard let number = Int(text), number >= 0 else { throw Failure("‘\(text)’ is not a number\n\(usage)") }
    return number
  }
}
