import Foundation
import SnapshotFormat
import TestSupport
import Testing

/// From a report of the sample app to a replay of the unchanged program.
@Suite(.timeLimit(.minutes(5 * Sanitizer.slowness))) struct SampleAppTests {
  private let folder: TemporaryFolder
  private let news: ScriptedServer
  private static let app = Tool.products.appending(path: "news-reader").path

  init() throws {
    folder = try TemporaryFolder()
    news = try ScriptedServer { connection in
      let head = try connection.readHead()
      let isTotal = "\(head)".contains("/purchases")
      let json =
        isTotal ? #"[{"title":"A","price":"1.234,50"},{"title":"B","price":"5,99"}]"# : #"{"months":1}"#
      try connection.respond("200 OK", ["Content-Type: application/json"], body: json.utf8)
    }
  }

  /// Records the report of a user in Vienna on 31 January, shortly before midnight.
  private func record(_ question: String) async throws -> URL {
    let zip = folder.file("\(question).zip")
    let outcome = try await Tool.run(
      Self.app, [folder.file("device").path, news.url.absoluteString, question],
      environment: [
        "DATA_SNAPSHOTS_STATE": "recording", "TZ": "Europe/Vienna", "NEWS_LOCALE": "de_DE",
        "NEWS_TIME": "2026-01-31T22:59:00Z", "SNAPSHOT_TO": zip.path,
      ])
    try #require(outcome.status == 0, "\(outcome.errors)")
    return zip
  }

  /// The arguments that run the app over a snapshot.
  private func replaying(_ zip: URL, _ question: String, _ mends: [String] = []) -> [String] {
    ["run", zip.path, "--", Self.app, folder.file("none").path, news.url.absoluteString, question] + mends
  }

  @Test(arguments: [
    ("total", "600.2345", "1240.49"), ("renewal", "2026-03-03", "2026-02-28"),
  ])
  func `the unchanged app shows the bug on every day and in every time zone, and not with its mend`(
    question: String, wrong: String, right: String
  ) async throws {
    let zip = try await record(question)
    let count = news.requests.count
    for zone in ["UTC", "Pacific/Auckland", "America/Los_Angeles"] {
      let environment = ["TZ": zone, "NEWS_LOCALE": "en_US", "NEWS_TIME": "2027-07-15T12:00:00Z"]
      let bug = try await Product.run(replaying(zip, question), environment: environment)
      #expect(bug.lines.first?.hasPrefix(wrong) == true, "\(bug.text) \(bug.errors)")
      let mended = try await Product.run(replaying(zip, question, [question]), environment: environment)
      #expect(mended.lines == [right], "\(mended.text) \(mended.errors)")
    }
    #expect(news.requests.count == count)
    #expect(!FileManager.default.fileExists(atPath: folder.file("none").path))
  }

  @Test(.enabled(if: Tool.find("strace") != nil)) func `a replay makes no connection`() async throws {
    let zip = try await record("total")
    let log = folder.file("calls")
    // LeakSanitizer does not work in a process that is traced.
    let outcome = try await Tool.run(
      "strace",
      [
        "-f", "-qq", "-E", "ASAN_OPTIONS=detect_leaks=0", "-e", "trace=connect,sendto,sendmsg", "-o",
        log.path, Product.path,
      ]
        + replaying(zip, "total"))
    #expect(outcome.status == 0, "\(outcome.errors)")
    let calls = try String(contentsOf: log, encoding: .utf8)
    #expect(!calls.contains("AF_INET"), "\(calls)")
  }

  @Test func `a test is written from the report on a server`() async throws {
    let zip = try await record("renewal")
    let server = try await TestServer(storage: folder.file("storage"))
    let environment = ["SNAPSHOT_SERVER": server.url.absoluteString]
    let upload = try await Product.run(["upload", zip.path, "--report", "BUG-2"], environment: environment)
    let id = try #require(upload.lines.first)
    let outcome = try await Product.run(
      ["test", id, "--into", folder.path], environment: environment)
    #expect(outcome.lines.last == "swift test --filter BUG_2Tests", "\(outcome.errors)")
    let text = try String(contentsOf: folder.file("BUG-2Tests.swift"), encoding: .utf8)
    #expect(text.contains("It says that I pay on March 3."))
    #expect(text.contains("de_DE, Europe/Vienna"))
    #expect(text.contains("Recorded from 2026-01-31T22:59:"))
  }
}
