#if canImport(Darwin)
  import Darwin
#else
  import CPlatform
  import Glibc
#endif

/// An open file that is read and written at offsets, so that several threads can use it without a shared position.
///
/// The descriptor is closed with the last reference. Short reads, short writes and interrupted calls are retried here
/// and are not visible to callers.
public final class File: Sendable {
  /// How ``init(_:_:)`` opens a file.
  public enum Access: Sendable, Hashable {
    /// Opens an existing file for reading.
    case read
    /// Opens an existing file for reading and writing.
    case update
    /// Creates a file for reading and writing. Throws an error with ``SystemError/isAlreadyThere`` if the name exists.
    case create(mode: UInt16)
    /// Opens a file for reading and writing. Creates it if it does not exist.
    case openOrCreate(mode: UInt16)
    /// Opens a file for reading and for appending with ``append(_:)``. Creates it if it does not exist.
    case append(mode: UInt16)
  }

  /// The path with which the file was opened.
  public let path: String
  /// The descriptor, valid during the lifetime of this object.
  public var descriptor: Int32 { owned.number }
  private let owned: Descriptor

  /// Opens `path`. Does not follow a symbolic link in the last component (`ELOOP`), does not wait for a pipe's writer,
  /// and does not pass the descriptor to child processes.
  public convenience init(_ path: String, _ access: Access = .read) throws(SystemError) {
    try self.init(path, named: path, in: AT_FDCWD, access)
  }

  /// Opens `name`, relative to the folder with the descriptor `folder`, as ``init(_:_:)`` does.
  init(_ path: String, named name: String, in folder: Int32, _ access: Access) throws(SystemError) {
    let (flags, mode): (Int32, UInt16) =
      switch access {
      case .read: (O_RDONLY | O_NONBLOCK, 0)
      case .update: (O_RDWR, 0)
      case .create(let mode): (O_RDWR | O_CREAT | O_EXCL, mode)
      case .openOrCreate(let mode): (O_RDWR | O_CREAT, mode)
      case .append(let mode): (O_RDWR | O_CREAT | O_APPEND, mode)
      }
    self.path = path
    let isNew = FileObserver.isActive && flags & O_CREAT != 0 && faccessat(folder, name, F_OK, 0) != 0
    owned = try Descriptor("open", path) {
      openat(folder, name, flags | O_CLOEXEC | O_NOFOLLOW, mode_t(mode))
    }
    if isNew { FileObserver.reportFile(self) { .createFile(path, $0) } }
  }

  /// Opens `path` for reading as ``init(_:_:)`` does, if the kernel can resolve the path from its caches. Never waits
  /// for a disk, so an event loop can call it.
  ///
  /// Returns `nil` if the call would have to wait, if the system does not support it, and on every error;
  /// ``init(_:_:)`` then throws the error.
  public init?(cached path: String) {
    #if os(Linux)
      let flags = UInt32(bitPattern: O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOFOLLOW)
      let descriptor = snapshot_open_cached(path, UInt64(flags))
      guard descriptor >= 0 else { return nil }
      self.path = path
      owned = Descriptor(taking: descriptor)
    #else
      return nil
    #endif
  }

  /// Creates an empty file without a name, on the disk of `folder`, for reading and writing. The system removes it with
  /// the last reference, also after a crash.
  public convenience init(temporaryIn folder: String) throws(SystemError) {
    let path = "\(folder)/.temporary-\(UInt64.random(in: .min ... .max))"
    try self.init(path, .create(mode: 0o600))
    try Folder.remove(path)
  }

  /// The length of the file in bytes.
  public var size: Int64 {
    get throws(SystemError) { Int64(try status.st_size) }
  }

  /// Whether this is a regular file, as opposed to a folder, a pipe or a device.
  public var isRegular: Bool {
    get throws(SystemError) { try status.st_mode & S_IFMT == S_IFREG }
  }

  /// The time of the last change of the contents, in nanoseconds since 1970.
  public var modifiedNanoseconds: Int64 {
    get throws(SystemError) {
      let status = try status
      #if canImport(Darwin)
        let time = status.st_mtimespec
      #else
        let time = status.st_mtim
      #endif
      return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }
  }

  private var status: stat {
    get throws(SystemError) {
      var status = stat()
      try retryingInterrupts("fstat", path) { fstat(descriptor, &status) }
      return status
    }
  }

