package import Foundation
package import SnapshotFormat
package import SnapshotStore
import SystemIO

/// Bytes that stand for a bundle: the id of its manifest, what a validator is to find, and a filling.
package struct SampleBundle: Sendable, Hashable {
  package enum Quality: String, CaseIterable {
    case intact
    /// Refused by every look.
    case broken
    /// Refused by a full look only.
    case damaged
  }

  package let id: SnapshotID
  package let bytes: [UInt8]

  package init(
    id: SnapshotID = SnapshotID(), _ quality: Quality = .intact, filling: String = "", count: Int = 0
  ) {
    self.id = id
    bytes = Array("\(id) \(quality.rawValue) \(filling)".utf8) + [UInt8](repeating: 7, count: count)
  }

  package var sha256: ContentDigest { .of(bytes) }

  /// The manifest that ``validate(_:_:)`` finds in every sample.
  package static func manifest(_ id: SnapshotID) -> Manifest {
    Manifest(
      id: id, createdAt: Date(timeIntervalSince1970: 1_790_000_000.123),
      application: .init(identifier: "com.example.news", version: "3.1.4", build: "15"),
      device: .init(model: "iPhone17,1", system: "iOS", systemVersion: "26.1", locale: "de_AT"),
      modules: [Module(name: "News", files: ["news/feed"])])
  }

  /// Reads a sample as a validator reads a bundle.
  package static func validate(_ zip: URL, _ depth: SnapshotBundle.Depth) throws(BundleError) -> BundleCheck {
    let head: [UInt8]
    do { head = try File(zip.path).read(upTo: 64, at: 0) } catch { throw .system(error) }
    let words = String(decoding: head, as: UTF8.self).split(separator: " ", omittingEmptySubsequences: false)
    guard words.count >= 3, let id = SnapshotID(String(words[0])),
      let quality = Quality(rawValue: String(words[1]))
    else { throw .manifestMissing }
    switch (quality, depth) {
    case (.broken, _): throw .manifestMissing
    case (.damaged, .full):
      throw .recordingDiffers(identifier: "news/feed", path: "recordings/feed", "other digest")
    default: return BundleCheck(BundleSummary(manifest(id)))
    }
  }
}

extension UploadValidator {
  /// The rules, with samples for bundles and a clock that stands still.
  package static let samples = UploadValidator(
    wholeUpTo: 0, validate: SampleBundle.validate, now: { Date(timeIntervalSince1970: 1_800_000_000.4567) })
}

extension ReportID {
  /// The report that most samples are attached to.
  package static let sample: ReportID = {
    do { return try ReportID(validating: "BUG-123") } catch { preconditionFailure("\(error)") }
  }()
}

extension BundleStore {
  /// Uploads `bytes` in pieces of `pieceSize`.
  @discardableResult
  package func upload(_ bytes: [UInt8], as attachment: Attachment, pieceSize: Int = 1 << 16) async throws
    -> Publication
  {
    let upload = try await beginUpload()
    for start in stride(from: 0, to: bytes.count, by: pieceSize) {
      try await upload.append(IOBuffer(bytes[start..<min(start + pieceSize, bytes.count)]))
    }
    return try await upload.commit(attachment)
  }

  /// Uploads a sample under its own id.
  @discardableResult
  package func upload(_ sample: SampleBundle, expected: Bool = false, createOnly: Bool = false) async throws
    -> Publication
  {
    try await upload(
      sample.bytes,
      as: Attachment(
        report: .sample, id: sample.id, expected: expected ? sample.sha256 : nil, createOnly: createOnly))
  }
}

extension StoredBundle {
  /// All of its bytes.
  package var contents: [UInt8] {
    get throws { try file.read(upTo: Int(file.size), at: 0) }
  }
}

/// What a call threw, as a word to compare: `nil` where it threw nothing.
package func failure(_ body: () async throws -> Void) async -> String? {
  do {
    try await body()
    return nil
  } catch let error as StoreError {
    return error.word
  } catch {
    return "\(error)"
  }
}
