import Foundation
import SystemIO
import TestSupport
import Testing

struct FileTests {
  private let temporary: TemporaryFolder

  init() throws { temporary = try TemporaryFolder() }

  private func path(_ name: String) -> String { temporary.file(name).path }

  @Test func `bytes are read at the offset at which they were written`() throws {
    let file = try File(path("a"), .create(mode: 0o600))
    try file.write(Array("world".utf8), at: 6)
    try file.write(Array("hello ".utf8), at: 0)
    #expect(try file.size == 11)
    #expect(try file.read(upTo: 11, at: 0) == Array("hello world".utf8))
    #expect(try file.read(upTo: 100, at: 6) == Array("world".utf8))
    #expect(try file.read(upTo: 100, at: 11) == [])
    #expect(try file.read(upTo: 100, at: 1 << 40) == [])
    #expect(try file.read(upTo: 0, at: 0) == [])
  }

  @Test func `a negative offset is an error`() throws {
    let file = try File(path("a"), .create(mode: 0o600))
    #expect(throws: SystemError.self) { try file.read(upTo: 1, at: -1) }
    #expect(throws: SystemError.self) { try file.write([1], at: -1) }
  }

  @Test func `many megabytes are read and written in one call`() throws {
    let bytes = (0..<(9 << 20)).map { UInt8(truncatingIfNeeded: $0 &* 31 >> 3) }
    let file = try File(path("a"), .create(mode: 0o600))
    try file.write(bytes, at: 0)
    #expect(try file.read(upTo: bytes.count, at: 0) == bytes)
  }

  @Test(arguments: [
    (0..<Int64.max, 300_000), (100_000..<250_000, 150_000), (300_000..<400_000, 0), (5..<5, 0),
  ])
  func `the pieces of a range are its bytes in order`(range: Range<Int64>, count: Int) throws {
    let bytes = (0..<300_000).map { UInt8(truncatingIfNeeded: $0 &* 31 >> 3) }
    let file = try File(path("a"), .create(mode: 0o600))
    try file.write(bytes, at: 0)
    var read: [UInt8] = []
    try file.forEachPiece(in: range) { piece in
      read += piece
      return true
    }
    #expect(read == Array(bytes.dropFirst(Int(clamping: range.lowerBound)).prefix(count)))
    var calls = 0
    try file.forEachPiece(in: range) { _ in
      calls += 1
      return false
    }
    #expect(calls == (count > 0 ? 1 : 0))
  }

  @Test func `waiting for a range being written succeeds, also for an empty range`() throws {
    let file = try File(path("a"), .create(mode: 0o600))
    let bytes = [UInt8](repeating: 7, count: 1 << 20)
    try file.write(bytes, at: 0)
    file.beginWriting(0..<(1 << 20))
    for range in [0..<(1 << 20), 0..<0, (1 << 30)..<(1 << 31)] as [Range<Int64>] {
      try file.waitForWriting(range)
    }
    #expect(try file.read(upTo: 1 << 21, at: 0) == bytes)
  }

  @Test func `creating a file fails if the name exists`() throws {
    _ = try File(path("a"), .create(mode: 0o600))
    let error = #expect(throws: SystemError.self) { try File(path("a"), .create(mode: 0o600)) }
    #expect(error?.isAlreadyThere == true)
  }

  @Test func `opening a missing file is a distinct error`() {
    for access in [File.Access.read, .update] {
      let error = #expect(throws: SystemError.self) { try File(path("a"), access) }
      #expect(error?.isNotFound == true)
      #expect(error?.path == path("a"))
      #expect(error?.description.contains(path("a")) == true)
    }
  }

  @Test func `a file is opened or created according to the access`() throws {
    try File(path("a"), .openOrCreate(mode: 0o640)).write([1, 2], at: 0)
    try File(path("a"), .openOrCreate(mode: 0o600)).write([3], at: 1)
    try File(path("a"), .update).write([4], at: 2)
    #expect(try Data(contentsOf: temporary.file("a")) == Data([1, 3, 4]))
    #expect(throws: SystemError.self) { try File(path("a"), .read).write([5], at: 0) }
  }