  /// Reads into `buffer` until it is full or the file ends.
  /// - Returns: The number of bytes read.
  public func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws(SystemError) -> Int {
    var filled = 0
    while filled < buffer.count, let base = buffer.baseAddress {
      let count = try retryingInterrupts("pread", path) {
        pread(descriptor, base + filled, buffer.count - filled, off_t(offset) + off_t(filled))
      }
      if count == 0 { break }
      filled += count
    }
    return filled
  }

  /// Reads `count` bytes at `offset`, or fewer if the file ends before.
  public func read(upTo count: Int, at offset: Int64) throws(SystemError) -> [UInt8] {
    // All threads share the storage of the empty array, and the initializer below would write to it: a data race.
    guard count > 0 else { return [] }
    var failure: SystemError?
    let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
      do throws(SystemError) {
        filled = try read(into: UnsafeMutableRawBufferPointer(buffer), at: offset)
      } catch {
        failure = error
      }
    }
    if let failure { throw failure }
    return bytes
  }

  /// Reads the bytes in `range`, or those before the end of the file, and passes them to `body` in pieces, which are
  /// valid only during the call. All pieces share one buffer. Ends early if `body` returns `false`.
  package func forEachPiece(
    in range: Range<Int64> = 0..<Int64.max, _ body: (UnsafeRawBufferPointer) -> Bool
  ) throws(SystemError) {
    // Small enough for the processor's cache, so that `body` does not wait for memory.
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 128 << 10, alignment: 16)
    defer { buffer.deallocate() }
    var offset = range.lowerBound
    while offset < range.upperBound {
      let wanted = Int(min(Int64(buffer.count), range.upperBound - offset))
      let count = try read(into: UnsafeMutableRawBufferPointer(rebasing: buffer[..<wanted]), at: offset)
      guard count > 0, body(UnsafeRawBufferPointer(rebasing: buffer[..<count])), count == wanted else {
        return
      }
      offset += Int64(count)
    }
  }

  /// Writes all of `bytes` at `offset`.
  public func write(_ bytes: UnsafeRawBufferPointer, at offset: Int64) throws(SystemError) {
    var written = 0
    while written < bytes.count, let base = bytes.baseAddress {
      let count = try retryingInterrupts("pwrite", path) {
        pwrite(descriptor, base + written, bytes.count - written, off_t(offset) + off_t(written))
      }
      guard count > 0 else { throw SystemError(operation: "pwrite", path: path, code: EIO) }
      written += count
    }
    FileObserver.reportFile(self) { .write(Array(bytes), at: offset, $0) }
  }

  /// Writes all of `bytes` at `offset`.
  public func write(_ bytes: [UInt8], at offset: Int64) throws(SystemError) {
    var failure: SystemError?
    bytes.withUnsafeBytes { buffer in
      do throws(SystemError) { try write(buffer, at: offset) } catch { failure = error }
    }
    if let failure { throw failure }
  }

  /// Sets the length of the file to `size` bytes. If it grows, the new bytes are zero.
  public func truncate(to size: Int64) throws(SystemError) {
    try retryingInterrupts("ftruncate", path) { ftruncate(descriptor, off_t(size)) }
    FileObserver.reportFile(self) { .truncate(size, $0) }
  }

  /// Reserves disk space for a range, so that writing to it does not fail on a full disk. The length of the file remains
  /// the same. Truncating the file releases what is behind its end.
  ///
  /// Returns `false` if the file system does not support it, and on systems other than Linux.
  @discardableResult
  public func reserve(_ range: Range<Int64>) throws(SystemError) -> Bool {
    #if os(Linux)
      do {
        try retryingInterrupts("fallocate", path) {
          fallocate(
            descriptor, Int32(SNAPSHOT_FALLOC_FL_KEEP_SIZE), range.lowerBound, Int64(range.count))
        }
        return true
      } catch  where error.isUnsupported || error.code == ENOSYS {
        return false
      }
    #else
      return false
    #endif
  }

  /// Sets the permission bits.
  public func setMode(_ mode: UInt16) throws(SystemError) {
    try retryingInterrupts("fchmod", path) { fchmod(descriptor, mode_t(mode)) }
  }

  /// Waits until contents and length are on stable storage and survive a power failure.
  ///
  /// On Darwin, `fsync` does not flush the drive's cache, so `F_FULLFSYNC` is used there.
  public func synchronize() throws(SystemError) {
    try flush()
    FileObserver.reportFile(self) { .flushFile($0) }
  }

  private func flush() throws(SystemError) {
    #if canImport(Darwin)
      if fcntl(descriptor, F_FULLFSYNC) == 0 { return }
    #endif
    try retryingInterrupts("fsync", path) { fsync(descriptor) }
  }

  /// Starts writing a range to the disk, so that a later ``synchronize()`` has less to wait for.
  ///
  /// A hint only: nothing is durable before ``synchronize()``, which also reports any failure. Does nothing on systems
  /// other than Linux.
  public func beginWriting(_ range: Range<Int64>) {
    #if os(Linux)
      _ = sync_file_range(
        descriptor, range.lowerBound, Int64(range.count), UInt32(SNAPSHOT_SYNC_FILE_RANGE_WRITE))
    #endif
  }

  /// Waits until the range that ``beginWriting(_:)`` started to write is on the disk. It is durable only after
  /// ``synchronize()``. Does nothing on systems other than Linux.
  ///
  /// The kernel reports a failed write of any part of the file only once, either here or in ``synchronize()``. If this
  /// method throws, consider the contents of the file lost.
  public func waitForWriting(_ range: Range<Int64>) throws(SystemError) {
    #if os(Linux)
      // For the system call, a length of 0 means everything up to the end of the file.
      guard !range.isEmpty else { return }
      do {
        try retryingInterrupts("sync_file_range", path) {
          sync_file_range(
            descriptor, range.lowerBound, Int64(range.count), UInt32(SNAPSHOT_SYNC_FILE_RANGE_WAIT_AFTER))
        }
      } catch  where error.code == ENOSYS {}
    #endif
  }

  /// Acquires the advisory lock of the whole file without waiting. ``unlock()`` or closing the descriptor releases it.
  /// - Returns: `false` if another process, or another ``File`` of this process, holds the lock.
  public func tryLock() throws(SystemError) -> Bool {
    do {
      try retryingInterrupts("flock", path) { flock(descriptor, LOCK_EX | LOCK_NB) }
      return true
    } catch  where error.isWouldBlock {
      return false
    }
  }

  /// Acquires the advisory lock of the whole file, and waits for it. Otherwise like ``tryLock()``.
  public func lock() throws(SystemError) {
    try retryingInterrupts("flock", path) { flock(descriptor, LOCK_EX) }
  }

  /// Releases the lock.
  ///
  /// Closing the file would not always release it at once: a child process that is being started holds a copy of the
  /// descriptor until it calls `exec`.
  public func unlock() throws(SystemError) {
    try retryingInterrupts("flock", path) { flock(descriptor, LOCK_UN) }
  }
}

