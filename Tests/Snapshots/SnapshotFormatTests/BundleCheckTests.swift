import Foundation
import SnapshotFormat
import SystemIO
import Testing
import ZipArchive

@Suite struct BundleCheckTests {
  /// A bundle with one recording of `count` bytes.
  private func sample(of count: Int) throws -> SampleSnapshot {
    let sample = try SampleSnapshot(["large": Data(repeating: 7, count: count)])
    _ = try sample.zipUnchecked()
    return sample
  }

  @Test func `a check inflates one slice at a time and has the same result as an unsliced one`() throws {
    let sample = try sample(of: 1 << 20)
    var check = try BundleCheck(zip: sample.zip, depth: .full)
    var left = check.remaining
    #expect(left > 1 << 20)
    var slices = 0
    while try check.advance(by: 100 << 10) {
      slices += 1
      #expect(check.remaining < left && check.remaining > 0)
      // A slice can exceed its size by one piece of an entry.
      #expect(left - check.remaining <= (100 << 10) + (128 << 10))
      left = check.remaining
    }
    #expect((5...12).contains(slices))
    #expect(check.remaining == 0)
    #expect(try check.summary == SnapshotBundle.check(zip: sample.zip, depth: .full))
    #expect(try !check.advance())
  }

  @Test func `a structure check inflates no entries`() throws {
    let sample = try sample(of: 1 << 20)
    var check = try BundleCheck(zip: sample.zip, depth: .structure)
    #expect(check.remaining == 0)
    #expect(try !check.advance())
  }

  @Test(arguments: [0, 1 << 20]) func `damage is found by the slice that reaches it`(count: Int) throws {
    let sample = try sample(of: count + 10)
    var bytes = try Data(contentsOf: sample.zip)
    let place = try #require(bytes.range(of: Data(repeating: 7, count: count + 10))).lowerBound
    bytes[place + count] ^= 1
    try bytes.write(to: sample.zip)
    var check = try BundleCheck(zip: sample.zip, depth: .full)
    #expect(throws: BundleError.self) { while try check.advance(by: 100 << 10) {} }
  }

  @Test func `a recording with another digest than in the manifest is found`() throws {
    var sample = try SampleSnapshot(["large": Data(repeating: 7, count: 1000)])
    sample.manifest.recordings[0].sha256 = .of(Data("other".utf8))
    try sample.writeManifest()
    var check = try BundleCheck(zip: sample.zipUnchecked(), depth: .full)
    do {
      while try check.advance() {}
      Issue.record("nothing was thrown")
    } catch BundleError.recordingDiffers {}
  }

  @Test(arguments: [(-1, false), (0, true), (1, true)])
  func `the total size of all entries has a limit`(spare: Int64, isTaken: Bool) throws {
    let sample = try sample(of: 1000)
    let total = try ZipReader(File(sample.zip.path)).entries.reduce(0) { $0 + $1.size }
    for depth in [SnapshotBundle.Depth.structure, .full] {
      do throws(BundleError) {
        _ = try BundleCheck(zip: sample.zip, depth: depth, inflatedBytes: total + spare)
        #expect(isTaken)
      } catch {
        #expect(!isTaken)
        guard case .archive(let error) = error else { throw error }
        #expect(error.reason == .limit(.totalSize))
      }
    }
  }

  @Test func `the cost of a check is estimated in advance`() throws {
    let (small, large) = (try sample(of: 10), try sample(of: 1 << 20))
    let light = try #require(BundleCheck.weight(of: small.zip, depth: .full))
    let heavy = try #require(BundleCheck.weight(of: large.zip, depth: .full))
    #expect(heavy - light > 1_000_000)
    let structure = try #require(BundleCheck.weight(of: large.zip, depth: .structure))
    #expect(structure < heavy - 1_000_000)
    #expect(BundleCheck.weight(of: small.folder, depth: .full) == nil)
    #expect(BundleCheck.weight(of: small.folder.appending(path: "manifest.json"), depth: .full) == nil)
  }
}
