import DataSnapshots
import Foundation
import RedactionTesting
import SnapshotFormat
import SystemIO
import TestSupport
import Testing
import ZipArchive

#if canImport(FoundationXML)
  import FoundationXML
#endif

/// More than a thousand secrets in every place of every format and encoding, of which none may be stored.
struct CanaryTests {
  private var app: SampleApp

  init() throws {
    app = try SampleApp()
    app.configuration.redaction = .usualSecrets
    app.configuration.limits.recordings = 10_000
  }

  /// Searches every file of the storage folder and of the bundle `zip`.
  private func expectNone(in zip: URL) throws {
    let unpacked = app.temporary.file("unpacked")
    _ = try SnapshotBundle.unpack(zip: zip, into: unpacked)
    for folder in [app.storage, unpacked] {
      for path in try FileManager.default.subpathsOfDirectory(atPath: folder.path) {
        let file = folder.appending(path: path)
        guard Folder.isRegularFile(file.path) else { continue }
        #expect(!Canaries.reveals(try Data(contentsOf: file), "Canary"), "\(path)")
      }
    }
  }

  @Test func `no planted secret reaches the disk or a bundle, and each document remains valid`() async throws
  {
    let planted = Canaries.all()
    #expect(planted.count >= 1_000)
    let mode = app.launch()
    mode.state = .recording
    for (number, document) in planted.enumerated() {
      #expect(Self.isValid(document.data, document.format), "\(document.place)")
      _ = mode.process(data: document.data, uniqueIdentifier: "documents/\(number)")
    }
    let zip = app.temporary.file("a.zip")
    let packed = try await mode.makeSnapshot(to: zip)
    #expect(packed.manifest.recordings.count == planted.count)
    #expect(app.events.all.isEmpty)
    try expectNone(in: zip)
    for (number, document) in planted.enumerated() {
      let file = app.storage.appending(path: "recordings/\(RecordingName("documents/\(number)"))")
      let left = try Data(contentsOf: file)
      #expect(Self.isValid(left, document.format), "\(document.place)")
      if document.place.hasPrefix("HTML"), document.format == .text, !document.place.contains(" in ") {
        #expect(Self.tags(left) == Self.tags(document.data), "\(document.place)")
      }
    }
  }

  @Test func `no planted secret in a compressed body or beside a picture in a form reaches the disk`()
    async throws
  {
    let mode = app.launch()
    mode.state = .recording
    let planted = Canaries.some(every: 10)
    let picture = Data([0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 0, 0xFF, 0x0D, 0x0A, 0x2D, 0x2D])
    let formats = [CompressedBody.Format.gzip, .zlib, .raw]
    for (number, document) in planted.enumerated() {
      let body = try CompressedBody.deflate(Array(document.data), as: formats[number % 3])
      _ = mode.process(data: Data(body), uniqueIdentifier: "compressed \(number)")
      var form = Data("--b1\r\nContent-Disposition: form-data; name=\"picture\"\r\n\r\n".utf8) + picture
      form += Data("\r\n--b1\r\nContent-Disposition: form-data; name=\"file\"\r\n\r\n".utf8)
      form += document.data + Data("\r\n--b1--\r\n".utf8)
      _ = mode.process(data: form, uniqueIdentifier: "form \(number)")
    }
    await mode.flush()
    #expect(app.events.all.isEmpty)
    for (number, document) in planted.enumerated() {
      func stored(_ identifier: String) throws -> Data {
        try Data(contentsOf: app.storage.appending(path: "recordings/\(RecordingName(identifier))"))
      }
      let body = Array(try stored("compressed \(number)"))
      let inflated = CompressedBody.inflate(body, isRaw: number % 3 == 2, limit: 1 << 20)
      guard case .bytes(let text) = inflated else {
        Issue.record("\(document.place) is no longer compressed")
        continue
      }
      #expect(!Canaries.reveals(Data(text), "Canary"), "\(document.place)")
      #expect(Self.isValid(Data(text), document.format), "\(document.place)")
      let form = try stored("form \(number)")
      #expect(!Canaries.reveals(form, "Canary"), "\(document.place) in a form")
      #expect(form.firstRange(of: picture) != nil)
    }
  }

