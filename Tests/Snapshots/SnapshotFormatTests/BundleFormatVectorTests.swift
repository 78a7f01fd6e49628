import Foundation
import SnapshotFormat
import SnapshotSealing
import TestSupport
import Testing

/// The test vectors of the specification (BundleFormat.md), read by this implementation and by one in Python that was
/// written from the specification.
@Suite struct BundleFormatVectorTests {
  private static let folder = PackageFolder.url().appending(path: "Tests/Snapshots/BundleFormat")
  private static let reader = folder.appending(path: "read_bundle.py")

  /// What a bundle holds, as the reader in Python prints it.
  private struct Contents: Codable, Equatable {
    let id: SnapshotID
    /// The identifiers by their paths.
    let recordings: [String: String]
    let others: [String]
    /// What was not recorded; `nil` if the manifest does not say it.
    var dropped: [Gap]?
    /// Method, URL, outcome, fields and body of the requests, by the paths of their recordings.
    let exchanges: [String: [String]]?
    /// `nil` if the manifest says none of them.
    let circumstances: Circumstances?
    /// To whom the bundle is sealed; `nil` if it is not.
    var sealed: [String?]?
  }

  /// Under which circumstances the recordings were made.
  private struct Circumstances: Codable, Equatable {
    let timeZone, locale, calendar: String?
    /// Both times in milliseconds since 1970.
    let span: [Int64]?

    init?(_ manifest: Manifest) {
      var manifest = manifest
      // Without recordings, the span is that of the manifest.
      manifest.recordings = []
      (timeZone, locale, calendar) = (manifest.timeZone, manifest.locale, manifest.calendar)
      span = manifest.span.map { span in
        [span.from, span.to].map { Int64(($0.timeIntervalSince1970 * 1000).rounded()) }
      }
      if timeZone == nil, locale == nil, calendar == nil, span == nil { return nil }
    }
  }

  /// An entry of `dropped`, as an array.
  private struct Gap: Codable, Equatable {
    let identifier: String?
    let reason: String
    let count: Int
    let bytes: Int64

    init(_ entry: Manifest.Dropped) {
      (identifier, reason) = (entry.identifier, entry.reason.rawValue)
      (count, bytes) = (entry.count, entry.bytes)
    }

    init(from decoder: any Decoder) throws {
      var values = try decoder.unkeyedContainer()
      identifier = try values.decodeIfPresent(String.self)
      reason = try values.decode(String.self)
      count = try values.decode(Int.self)
      bytes = try values.decode(Int64.self)
    }
  }

  private static func bundles(_ kind: String) throws -> [URL] {
    try FileManager.default.contentsOfDirectory(
      at: folder.appending(path: "Vectors/\(kind)"), includingPropertiesForKeys: nil
    ).filter { $0.pathExtension == "zip" }.sorted { $0.path < $1.path }
  }

  private static func contents(of bundle: URL) throws -> Contents {
    let manifest = try SnapshotBundle.validate(zip: bundle, depth: .full)
    if let sealed = manifest.sealed {
      return Contents(
        id: manifest.id, recordings: [:], others: [], exchanges: nil, circumstances: nil,
        sealed: sealed.recipients.map(\.recipient))
    }
    var others: [String] = []
    try OpenSnapshot(zip: bundle).readExtras { others.append($0.name) }
    let folder = try TemporaryFolder()
    let unpacked = folder.file("unpacked")
    _ = try SnapshotBundle.unpack(zip: bundle, into: unpacked)
    var exchanges: [String: [String]] = [:]
    for recording in manifest.recordings {
      guard let exchange = recording.exchange else { continue }
      var body = Data()
      if let stated = exchange.request.body {
        body = try Data(contentsOf: unpacked.appending(path: recording.requestBodyPath))
        #expect(stated.size == body.count && stated.sha256 == .of(body))
      }
      let outcome = exchange.response?.status ?? exchange.failure?.code ?? 0
      exchanges[recording.path] =
        [exchange.request.method, exchange.request.url, "\(outcome)"]
        + exchange.request.fields.map { "\($0.name): \($0.value)" } + [String(decoding: body, as: UTF8.self)]
    }
    let recordings = manifest.recordings.map { ($0.path, $0.identifier) }
    return Contents(
      id: manifest.id, recordings: Dictionary(uniqueKeysWithValues: recordings), others: others.sorted(),
      dropped: manifest.unknown["dropped"] == nil ? nil : manifest.dropped.map(Gap.init),
      exchanges: exchanges.isEmpty ? nil : exchanges, circumstances: Circumstances(manifest))
  }

