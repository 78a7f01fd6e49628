import Foundation
import SystemIO
import TestSupport
import Testing

@testable import SnapshotFormat

/// When unpacked files are synchronized, and the result if that fails.
@Suite struct UnpackingFlushTests {
  /// A zip with `entries` entries: the manifest, an attachment, a file of the container, and recordings.
  private func sample(entries: Int) throws -> SampleSnapshot {
    let recordings = (0..<entries - 3).map { ("r\($0)", Data("\($0)".utf8)) }
    let sample = try SampleSnapshot(Dictionary(uniqueKeysWithValues: recordings))
    _ = try SnapshotBundle.pack(folder: sample.folder, to: sample.zip)
    return sample
  }

  @Test func `many files are synchronized at once, before the folder gets its final name`() throws {
    let sample = try sample(entries: SnapshotBundle.entriesFlushedTogether)
    let copy = sample.temporary.file("copy")
    var (places, flushes) = ([String](), 0)
    _ = try SnapshotBundle.unpack(zip: sample.zip, into: copy) { path throws(SystemError) in
      places.append(path)
      #expect(throws: Never.self) { try #expect(Folder.entries(path).isEmpty) }
      return { () throws(SystemError) in
        flushes += 1
        #expect(try !Folder.exists(copy.path))
        #expect(throws: Never.self) {
          let written = try sample.contents(of: URL(filePath: path))
          #expect(try written == sample.contents(of: sample.folder))
        }
      }
    }
    #expect(places.count == 1 && flushes == 1)
    #expect(try sample.contents(of: copy) == sample.contents(of: sample.folder))
  }

  @Test func `a few files are synchronized one by one`() throws {
    let sample = try sample(entries: SnapshotBundle.entriesFlushedTogether - 1)
    let copy = sample.temporary.file("copy")
    _ = try SnapshotBundle.unpack(zip: sample.zip, into: copy) { _ throws(SystemError) in
      Issue.record("the volume is flushed")
      return nil
    }
    #expect(try sample.contents(of: copy) == sample.contents(of: sample.folder))
  }

  @Test(arguments: [true, false])
  func `no files are left if the volume cannot be synchronized`(isOpened: Bool) throws {
    let sample = try sample(entries: SnapshotBundle.entriesFlushedTogether)
    let failure = SystemError(operation: "syncfs", code: POSIXErrorCode.EIO.rawValue)
    let error = #expect(throws: BundleError.self) {
      try SnapshotBundle.unpack(zip: sample.zip, into: sample.temporary.file("copy")) {
        _ throws(SystemError) in
        guard isOpened else { throw failure }
        return { () throws(SystemError) in throw failure }
      }
    }
    #expect(error?.description.contains("syncfs") == true)
    #expect(try sample.leftovers() == ["snapshot", "snapshot.zip"])
  }

  @Test func `many files are unpacked without a way to synchronize the volume`() throws {
    let sample = try sample(entries: SnapshotBundle.entriesFlushedTogether)
    let copy = sample.temporary.file("copy")
    _ = try SnapshotBundle.unpack(zip: sample.zip, into: copy) { _ throws(SystemError) in nil }
    #expect(try sample.contents(of: copy) == sample.contents(of: sample.folder))
  }
}
