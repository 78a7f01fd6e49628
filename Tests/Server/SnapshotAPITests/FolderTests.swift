import AccessControl
import Foundation
import HTTPEngine
import HTTPSemantics
import HTTPTypes
import ServerTesting
import SnapshotAPI
import SnapshotFormat
import SystemIO
import TestSupport
import Testing
import ZipArchive

/// Folders of a bundle, sent as archives.
@Suite struct FolderTests {
  private let api: TestAPI
  private let bundle: ZippedSample
  private let files = [
    "attachments/a.txt": String(repeating: "words ", count: 5000), "attachments/größe.txt": "umlaut",
    "attachments/deep/er/b.json": "{}", "attachments/empty": "", "app-data/attachments/c": "another folder",
    "app-data/Documents/ä ö/d": "below a folder that is not ASCII",
  ]
  private var path: String { "/v1/snapshots/\(bundle.id)/files.zip" }

  init() async throws {
    api = TestAPI()
    bundle = try ZippedSample("{\"feed\":1}", extra: files, level: 6)
    try await api.upload(bundle.bytes, .put, id: bundle.id)
  }

  private func folder(_ name: String?, _ fields: HTTPFields = [:]) async throws -> TestAPI.Answer {
    try await api.send(.get, path, query: name.map { "folder=\(PercentCoding.encode($0))" }, fields)
  }

  /// Returns the contents of the entries of an archive, which is checked strictly.
  private func contents(_ bytes: [UInt8]) throws -> [String: String] {
    let folder = try TemporaryFolder()
    let file = try File(folder.write(Data(bytes), to: "a.zip").path)
    let reader = try ZipReader(file, profile: .strict)
    return try reader.entries.reduce(into: [:]) { contents, entry in
      contents[entry.name] = String(
        decoding: try reader.contents(of: entry, upTo: Int(entry.size)), as: UTF8.self)
    }
  }

  @Test func `an archive has the files below the folder, with the folder's name`() async throws {
    for name in ["attachments", "attachments/"] {
      let answer = try await folder(name)
      #expect(answer.status == 200)
      #expect(answer.fields[.contentType] == "application/zip")
      #expect(
        answer.fields[.contentDisposition]
          == "attachment; filename=\"\(bundle.id.description.prefix(8))-attachments.zip\"")
      #expect(try contents(answer.bytes) == files.filter { $0.key.hasPrefix("attachments/") })
    }
    #expect(try contents(try await folder("attachments/deep").bytes) == ["deep/er/b.json": "{}"])
    let umlaut = try await folder("app-data/Documents/ä ö")
    #expect(try contents(umlaut.bytes) == ["ä ö/d": files["app-data/Documents/ä ö/d"]])
    let decomposed = try await folder("app-data/Documents/a\u{308} o\u{308}")
    #expect(try contents(decomposed.bytes) == ["ä ö/d": files["app-data/Documents/ä ö/d"]])
    for name in [nil, "", "/"] as [String?] {
      let all = try contents(try await folder(name).bytes)
      #expect(all.count == files.count + 2)
      #expect(all["manifest.json"]?.isEmpty == false)
    }
  }

  @Test func `the data is not compressed again, and unzip reads the archive`() async throws {
    let answer = try await folder("attachments")
    #expect(answer.bytes.count < 2000)
    guard Tool.find("unzip") != nil else { return }
    let temporary = try TemporaryFolder()
    let file = try temporary.write(Data(answer.bytes), to: "a.zip")
    let outcome = try await Tool.run("unzip", ["-tq", file.path])
    #expect(outcome.status == 0, "\(outcome.text)")
  }

  @Test func `an archive is always the same, so ranges and conditions work`() async throws {
    let whole = try await folder("attachments")
    #expect(try await folder("attachments").bytes == whole.bytes)
    let tag = try #require(whole.fields[.eTag])
    #expect(try await folder("attachments", [.ifNoneMatch: tag]).status == 304)
    #expect(try await folder("app-data").fields[.eTag] != tag)
    for range in [0...0, 20...60, 30...whole.bytes.count - 1] {
      let part = try await folder(
        "attachments", [.range: "bytes=\(range.lowerBound)-\(range.upperBound)", .ifRange: tag])
      #expect(part.status == 206)
      #expect(part.bytes == Array(whole.bytes[range]))
    }
  }

  @Test(arguments: ["none", "attach", "attachments/a.txt", "..", "../x", "/attachments", "attachments//deep"])
  func `a folder without files does not exist`(name: String) async throws {
    let answer = try await folder(name)
    #expect(answer.status == 404)
    #expect(answer.kind == "no-such-file")
  }

  @Test(arguments: [(3, 1000, 422), (4, 1000, 200), (4, 80, 422), (5, 1000, 200)])
  func `the number of files and the length of their names have limits`(
    files: Int, names: Int, status: Int
  ) async throws {
    var limits = ServiceLimits()
    limits.archivedFiles = files
    limits.archivedNameBytes = names
    let api = TestAPI(limits: limits)
    try await api.upload(bundle.bytes, .put, id: bundle.id)
    let answer = try await api.send(.get, path, query: "folder=attachments")
    #expect(answer.status == status)
    if status != 200 { #expect(answer.kind == "folder-too-large") }
    // The limits don't apply to other folders.
    #expect(try await api.send(.get, path, query: "folder=app-data").status == 200)
  }

  @Test func `a folder needs the permission to read the snapshot`() async throws {
    let guarded = try GuardedAPI()
    try await guarded.attach(bundle, guarded.token(.admin).fields)
    let foreign = try guarded.token(.read, limits: .init(reportPrefixes: ["WEB-"]))
    #expect(try await guarded.api.send(.get, path, guarded.token(.read).fields).status == 200)
    #expect(try await guarded.api.send(.get, path, foreign.fields).status == 404)
    #expect(try await guarded.api.send(.get, path, guarded.token(.attach).fields).status == 403)
  }
}