  @Test func `every bundle that the specification accepts is read alike by both`() async throws {
    let bundles = try Self.bundles("accepted")
    #expect(bundles.count >= 14)
    for bundle in bundles {
      let description = bundle.deletingPathExtension().appendingPathExtension("json")
      let expected = try JSONDecoder().decode(Contents.self, from: Data(contentsOf: description))
      #expect(try Self.contents(of: bundle) == expected, "\(bundle.lastPathComponent)")
      let outcome = try await Tool.run("python3", [Self.reader.path, bundle.path])
      try #require(outcome.status == 0, "\(outcome.errors)")
      #expect(try JSONDecoder().decode(Contents.self, from: outcome.output) == expected)
    }
  }

  @Test func `every bundle that the specification refuses is refused by both`() async throws {
    let bundles = try Self.bundles("refused")
    #expect(bundles.count >= 46)
    for bundle in bundles {
      #expect(throws: BundleError.self, "\(bundle.lastPathComponent)") {
        _ = try SnapshotBundle.validate(zip: bundle, depth: .full)
      }
      let outcome = try await Tool.run("python3", [Self.reader.path, bundle.path])
      #expect(outcome.status == 1)
      #expect(outcome.errors.contains("\(bundle.lastPathComponent) is refused: "), "\(outcome.errors)")
    }
  }

  @Test func `the sealed bundle of the specification opens to the one that age sealed`() throws {
    let vectors = Self.folder.appending(path: "Vectors")
    let identities = try IdentityFile(Array(Data(contentsOf: vectors.appending(path: "identity.txt"))))
      .identities
    let folder = try TemporaryFolder()
    let inner = folder.file("inner.zip")
    for name in ["sealed", "sealed-with-more"] {
      let zip = vectors.appending(path: "accepted/\(name).zip")
      _ = try SnapshotBundle.unseal(zip: zip, with: identities, to: inner)
      #expect(
        try Data(contentsOf: inner) == Data(contentsOf: vectors.appending(path: "accepted/one-recording.zip"))
      )
    }
  }

  @Test func `recordings have the file names of the specification`() throws {
    let names = try JSONDecoder().decode(
      [String: String].self, from: Data(contentsOf: Self.folder.appending(path: "Vectors/names.json")))
    #expect(names.count >= 30)
    for (identifier, name) in names { #expect(RecordingName(identifier).description == name) }
  }

  private struct FileNames: Decodable {
    let single: [String: String]
    let siblings: [[[String]]]
  }

  @Test func `other files have the names of the specification`() throws {
    let names = try JSONDecoder().decode(
      FileNames.self, from: Data(contentsOf: Self.folder.appending(path: "Vectors/file-names.json")))
    #expect(names.single.count >= 15 && names.siblings.count >= 8)
    for (name, encoded) in names.single { #expect(try bundled([name]) == [encoded]) }
    for pair in names.siblings { #expect(try bundled(pair[0]) == pair[1]) }
  }

  /// The names in a bundle of attachments with these names, after which they must be found again.
  private func bundled(_ names: [String]) throws -> [String] {
    let folder = try TemporaryFolder()
    let attachments = try names.enumerated().map { index, name in
      let file = try folder.write(Data("\(index)".utf8), to: "\(index)")
      return SnapshotBundle.Attachment(name: name, file: file)
    }
    let zip = folder.file("a.zip")
    let manifest = Manifest(
      id: SnapshotID(), createdAt: SampleSnapshot.time, application: SampleSnapshot.application,
      device: SampleSnapshot.device)
    _ = try SnapshotBundle.pack([], attachments: attachments, describedBy: manifest, to: zip)
    let snapshot = try OpenSnapshot(zip: zip)
    return try names.indices.map { index in
      let digest = ContentDigest.of(Array("\(index)".utf8))
      let found = try snapshot.members.first { try snapshot.digest(of: $0) == digest }
      let member = try #require(found)
      #expect(member.originalName.utf8.elementsEqual("attachments/\(names[index])".utf8))
      return String(member.name.dropFirst("attachments/".count))
    }
  }

  @Test func `the reader in Python stays short`() throws {
    let lines = try String(contentsOf: Self.reader, encoding: .utf8).split(
      separator: "\n", omittingEmptySubsequences: false)
    #expect(lines.count <= 150)
  }
}
