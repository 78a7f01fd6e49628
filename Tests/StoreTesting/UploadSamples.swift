import Foundation
package import SnapshotFormat
package import SnapshotStore
import SystemIO

extension Attachment {
  /// Attaches a sample under its own UUID.
  package static let sample = Attachment(report: .sample, id: SnapshotID())

  package static func of(_ sample: SampleBundle, expected: ContentDigest? = nil, createOnly: Bool = false)
    -> Attachment
  {
    Attachment(report: .sample, id: sample.id, expected: expected, createOnly: createOnly)
  }
}

extension UploadTerms {
  /// The terms of an upload of a sample, with a known length by default.
  package static func of(_ sample: SampleBundle, deferred: Bool = false, owner: String? = nil) -> UploadTerms
  {
    UploadTerms(
      .whole(.of(sample)), length: deferred ? nil : Int64(sample.bytes.count), owner: owner, dialect: "test")
  }
}

extension UploadStore {
  /// Appends `bytes` at the end of the upload, in pieces.
  @discardableResult
  package func append(
    _ bytes: some Collection<UInt8>, to id: UploadID, at offset: Int64? = nil, length: Int64? = nil,
    completes: Bool? = nil, digest: StatedDigest? = nil, declared: Bool = true, pieceSize: Int = 1 << 16,
    checkpoints: Bool = false, _ ending: UploadEnding = .finished
  ) async throws -> UploadSession {
    let request = AppendRequest(
      offset: try await { if let offset { offset } else { try await uploadSession(id).offset } }(),
      length: length,
      completes: completes, digest: digest)
    let appending = try await beginAppending(request, bytes: declared ? Int64(bytes.count) : nil, to: id)
    var rest = Array(bytes)[...]
    do {
      while !rest.isEmpty {
        try await appending.write(IOBuffer(rest.prefix(pieceSize)))
        rest = rest.dropFirst(pieceSize)
        if checkpoints { _ = try await appending.checkpoint() }
      }
    } catch {
      _ = try await appending.end(.broken)
      throw error
    }
    return try await appending.end(ending)
  }

  /// Uploads a sample by one request.
  @discardableResult
  package func uploadResumably(_ sample: SampleBundle) async throws -> UploadSession {
    let id = try await createUpload(.of(sample)).id
    try await append(sample.bytes, to: id)
    return try await commitUpload(id, as: .of(sample))
  }
}

extension UploadError {
  /// The name of its case.
  package var word: String {
    if case .store(let error) = self { return "store \(error.word)" }
    return Mirror(reflecting: self).children.first?.label ?? "\(self)"
  }
}

extension StoreError {
  /// The name of its case.
  package var word: String {
    switch self {
    case .notFound: "notFound"
    case .deleted: "deleted"
    case .conflict: "conflict"
    case .alreadyExists: "alreadyExists"
    case .digestMismatch: "digestMismatch"
    case .invalid: "invalid"
    case .foreignApplication: "foreignApplication"
    case .outOfSpace: "outOfSpace"
    case .outOfInodes: "outOfInodes"
    case .quotaExceeded: "quotaExceeded"
    case .damaged: "damaged"
    case .tooManyComments: "tooManyComments"
    case .unavailable: "unavailable"
    case .system: "system"
    }
  }
}

/// The error that a call threw, as a word to compare; `nil` if it threw nothing.
package func failureWord(_ body: () throws -> Void) -> String? {
  do {
    try body()
    return nil
  } catch let error as UploadError {
    return error.word
  } catch {
    return "\(error)"
  }
}

/// The error that a call threw, as a word to compare; `nil` if it threw nothing.
package func uploadFailure(_ body: () async throws -> Void) async -> String? {
  do {
    try await body()
    return nil
  } catch let error as UploadError {
    return error.word
  } catch {
    return "\(error)"
  }
}
