package import Dispatch
package import Foundation
import HTTPClient
import SystemIO

extension S3Client {
  /// Writes a file as an object, and replaces a previous one: in parts, several at once, if the file has at least
  /// ``S3Configuration/multipartBytes``. If it throws, the object may have been written.
  ///
  /// - Parameters:
  ///   - file: a regular file, which must not change until this returns.
  ///   - key: the key of the object. No other client may write to it while the file is uploaded.
  ///   - size: the length of the file in bytes.
  ///   - digest: the SHA-256 of its contents: 32 bytes.
  ///   - queue: hashes the parts.
  package func upload(
    _ file: URL, to key: String, size: Int64, digest: [UInt8], on queue: DispatchQueue
  ) async throws(S3Error) {
    guard size >= configuration.multipartBytes else {
      try await put(key, S3Body(file: file, digest: digest))
      return
    }
    let upload = try await beginMultipart(key)
    do {
      let parts = try await uploadParts(of: file, size: size, to: upload, on: queue)
      try await assemble(upload, parts: parts, size: size)
    } catch {
      // If this fails too, the parts remain until the upload is found in the list of uploads.
      do throws(S3Error) { try await abort(upload) } catch {}
      throw error
    }
  }

  private func uploadParts(
    of file: URL, size: Int64, to upload: S3MultipartUpload, on queue: DispatchQueue
  ) async throws(S3Error) -> [S3Part] {
    let most = Int64(S3Limits.parts)
    let length = max(configuration.multipartBytes, (size + most - 1) / most)
    let ranges = stride(from: 0, to: size, by: Int64.Stride(length)).map { $0..<min($0 + length, size) }
    let results = await withTaskGroup(of: Result<S3Part, S3Error>.self) { group in
      var results: [Result<S3Part, S3Error>] = []
      var isFailed = false
      for (index, range) in ranges.enumerated() where !isFailed {
        if index >= S3Limits.concurrentParts, let result = await group.next() {
          results.append(result)
          if case .failure = result { isFailed = true }
        }
        group.addTask { await self.uploadPart(index + 1, range, of: file, to: upload, on: queue) }
      }
      for await result in group { results.append(result) }
      return results
    }
    var parts: [S3Part] = []
    for result in results { parts.append(try result.get()) }
    return parts
  }

  private func uploadPart(
    _ number: Int, _ range: Range<Int64>, of file: URL, to upload: S3MultipartUpload, on queue: DispatchQueue
  ) async -> Result<S3Part, S3Error> {
    do {
      let body = try await queue.perform { () throws(S3Error) in
        do throws(SystemError) { return try S3Body(part: range, of: file) } catch {
          throw .transport(.file(error.description))
        }
      }
      return .success(try await uploadPart(number, of: upload, body))
    } catch {
      return .failure(error)
    }
  }
}
