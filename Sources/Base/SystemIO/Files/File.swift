#if canImport(Darwin)
  import Darwin
#else
  import CPlatform
  import Glibc
#endif

/// An open file, read and written at offsets, so that many threads may use one without a shared position.
///
/// The descriptor is closed when the last reference goes. Short reads, short writes and interrupted calls
/// are repeated here and seen by nobody.
public final class File: Sendable {
  /// What ``init(_:_:)`` does with a name.
  public enum Access: Sendable, Hashable {
    /// Opens what is there, for reading.
    case read
    /// Opens what is there, for reading and writing.
    case update
    /// Makes a new file for reading and writing; refuses a name that is taken (`isAlreadyThere`).
    case create(mode: UInt16)
    /// Opens what is there or makes it, for reading and writing.
    case openOrCreate(mode: UInt16)
    /// Opens what is there or makes it, for reading, and for writing at its end alone: ``append(_:)``.
    case append(mode: UInt16)
  }

  /// The path that was opened.
  public let path: String
  /// The descriptor, valid as long as this object lives.
  public var descriptor: Int32 { owned.number }
  private let owned: Descriptor

  /// Opens `path`. A symbolic link in the last component is not followed (`ELOOP`), a pipe without a writer is not
  /// waited for, and the descriptor is not handed on to child processes.
  public convenience init(_ path: String, _ access: Access = .read) throws(SystemError) {
    try self.init(path, named: path, in: AT_FDCWD, access)
  }

  /// Opens `name`, which is relative to the open folder of that descriptor, as ``init(_:_:)`` does.
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
    if isNew { FileObserver.noteFile(self) { .createFile(path, $0) } }
  }

  /// Opens `path` for reading as ``init(_:_:)`` does, if the system knows out of its memory alone where the file is: never
  /// waits for a disk, so that an event loop may ask.
  ///
  /// `nil` where it would have to wait, where it has no such call, and where anything is wrong: ``init(_:_:)`` tells.
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

  /// The file's length in bytes.
  public var size: Int64 {
    get throws(SystemError) { Int64(try status.st_size) }
  }

  /// Whether this is a regular file: not a folder, a pipe or a device.
  public var isRegular: Bool {
    get throws(SystemError) { try status.st_mode & S_IFMT == S_IFREG }
  }

  /// When the contents last changed, in nanoseconds since the beginning of 1970.
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

  /// Reads into `buffer` until it is full or the file ends; answers how many bytes came.
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

  /// Up to `count` bytes at `offset`; fewer only where the file ends.
  public func read(upTo count: Int, at offset: Int64) throws(SystemError) -> [UInt8] {
    // An array made for nothing is the one that all threads share, and making it writes to it.
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
    FileObserver.noteFile(self) { .write(Array(bytes), at: offset, $0) }
  }

  /// Writes all of `bytes` at `offset`.
  public func write(_ bytes: [UInt8], at offset: Int64) throws(SystemError) {
    var failure: SystemError?
    bytes.withUnsafeBytes { buffer in
      do throws(SystemError) { try write(buffer, at: offset) } catch { failure = error }
    }
    if let failure { throw failure }
  }

  /// Cuts the file, or lengthens it with zeros, to `size` bytes.
  public func truncate(to size: Int64) throws(SystemError) {
    try retryingInterrupts("ftruncate", path) { ftruncate(descriptor, off_t(size)) }
    FileObserver.noteFile(self) { .truncate(size, $0) }
  }

  /// Sets the permission bits.
  public func setMode(_ mode: UInt16) throws(SystemError) {
    try retryingInterrupts("fchmod", path) { fchmod(descriptor, mode_t(mode)) }
  }

  /// Waits until contents and length would survive a power cut.
  ///
  /// On Darwin `fsync` stops at the drive's cache, so `F_FULLFSYNC` is asked for there.
  public func synchronize() throws(SystemError) {
    try flush()
    FileObserver.noteFile(self) { .flushFile($0) }
  }

  private func flush() throws(SystemError) {
    #if canImport(Darwin)
      if fcntl(descriptor, F_FULLFSYNC) == 0 { return }
    #endif
    try retryingInterrupts("fsync", path) { fsync(descriptor) }
  }

  /// Has the system begin to write a range to the disk, so that a later ``synchronize()`` finds less to wait for.
  ///
  /// Promises nothing, and does nothing where the system has no such call; what fails is told by ``synchronize()``.
  public func beginWriting(_ range: Range<Int64>) {
    #if os(Linux)
      _ = sync_file_range(
        descriptor, range.lowerBound, Int64(range.count), UInt32(SNAPSHOT_SYNC_FILE_RANGE_WRITE))
    #endif
  }

  /// Waits until the part of a range that ``beginWriting(_:)`` began to write is on the disk, where it lasts only
  /// once the file is synchronized. Does nothing where the system has no such call.
  ///
  /// A failure to write any part of the file is reported here or by ``synchronize()``, but not by both: one that is thrown
  /// here says that the file is lost.
  public func waitForWriting(_ range: Range<Int64>) throws(SystemError) {
    #if os(Linux)
      // A range without bytes would be one to the file's end.
      guard !range.isEmpty else { return }
      do throws(SystemError) {
        try retryingInterrupts("sync_file_range", path) {
          sync_file_range(
            descriptor, range.lowerBound, Int64(range.count), UInt32(SNAPSHOT_SYNC_FILE_RANGE_WAIT_AFTER))
        }
      } catch  where error.code == ENOSYS {}
    #endif
  }

  /// Takes the advisory lock of the whole file without waiting; it goes with ``unlock()`` or the descriptor.
  /// - Returns: `false` where another process, or another open of this one, holds it.
  public func tryLock() throws(SystemError) -> Bool {
    do {
      try retryingInterrupts("flock", path) { flock(descriptor, LOCK_EX | LOCK_NB) }
      return true
    } catch  where error.isWouldBlock {
      return false
    }
  }

  /// Gives the lock back.
  ///
  /// Closing would not do it at once: a child process that is just being started holds the descriptor until it
  /// has become another program.
  public func unlock() throws(SystemError) {
    try retryingInterrupts("flock", path) { flock(descriptor, LOCK_UN) }
  }
}
