import Foundation
import Logging
import S3Client
import SnapshotFormat
import SnapshotStore
import SystemIO

/// The bytes of resumable uploads in an object store: parts while they arrive, and an object when they are read.
struct UploadObjects: Sendable {
  let client: S3Client
  /// The minimum size of a part, in bytes.
  let partBytes: Int64
  let logger: Logger

  /// Begins the upload in parts of `object`. The sweep removes it if it is in no row.
  func begin(_ object: inout UploadObject) async throws(StoreError) {
    let key = ObjectKeys.upload(object.name)
    let upload = try await StoreError.accessing { () async throws(S3Error) in
      try await client.beginMultipart(key)
    }
    object.contents = .parts(upload: upload.id, [], lastNumber: 0)
  }

  /// Writes a part of `object` with the number that is reserved for it.
  func write(_ body: S3Body, size: Int64, to object: inout UploadObject) async throws(StoreError) {
    guard case .parts(let id, let parts, let number) = object.contents, let upload = S3MultipartUpload(object)
    else { throw .unavailable("An upload accepts no part.") }
    let written = try await StoreError.accessing { () async throws(S3Error) in
      try await client.uploadPart(number, of: upload, body)
    }
    let part = UploadObject.Part(number: number, version: written.etag.value, size: size)
    object.contents = .parts(upload: id, parts + [part], lastNumber: number)
  }

  /// Appends the bytes of `row` to `staged`, which has the first of them already, or none.
  func read(_ row: UploadRow, into staged: StagedUpload) async throws(StoreError) {
    let length = row.object.length
    if staged.size < length { try await assemble(row.object) }
    while staged.size < length {
      let range = staged.size..<min(staged.size + S3StoreLimits.readBytes, length)
      let bytes = try await StoreError.accessing { () async throws(S3Error) in
        try await client.get(ObjectKeys.upload(row.object.name), range: range)
      }
      guard bytes.count == range.count else {
        throw .unavailable("The bytes of an upload are shorter than those that were written.")
      }
      try await staged.append(IOBuffer(bytes))
    }
    let known = Int(staged.size - length)
    if known < row.tail.count { try await staged.append(IOBuffer(row.tail[known...])) }
  }

  /// Makes one object of the parts, because parts can't be read.
  private func assemble(_ object: UploadObject) async throws(StoreError) {
    guard case .parts(_, let parts, _) = object.contents, let upload = S3MultipartUpload(object) else {
      return
    }
    try await StoreError.accessing { () async throws(S3Error) in
      try await client.assemble(upload, parts: parts.compactMap(S3Part.init), size: object.length)
    }
  }

  /// Writes an object from a file.
  func write(_ file: StagedUpload.Whole, to object: inout UploadObject) async throws(StoreError) {
    let key = ObjectKeys.upload(object.name)
    try await StoreError.accessing { () async throws(S3Error) in
      try await client.upload(
        file.file, to: key, size: file.size, digest: file.sha256.bytes, on: ServerQueues.shared.writers.next)
    }
    object.contents = .whole(length: file.size)
  }

  /// Removes the bytes of an upload that has ended. If that fails, the sweep does it.
  func remove(_ object: UploadObject) async {
    let key = ObjectKeys.upload(object.name)
    do {
      if object.contents == .none { return }
      if let upload = S3MultipartUpload(object) { try await client.abort(upload) }
      // Of an upload in parts, there is an object if it was assembled.
      try await client.delete(key)
    } catch {
      logger.warning(
        "The bytes of an upload that has ended can't be removed yet", metadata: ["error": "\(error)"])
    }
  }
}

extension S3MultipartUpload {
  /// The upload in parts of `object`; `nil` if it has none.
  init?(_ object: UploadObject) {
    guard case .parts(let id, _, _) = object.contents else { return nil }
    self.init(key: ObjectKeys.upload(object.name), id: id)
  }
}

extension S3Part {
  fileprivate init?(_ part: UploadObject.Part) {
    guard let version = S3ETag(part.version) else { return nil }
    self.init(number: part.number, etag: version, size: part.size)
  }
}