  @Test func `no planted secret of an exchange reaches the disk or a bundle`() async throws {
    let mode = app.launch()
    mode.state = .recording
    let planted = Canaries.some(every: 20)
    for (number, document) in planted.enumerated() {
      let canary = document.canary
      let url = try #require(
        URL(string: "https://example.com/\(number)?a=1&access_token=\(canary)#id_token=\(canary)"))
      let fields: [Manifest.Exchange.Field] = [
        .init("Authorization", "Digest username=\(canary)"), .init("Cookie", "a=\(canary); b=\(canary)"),
        .init("X-Api-Key", canary), .init("Referer", "https://ann:\(canary)@example.com/?token=\(canary),x"),
        .init("X-Request", #"{"password":["\#(canary)"]}"#),
      ]
      var exchange = Manifest.Exchange(
        request: .init(method: "POST", url: url.absoluteString, fields: fields), response: .init(status: 302),
        startedAt: SampleApp.time, duration: 5)
      exchange.response?.fields = [
        .init("Set-Cookie", "sid=\(canary); Path=/"), .init("Location", "/next?session_id=\(canary)"),
        .init("X-Auth-Token", canary),
      ]
      let stored = StoredExchange(exchange, requestBody: document.data)
      mode.record(CompletedExchange(stored, body: document.data), url: url, ExchangeRules())
    }
    let zip = app.temporary.file("a.zip")
    let packed = try await mode.makeSnapshot(to: zip)
    #expect(packed.manifest.recordings.count == planted.count)
    try expectNone(in: zip)
  }

  @Test func `no planted secret in a binary property list reaches the disk`() async throws {
    let mode = app.launch()
    mode.state = .recording
    let planted = Canaries.some(every: 20)
    for (number, document) in planted.enumerated() {
      let canary = document.canary
      let list: [String: Any] = [
        "data": document.data, "text": String(decoding: document.data, as: UTF8.self),
        "password": ["a": [canary]],
        "pairs": [["key": "token", "value": canary]], "count": number, "nested": ["refreshToken": canary],
      ]
      let bytes = try PropertyListSerialization.data(fromPropertyList: list, format: .binary, options: 0)
      _ = mode.process(data: bytes, uniqueIdentifier: "lists/\(number)")
    }
    await mode.flush()
    #expect(app.events.all.isEmpty)
    for path in try app.names(in: "recordings") {
      let bytes = try Data(contentsOf: app.storage.appending(path: "recordings/" + path))
      guard path.contains("lists") || bytes.starts(with: Data("bplist00".utf8)) else { continue }
      #expect(!Canaries.reveals(bytes, "Canary"), "\(path)")
      #expect(try PropertyListSerialization.propertyList(from: bytes, format: nil) is [String: Any])
    }
  }

  @Test func `the search for planted secrets finds those that were not removed`() {
    for document in Canaries.all() {
      #expect(Canaries.reveals(document.data, document.canary), "\(document.place)")
    }
  }

  /// The tags of HTML, without attributes.
  private static func tags(_ html: Data) -> [String] {
    String(decoding: html, as: UTF8.self).matches(of: #/<[/!]?[A-Za-z]+/#).map { String($0.output) }
  }

  private static func isValid(_ data: Data, _ format: Canaries.Format) -> Bool {
    func isJSON(_ data: Data) -> Bool {
      do {
        _ = try JSONSerialization.jsonObject(with: data)
        return true
      } catch {
        return false
      }
    }
    switch format {
    case .json: return isJSON(data)
    case .jsonLines: return data.split(separator: UInt8(ascii: "\n")).allSatisfy { isJSON(Data($0)) }
    case .xml: return XMLParser(data: data).parse()
    case .text: return true
    }
  }
}
