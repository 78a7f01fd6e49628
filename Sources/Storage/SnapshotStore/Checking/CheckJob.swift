package import Foundation
package import SnapshotFormat
import SystemIO

/// The check of one bundle, done in slices by a ``CheckQueue``.
package final class CheckJob: Sendable {
  private enum Stage {
    /// The amount of work is not known yet.
    case unweighed
    case weighed
    case begun(BundleCheck)
  }

  private let zip: URL
  private let depth: SnapshotBundle.Depth
  private let size: Int64
  /// The length of the check, in bytes; the zip's size if it is not known yet.
  let expectedWeight: Int64
  private let validate: UploadValidator.Validator
  private let finish: @Sendable (Result<BundleSummary, BundleError>) -> Void
  private let stage: Lock<Stage>

  /// Creates the check of a zip.
  /// - Parameters:
  ///   - zip: the zip.
  ///   - size: the zip's length in bytes.
  ///   - depth: how much is checked.
  ///   - validate: begins the check.
  ///   - weight: the length of the check, if it is known: see ``SnapshotFormat/BundleCheck/weight(of:depth:)``.
  ///   - finish: called once with the result, on the worker's thread. It must return quickly.
  package init(
    _ zip: URL, size: Int64, _ depth: SnapshotBundle.Depth, by validate: @escaping UploadValidator.Validator,
    weight: Int64? = nil, finish: @escaping @Sendable (Result<BundleSummary, BundleError>) -> Void
  ) {
    self.zip = zip
    self.size = size
    self.depth = depth
    self.validate = validate
    self.finish = finish
    expectedWeight = weight ?? size
    stage = Lock(weight == nil ? .unweighed : .weighed)
  }

  /// Does the next slice. Blocks.
  /// - Returns: the bytes still to check, and whether the check holds memory; `nil` if the check is done.
  func advance() -> (weight: Int64, hasBegun: Bool)? {
    let result: Result<BundleSummary, BundleError>
    do throws(BundleError) {
      let (left, summary) = try stage.withLock { stage throws(BundleError) in try Self.advance(&stage, self) }
      guard let summary else { return left }
      result = .success(summary)
    } catch {
      result = .failure(error)
    }
    finish(result)
    return nil
  }

  private static func advance(
    _ stage: inout Stage, _ job: CheckJob
  ) throws(BundleError) -> ((weight: Int64, hasBegun: Bool), BundleSummary?) {
    switch stage {
    case .unweighed:
      stage = .weighed
      return ((BundleCheck.weight(of: job.zip, depth: job.depth) ?? job.size, false), nil)
    case .weighed:
      let check = try job.validate(job.zip, job.depth)
      stage = .begun(check)
      return ((check.remaining, true), check.remaining > 0 ? nil : check.summary)
    case .begun(var check):
      // Releases the stored copy first, so that `advance()` changes the check in place instead of copying its buffers.
      stage = .weighed
      let isLeft = try check.advance()
      stage = .begun(check)
      return ((check.remaining, true), isLeft ? nil : check.summary)
    }
  }
}