  @Test func `a link as the last component is not followed`() throws {
    try temporary.write(Data("secret".utf8), to: "target")
    try FileManager.default.createSymbolicLink(atPath: path("link"), withDestinationPath: "target")
    for access in [File.Access.read, .update, .create(mode: 0o600), .openOrCreate(mode: 0o600)] {
      #expect(throws: SystemError.self) { try File(path("link"), access) }
    }
    #expect(try Data(contentsOf: temporary.file("target")) == Data("secret".utf8))
  }

  @Test func `opening a pipe does not wait, and a pipe is not a regular file`() throws {
    #expect(mkfifo(path("pipe"), 0o600) == 0)
    #expect(try File(path("pipe")).isRegular == false)
    try temporary.write(Data(), to: "a")
    #expect(try File(path("a")).isRegular)
    #expect(try File(temporary.path).isRegular == false)
  }

  @Test func `a file is truncated and extended`() throws {
    let file = try File(path("a"), .create(mode: 0o600))
    try file.write([1, 2, 3], at: 0)
    try file.truncate(to: 1)
    try file.truncate(to: 2)
    #expect(try file.read(upTo: 9, at: 0) == [1, 0])
  }

  @Test func `permission bits are set`() throws {
    let file = try File(path("a"), .create(mode: 0o600))
    try file.setMode(0o440)
    let attributes = try FileManager.default.attributesOfItem(atPath: path("a"))
    #expect((attributes[.posixPermissions] as? NSNumber)?.intValue == 0o440)
  }

  @Test(arguments: [0, 1, 999, 1000, 1_700_000_000_123, -1, -1000, -1001])
  func `the modification time is set with a precision of milliseconds`(time: Int64) throws {
    let file = try File(path("a"), .create(mode: 0o600))
    try file.setModifiedAt(time)
    #expect(try file.modifiedAt == time)
  }

  @Test func `a lock is held by one open file at a time and released with it`() throws {
    var first: File? = try File(path("a"), .create(mode: 0o600))
    let second = try File(path("a"), .update)
    #expect(try first?.tryLock() == true)
    #expect(try second.tryLock() == false)
    first = nil
    #expect(try second.tryLock())
    #expect(try second.tryLock())
  }

  @Test func `a released lock is free, even if its file is still open`() throws {
    let (first, second) = (try File(path("a"), .create(mode: 0o600)), try File(path("a"), .update))
    #expect(try first.tryLock())
    try first.unlock()
    #expect(try second.tryLock())
    #expect(try first.tryLock() == false)
  }

  @Test func `reads and writes survive frequent signals`() throws {
    // The signals interrupt this thread only, and without SA_RESTART, so that its system calls are interrupted.
    let file = try File(path("a"), .create(mode: 0o600))
    var action = sigaction()
    var former = sigaction()
    #if canImport(Darwin)
      action.__sigaction_u.__sa_handler = { _ in }
    #else
      action.__sigaction_handler.sa_handler = { _ in }
    #endif
    #expect(sigaction(SIGUSR2, &action, &former) == 0)
    defer { sigaction(SIGUSR2, &former, nil) }
    let target = SignalTarget()
    let storm = DispatchQueue(label: "storm")
    storm.async { for _ in 0..<2000 { pthread_kill(target.thread, SIGUSR2) } }
    let bytes = [UInt8](repeating: 7, count: 1 << 20)
    for round in 0..<6 {
      try file.write(bytes, at: Int64(round) << 20)
      try file.synchronize()
      #expect(try file.read(upTo: 1 << 20, at: Int64(round) << 20) == bytes)
      let other = try File(path("a"), .update)
      #expect(try other.size == Int64(round + 1) << 20)
    }
    storm.sync {}
  }
}

/// The thread that made it, for signals from others. Where `pthread_t` is a pointer, it only identifies the thread: nothing
/// reads what it points to.
private struct SignalTarget: @unchecked Sendable {
  let thread = pthread_self()
}
