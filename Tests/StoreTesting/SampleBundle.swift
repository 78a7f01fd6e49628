package import Foundation
package import SnapshotFormat
package import SnapshotStore
package import SystemIO

/// The bytes of a sample bundle: the id of its manifest, the result of its validation, and filling bytes.
package struct SampleBundle: Sendable, Hashable {
  package enum Quality: String, CaseIterable {
    case intact
    /// Refused at every depth of validation.
    case broken
    /// Refused only by a full validation.
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

  /// The manifest of every sample.
  package static func manifest(_ id: SnapshotID) -> Manifest {
    Manifest(
      id: id, createdAt: Date(timeIntervalSince1970: 1_790_000_000.123),
      application: .init(identifier: "com.example.news", version: "3.1.4", build: "15"),
      device: .init(model: "iPhone17,1", system: "iOS", systemVersion: "26.1", locale: "de_AT"),
      modules: [Module(name: "News", files: ["news/feed"])])
  }

  /// Validates a sample like a validator of bundles.
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
  /// A validator for samples, with a constant clock.
  package static let samples = UploadValidator(
    wholeUpTo: 0, validate: SampleBundle.validate, now: { Date(timeIntervalSince1970: 1_800_000_000.4567) })
}

extension ReportID {
  /// The report of most samples.
  package static let sample: ReportID = {
    do { return try ReportID(validating: "BUG-123") } catch { preconditionFailure("\(error)") }
  }()
}

extension TransientUploadStore {
  /// Begins an upload that consists of a single request.
  package func beginUpload(expecting length: Int64? = nil) async throws -> any TransientUpload {
    do {
      return try await beginTransientUpload(
        UploadTerms(.whole(.sample), dialect: "test"), limit: .max, expecting: length)
    } catch UploadError.store(let error) {
      throw error
    }
  }

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

  /// Uploads a sample with its own id.
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
  /// All bytes of the bundle.
  package var contents: [UInt8] {
    get throws { try file.read(upTo: Int(file.size), at: 0) }
  }
}

/// The error of a call as a word to compare; `nil` if it did not throw.
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

extension TransientUpload {
  /// Appends bytes. Throws the error of the store.
  package func append(_ bytes: IOBuffer) async throws {
    do { try await write(bytes) } catch UploadError.store(let error) { throw error }
  }
}
