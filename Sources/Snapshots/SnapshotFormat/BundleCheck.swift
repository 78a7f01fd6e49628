public import Foundation
import SystemIO
public import ZipArchive

/// A check of one bundle that runs in slices, so that checking a large bundle of one client does not delay others.
///
/// The initializer checks the structure; each ``advance(by:)`` inflates and verifies further entries. Blocks the
/// calling thread while reading. Not thread-safe.
public struct BundleCheck {
  /// The number of bytes that one slice inflates.
  public static let sliceSize: Int64 = 2 << 20
  /// The fixed cost of an entry, expressed in inflated bytes.
  private static let entryCost: Int64 = 4 << 10
  /// The cost of a byte of the manifest, which is parsed as JSON, expressed in inflated bytes.
  private static let manifestCost: Int64 = 8

  /// The description of the bundle.
  public private(set) var summary: BundleSummary
  /// The approximate number of bytes that remain to be inflated; 0 when the check is complete.
  public private(set) var remaining: Int64 = 0

  private let bundle: ZippedBundle?
  private var listing: ZipListing?
  private var reading: ZippedBundle.Reading?
  /// Examines the recording that is being read.
  private var examiner: ContentExaminer?
  private var problems = 0

  /// Checks the structure of the zip at `url`. With ``SnapshotBundle/Depth/full``, the entries remain to be checked.
  public init(
    zip url: URL, depth: SnapshotBundle.Depth, limits: ZipLimits = .default, profile: ZipProfile = .strict
  ) throws(BundleError) {
    let bundle = try ZippedBundle(url, limits: limits, profile: profile)
    self.bundle = bundle
    summary = bundle.summary
    problems = bundle.problemCount
    guard depth == .full else { return }
    listing = bundle.directory.listing
    remaining = try Self.weight(of: bundle.directory, depth)
  }

  /// Checks with the default limits, except for the inflated size of all entries.
  /// - Parameters:
  ///   - url: The zip.
  ///   - depth: How much is checked. With ``SnapshotBundle/Depth/full``, the entries remain to be checked.
  ///   - inflatedBytes: The maximum number of bytes to which all entries together can inflate.
  ///   - wasAccepted: Whether the bundle was accepted earlier, possibly under weaker rules. Only the rules that every
  ///     archive must satisfy are then checked.
  public init(
    zip url: URL, depth: SnapshotBundle.Depth, inflatedBytes: Int64, wasAccepted: Bool = false
  ) throws(BundleError) {
    var limits = ZipLimits.default
    limits.totalSize = inflatedBytes
    try self.init(zip: url, depth: depth, limits: limits, profile: wasAccepted ? .lenient : .strict)
  }

  /// Creates a check that is already complete.
  public init(_ summary: BundleSummary) {
    self.summary = summary
    bundle = nil
  }

  /// Inflates about `count` more bytes.
  /// - Returns: Whether anything remains to be checked.
  public mutating func advance(by count: Int64 = sliceSize) throws(BundleError) -> Bool {
    guard let bundle, listing != nil else { return false }
    var rest = count
    while rest > 0 {
      if reading == nil {
        guard let entry = try BundleError.zip(listing?.nextEntry()) else {
          remaining = 0
          summary.problemCount = summary.manifest.sealed == nil ? problems : nil
          return false
        }
        rest -= Self.entryCost
        reading = try bundle.reading(of: entry)
        examiner = ZippedBundle.examiner(of: entry)
      } else if let count = try readPiece() {
        rest -= Int64(count)
      } else {
        if let state = examiner?.finish(), reading?.isNewProblem(state.problem) == true { problems += 1 }
        (reading, examiner) = (nil, nil)
      }
    }
    remaining = max(remaining - (count - rest), 1)
    return true
  }

  /// Reads and examines the next piece of the current entry, and returns its length; `nil` at the end of the entry.
  private mutating func readPiece() throws(BundleError) -> Int? {
    guard examiner != nil else { return try unsafe reading?.next { $0.count } }
    guard let piece = try unsafe reading?.next({ unsafe Array($0) }) else { return nil }
    examiner?.take(piece)
    return piece.count
  }

  /// Completes the check.
  mutating func finish() throws(BundleError) {
    while try advance() {}
  }

  /// The whole manifest.
  func manifest() throws(BundleError) -> Manifest { try bundle?.manifest() ?? summary.manifest }
}

extension BundleCheck {
  /// The approximate cost of a check to `depth`, in bytes, estimated from the zip's directory; `nil` if the directory
  /// cannot be read. Fast, in constant memory.
  public static func weight(of zip: URL, depth: SnapshotBundle.Depth) -> Int64? {
    do {
      let file = try BundleError.disk(File(zip.path))
      return try weight(of: BundleError.zip(ZipDirectory(file)), depth)
    } catch {
      // The check itself reports the error.
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
  /// The sum with `count` multiplied by `times`; the maximum value on overflow.
  fileprivate func adding(_ count: Int64, times: Int64 = 1) -> Int64 {
    let (product, isTooLarge) = count.multipliedReportingOverflow(by: times)
    let (sum, overflow) = addingReportingOverflow(product)
    return isTooLarge || overflow ? .max : sum
  }
}
