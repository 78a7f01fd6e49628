import DataSnapshots
import Foundation
import SnapshotFormat
import SystemIO
import TestSupport
import Testing

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
    let unpacked = app.temporary.file("unpacked")
    _ = try SnapshotBundle.unpack(zip: zip, into: unpacked)
    for folder in [app.storage, unpacked] {
      for path in try FileManager.default.subpathsOfDirectory(atPath: folder.path) {
        let file = folder.appending(path: path)
        guard Folder.isRegularFile(file.path) else { continue }
        #expect(!Canaries.reveals(try Data(contentsOf: file), "Canary"), "\(path)")
      }
    }
    for (number, document) in planted.enumerated() {
      let file = app.storage.appending(path: "recordings/\(RecordingName("documents/\(number)"))")
      #expect(Self.isValid(try Data(contentsOf: file), document.format), "\(document.place)")
    }
  }

  @Test func `the search for planted secrets finds those that were not removed`() {
    for document in Canaries.all() {
      #expect(Canaries.reveals(document.data, document.canary), "\(document.place)")
    }
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
