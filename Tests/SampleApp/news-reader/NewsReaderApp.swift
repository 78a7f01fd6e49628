import DataSnapshots
import Foundation
import NewsReading

/// The news reader as a program: `news-reader FOLDER SERVER total|renewal [MEND…]`.
///
/// It knows nothing of tests. `DATA_SNAPSHOTS_STATE=recording` makes it record, and `snapshot run UUID -- news-reader …`
/// makes it replay. With `SNAPSHOT_TO=FILE`, it writes a snapshot of what it recorded.
@main
struct NewsReaderApp {
  static func main() async throws {
    var words = CommandLine.arguments.dropFirst()
    guard let folder = words.popFirst(), let server = words.popFirst().flatMap(URL.init(string:)),
      let question = words.popFirst()
    else {
      print("usage: news-reader FOLDER SERVER total|renewal [MEND…]")
      return
    }
    let mode = SnapshotMode(folder: URL(filePath: folder), configuration: configuration)
    let reader = NewsReader(mode: mode, server: server, mends: Set(words.compactMap(Mend.init(rawValue:))))
    switch question {
    case "total": print(try await reader.total())
    default: print(try await reader.renewal())
    }
    if let zip = ProcessInfo.processInfo.environment["SNAPSHOT_TO"] {
      _ = try await mode.makeSnapshot(
        report: ReportID(question == "total" ? "BUG-1" : "BUG-2"),
        note: question == "total" ? "The total of my purchases is 600.23." : "It says that I pay on March 3.",
        to: URL(filePath: zip))
    }
    await mode.close()
  }

  /// The user's device: `NEWS_TIME` is the time at its start, `TZ` and `NEWS_LOCALE` are its settings.
  private static var configuration: SnapshotMode.Configuration {
    var configuration = SnapshotMode.Configuration()
    let environment = ProcessInfo.processInfo.environment
    configuration.application = .init(identifier: "com.example.news-reader", version: "1.0", build: "1")
    if let locale = environment["NEWS_LOCALE"] { configuration.locale = Locale(identifier: locale) }
    configuration.device.locale = configuration.locale.identifier
    if let start = environment["NEWS_TIME"].flatMap(SnapshotJSON.time) {
      let offset = start.timeIntervalSinceNow
      configuration.clock = { Date().addingTimeInterval(offset) }
    }
    return configuration
  }
}
