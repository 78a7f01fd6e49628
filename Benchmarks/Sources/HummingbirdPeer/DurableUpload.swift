import Crypto
import Foundation
import NIOCore
import NIOPosix

/// A durable upload as a careful user of Hummingbird would write it: the body is hashed while it arrives, synchronized
/// and renamed, and the folder is synchronized. Blocking work runs on NIO's thread pool, one piece at a time.
final class DurableUpload: @unchecked Sendable {
  private let folder: String
  private let name: String
  private let descriptor: Int32
  private var hash = SHA256()
  private static let pool = NIOThreadPool.singleton

  struct Failure: Error { let code = errno }

  init(folder: String, name: String) async throws {
    self.folder = folder
    self.name = name
    descriptor = try await Self.pool.runIfActive {
      let descriptor = open("\(folder)/.\(name)", O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0o600)
      guard descriptor >= 0 else { throw Failure() }
      return descriptor
    }
  }

  deinit { close(descriptor) }

  func append(_ piece: ByteBuffer) async throws {
    try await Self.pool.runIfActive {
      try piece.withUnsafeReadableBytes { bytes in
        self.hash.update(bufferPointer: bytes)
        var rest = bytes
        while !rest.isEmpty {
          let count = write(self.descriptor, rest.baseAddress, rest.count)
          guard count > 0 else { throw Failure() }
          rest = UnsafeRawBufferPointer(rebasing: rest[count...])
        }
      }
    }
  }

  func finish() async throws {
    try await Self.pool.runIfActive {
      _ = self.hash.finalize()
      guard fsync(self.descriptor) == 0 else { throw Failure() }
      guard rename("\(self.folder)/.\(self.name)", "\(self.folder)/\(self.name)") == 0 else {
        throw Failure()
      }
      let parent = open(self.folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
      guard parent >= 0 else { throw Failure() }
      defer { close(parent) }
      guard fsync(parent) == 0 else { throw Failure() }
    }
  }
}
