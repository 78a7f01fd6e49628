import DataSnapshots
import Foundation
import SnapshotFormat
import TestSupport

/// Fixtures that tests make, and the file beside which they are.
struct SampleFixture: Sendable {
  /// Holds the fixtures of tests with a trait, which are found when the tests are listed.
  static let shared = makeShared()
  static let created = Date(timeIntervalSince1970: 1_700_000_000)

  let folder: TemporaryFolder

  /// The path of a test file beside the fixtures. It does not exist.
  var sourceFile: String { folder.file("SomeTests.swift").path }

  init() throws { folder = try TemporaryFolder() }

  private static func makeShared() -> SampleFixture {
    do {
      let fixture = try SampleFixture()
      try fixture.write("feed", [.data("feed", "[1,2]")])
      return fixture
    } catch {
      preconditionFailure("The fixture can't be written: \(error)")
    }
  }

  /// Something recorded, in the order of the times.
  struct Recorded {
    var identifier: String
    var body = ""
    var exchange: Manifest.Exchange?
    var requestBody = ""

    /// Data that passed `process`.
    static func data(_ identifier: String, _ text: String) -> Recorded {
      Recorded(identifier: identifier, body: text)
    }

    /// An answer to a request.
    static func answer(
      _ method: String, _ url: String, _ body: String, status: Int = 200, sent: String = ""
    ) -> Recorded {
      let digest = sent.isEmpty ? "" : " #" + ContentDigest.of(Data(sent.utf8)).description.prefix(16)
      return Recorded(
        identifier: "\(method) \(url)\(digest)", body: body,
        exchange: Manifest.Exchange(
          request: .init(method: method, url: url), response: .init(status: status), startedAt: created),
        requestBody: sent)
    }

    /// A request that failed.
    static func failure(_ method: String, _ url: String, code: URLError.Code) -> Recorded {
      Recorded(
        identifier: "\(method) \(url)",
        exchange: Manifest.Exchange(
          request: .init(method: method, url: url),
          failure: .init(domain: NSURLErrorDomain, code: code.rawValue), startedAt: created))
    }
  }

  /// Writes the fixture `name` with recordings a minute apart.
  @discardableResult
  func write(_ name: String, _ recorded: [Recorded]) throws -> URL {
    var calls: [String: Int] = [:]
    let sources = try recorded.enumerated().map { index, item in
      calls[item.identifier, default: 0] += 1
      let sent = item.requestBody.isEmpty ? nil : Data(item.requestBody.utf8)
      return SnapshotBundle.Source(
        identifier: item.identifier,
        file: try folder.write(Data(item.body.utf8), to: "sources/\(name)/\(index)"),
        recordedAt: Self.created.addingTimeInterval(Double(index) * 60), call: calls[item.identifier],
        exchange: item.exchange.map { exchange in
          var exchange = exchange
          exchange.startedAt = Self.created.addingTimeInterval(Double(index) * 60)
          return exchange
        }, requestBody: try sent.map { data in try folder.write(data, to: "sources/\(name)/\(index)-sent") })
    }
    var manifest = Manifest(
      id: SnapshotID(), createdAt: Self.created,
      application: .init(identifier: "com.example.news", version: "1", build: "1"),
      device: .init(model: "iPhone17,1", system: "iOS", systemVersion: "26.0", locale: "de_AT"))
    manifest.timeZone = "Europe/Vienna"
    let zip = folder.file("Fixtures/\(name).snapshot.zip")
    try FileManager.default.createDirectory(
      at: zip.deletingLastPathComponent(), withIntermediateDirectories: true)
    _ = try SnapshotBundle.pack(sources, describedBy: manifest, to: zip)
    return zip
  }
}
