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
  /// - Parameter save: stores the row if its object has parts that are not recorded.
  func read(
    _ row: UploadRow, into staged: StagedUpload, _ save: (UploadRow) async throws(StoreError) -> Void
  ) async throws(StoreError) {
    let length = row.object.length
    var row = row
    if staged.size < length { try await assemble(&row, save) }
    while staged.size < length {
      let place = row.object.place(of: staged.size)
      let range = place.offset..<place.offset + min(S3StoreLimits.readBytes, place.count)
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
  ///
  /// Ceph refuses to make an object of some of the parts only, unlike Amazon. Parts that are not recorded are then in the
  /// object too. Their places are stored before, because afterwards the parts can't be listed.
  private func assemble(
    _ row: inout UploadRow, _ save: (UploadRow) async throws(StoreError) -> Void
  ) async throws(StoreError) {
    guard case .parts(let id, let parts, let number) = row.object.contents,
      let upload = S3MultipartUpload(row.object)
    else { return }
    do throws(S3Error) {
      try await complete(upload, parts)
    } catch {
      guard case .refused(let refusal) = error, refusal.code == "InvalidPart" else { throw StoreError(error) }
      let numbers = Set(parts.map(\.number))
      let others = try await StoreError.accessing { () async throws(S3Error) in
        try await client.parts(of: upload)
      }.filter { !numbers.contains($0.number) }
      guard !others.isEmpty else { throw StoreError(error) }
      let all = (parts + others.compactMap(UploadObject.Part.init(unrecorded:))).sorted {
        $0.number < $1.number
      }
      row.object.contents = .parts(upload: id, all, lastNumber: number)
      try await save(row)
      try await StoreError.accessing { () async throws(S3Error) in try await complete(upload, all) }
    }
  }

  private func complete(
    _ upload: S3MultipartUpload, _ parts: [UploadObject.Part]
  ) async throws(S3Error) {
    try await client.assemble(
      upload, parts: parts.compactMap(S3Part.init), size: parts.reduce(0) { $0 + $1.size })
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

extension UploadObject.Part {
  fileprivate init?(unrecorded part: S3Part) {
    guard let size = part.size else { return nil }
    self.init(number: part.number, version: part.etag.value, size: size, isUnrecorded: true)
  }
}

extension S3Part {
  fileprivate init?(_ part: UploadObject.Part) {
    guard let version = S3ETag(part.version) else { return nil }
    self.init(number: part.number, etag: version, size: part.size)
  }
}
