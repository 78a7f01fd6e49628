public import Foundation
import SystemIO
public import ZipArchive

/// The check of one bundle, done in slices: the work of one client's large bundle can be interrupted for another's.
///
/// The initializer checks the structure, ``advance(by:)`` inflates the next entries. Blocks for the disk; not for use
/// from two threads at once.
public struct BundleCheck {
  /// How many bytes one slice inflates.
  public static let sliceSize: Int64 = 2 << 20
  /// What an entry costs beside the bytes that it inflates to, expressed in such bytes.
  private static let entryCost: Int64 = 4 << 10
  /// What a byte of the manifest costs, which is parsed as JSON, expressed in bytes that are only inflated.
  private static let manifestCost: Int64 = 8

  /// What the bundle says of itself.
  public let summary: BundleSummary
  /// About how many bytes are still to be inflated; 0 where nothing is left to do.
  public private(set) var remaining: Int64 = 0

  private let bundle: ZippedBundle?
  private var listing: ZipListing?
  private var reading: ZippedBundle.Reading?

  /// Checks the structure of the zip at `url`; to the depth ``SnapshotBundle/Depth/full`` the entries remain.
  public init(
    zip url: URL, depth: SnapshotBundle.Depth, limits: ZipLimits = .default, profile: ZipProfile = .strict
  ) throws(BundleError) {
    let bundle = try ZippedBundle(url, limits: limits, profile: profile)
    self.bundle = bundle
    summary = bundle.summary
    guard depth == .full else { return }
    listing = bundle.directory.listing
    remaining = try Self.weight(of: bundle.directory, depth)
  }

  /// Checks as the initializer with `limits` does, with the default limits but one: all entries together inflate to at
  /// most `inflatedBytes` bytes.
  /// - Parameter wasAccepted: whether the bundle was accepted before, by rules that may have been fewer: only what must
  ///   hold of any archive is checked then.
  public init(
    zip url: URL, depth: SnapshotBundle.Depth, inflatedBytes: Int64, wasAccepted: Bool = false
  ) throws(BundleError) {
    var limits = ZipLimits.default
    limits.totalSize = inflatedBytes
    try self.init(zip: url, depth: depth, limits: limits, profile: wasAccepted ? .lenient : .strict)
  }

  /// A check that is done.
  public init(_ summary: BundleSummary) {
    self.summary = summary
    bundle = nil
  }

  /// Inflates about `count` bytes more.
  /// - Returns: whether anything is left to do.
  public mutating func advance(by count: Int64 = sliceSize) throws(BundleError) -> Bool {
    guard let bundle else { return false }
    var rest = count
    while rest > 0 {
      if reading == nil {
        guard let entry = try BundleError.zip(listing?.nextEntry()) else {
          remaining = 0
          return false
        }
        rest -= Self.entryCost
        reading = try bundle.reading(of: entry)
      } else if let piece = try reading?.next() {
        rest -= Int64(piece.count)
      } else {
        reading = nil
      }
    }
    remaining = max(remaining - (count - rest), 1)
    return true
  }

  /// Does all that is left.
  mutating func finish() throws(BundleError) {
    while try advance() {}
  }

  /// The whole manifest.
  func manifest() throws(BundleError) -> Manifest { try bundle?.manifest() ?? summary.manifest }
}

extension BundleCheck {
  /// About how many bytes a check to `depth` goes through, by what the zip's directory declares; `nil` where there is
  /// none that can be read. Takes little time and keeps nothing in memory.
  public static func weight(of zip: URL, depth: SnapshotBundle.Depth) -> Int64? {
    do throws(BundleError) {
      let file = try BundleError.disk(File(zip.path))
      return try weight(of: BundleError.zip(ZipDirectory(file)), depth)
    } catch {
      // The check itself says what is wrong.
      return nil
    }
  }

  private static func weight(
    of directory: ZipDirectory, _ depth: SnapshotBundle.Depth
  ) throws(BundleError) -> Int64 {
    var weight: Int64 = 0
    var listing = directory.listing
    while let line = try BundleError.zip(listing.next()) {
      weight = weight.adding(entryCost)
      if line.name == BundleLayout.manifest {
        weight = weight.adding(line.size, times: manifestCost)
      } else if depth == .full {
        weight = weight.adding(line.size)
      }
    }
    return weight
  }
}

extension Int64 {
  /// The sum with another number of bytes, taken `times` times; the largest number where it does not fit.
  fileprivate func adding(_ count: Int64, times: Int64 = 1) -> Int64 {
    let (product, isTooLarge) = count.multipliedReportingOverflow(by: times)
    let (sum, overflow) = addingReportingOverflow(product)
    return isTooLarge || overflow ? .max : sum
  }
}