extension File {
  /// Writes `bytes` at the current end of a file that was opened with ``Access/append(mode:)``.
  ///
  /// Concurrent appends by several processes do not interleave, provided that the system writes all bytes in one call.
  /// It does so unless the disk is full.
  public func append(_ bytes: [UInt8]) throws(SystemError) {
    let end = FileObserver.isActive ? try size : 0
    var written = 0
    while written < bytes.count {
      written += try retryingInterrupts("write", path) {
        bytes.withUnsafeBytes {
          writeSome(descriptor, $0.baseAddress.map { $0 + written }, $0.count - written)
        }
      }
    }
    FileObserver.reportFile(self) { .write(bytes, at: end, $0) }
  }
}

/// The system's `write`, which the methods of ``File`` with the same name hide.
private func writeSome(_ descriptor: Int32, _ bytes: UnsafeRawPointer?, _ count: Int) -> Int {
  write(descriptor, bytes, count)
}

extension File {
  /// The time of the last change of the contents, in milliseconds since 1970.
  public var modifiedAt: Int64 {
    get throws(SystemError) { try modifiedNanoseconds / 1_000_000 }
  }

  /// Sets the time of the last change of the contents, in milliseconds since 1970.
  public func setModifiedAt(_ milliseconds: Int64) throws(SystemError) {
    let (seconds, rest) = (milliseconds / 1000, milliseconds % 1000)
    // Before 1970 the remainder is negative, but `tv_nsec` must not be.
    let time = timespec(
      tv_sec: Int(rest < 0 ? seconds - 1 : seconds), tv_nsec: Int(rest < 0 ? rest + 1000 : rest) * 1_000_000)
    let times = [time, time]
    try retryingInterrupts("futimens", path) { futimens(descriptor, times) }
  }
}
