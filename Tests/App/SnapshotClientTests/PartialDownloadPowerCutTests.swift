import Foundation
import SnapshotFormat
import SystemIO
import TestSupport
import Testing

@testable import SnapshotClient

@Suite struct PartialDownloadPowerCutTests {
  @Test(arguments: [nil, "what was there before"])
  func `after a power failure a finished download is complete, and durable once the call returns`(
    former: String?
  ) async throws {
    let bytes = Array(String(repeating: "bundle ", count: 1000).utf8)
    let disk = try PowerCutDisk<[[UInt8]?]>([nil])
    let place = disk.path + "/bundle.zip"
    if let former {
      disk.promise { $0 = [nil, Array(former.utf8)] }
      try DurableFile.replace(place, with: Array(former.utf8))
    }
    disk.promise { $0 = [former.map { Array($0.utf8) }, bytes] }
    let download = PartialDownload(of: "source", to: URL(filePath: place), limits: ClientLimits())
    let file = try File(download.url.path, .openOrCreate(mode: 0o600))
    for start in stride(from: 0, to: bytes.count, by: 2000) {
      try file.write(Array(bytes[start..<min(start + 2000, bytes.count)]), at: Int64(start))
    }
    let size = try download.finish(expecting: .of(bytes)) { false }
    #expect(size == Int64(bytes.count))
    disk.promise { $0 = [bytes] }
    try await disk.forEachCut { remains in
      var found: [UInt8]?
      if try Folder.exists(remains.path + "/bundle.zip") {
        found = try File(remains.path + "/bundle.zip").read(upTo: 1 << 20, at: 0)
      }
      #expect(remains.promise.contains(found), "\(remains.label)")
    }
  }
}
