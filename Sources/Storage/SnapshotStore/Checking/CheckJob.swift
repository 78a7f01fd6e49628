package import Foundation
package import SnapshotFormat
import SystemIO

/// The check of one bundle, done in slices by a ``CheckQueue``.
package final class CheckJob: Sendable {
  /// What a check found, and how much it checked.
  package typealias Outcome = (summary: BundleSummary, depth: SnapshotBundle.Depth)

  private enum Stage {
    /// The amount of work is not known yet.
    case unweighed
    case weighed(SnapshotBundle.Depth)
    case begun(BundleCheck, SnapshotBundle.Depth)
  }

  private let zip: URL
  /// The zip's length in bytes, which is about the length of the check until it is weighed.
  let size: Int64
  private let depth: @Sendable (Int64) -> SnapshotBundle.Depth
  private let validate: UploadValidator.Validator
  private let finish: @Sendable (Result<Outcome, BundleError>) -> Void
  private let stage = Lock(Stage.unweighed)

  /// Creates the check of a zip.
  /// - Parameters:
  ///   - zip: the zip.
  ///   - size: the zip's length in bytes.
  ///   - validate: begins the check.
  ///   - depth: returns how much is checked, given the length of a full check in bytes: see
  ///     ``SnapshotFormat/BundleCheck/weight(of:depth:)``.
  ///   - finish: called once with the result, on the worker's thread. It must return quickly.
  package init(
    _ zip: URL, size: Int64, by validate: @escaping UploadValidator.Validator,
    depth: @escaping @Sendable (_ weight: Int64) -> SnapshotBundle.Depth = { _ in .full },
    finish: @escaping @Sendable (Result<Outcome, BundleError>) -> Void
  ) {
    self.zip = zip
    self.size = size
    self.depth = depth
    self.validate = validate
    self.finish = finish
  }

  /// Does the next slice. Blocks.
  /// - Returns: the bytes still to check, and whether the check holds memory; `nil` if the check is done.
  func advance() -> (weight: Int64, hasBegun: Bool)? {
    let result: Result<Outcome, BundleError>
    do {
      let (left, outcome) = try stage.withLock { stage throws(BundleError) in try Self.advance(&stage, self) }
      guard let outcome else { return left }
      result = .success(outcome)
    } catch {
      result = .failure(error)
    }
    finish(result)
    return nil
  }

  private static func advance(
    _ stage: inout Stage, _ job: CheckJob
  ) throws(BundleError) -> ((weight: Int64, hasBegun: Bool), Outcome?) {
    switch stage {
    case .unweighed:
      var weight = BundleCheck.weight(of: job.zip, depth: .full) ?? job.size
      let depth = job.depth(weight)
      if depth != .full { weight = BundleCheck.weight(of: job.zip, depth: depth) ?? job.size }
      stage = .weighed(depth)
      return ((weight, false), nil)
    case .weighed(let depth):
      let check = try job.validate(job.zip, depth)
      stage = .begun(check, depth)
      return ((check.remaining, true), check.remaining > 0 ? nil : (check.summary, depth))
    case .begun(var check, let depth):
      // Releases the stored copy first, so that `advance()` changes the check in place instead of copying its buffers.
      stage = .weighed(depth)
      let isLeft = try check.advance()
      stage = .begun(check, depth)
      return ((check.remaining, true), isLeft ? nil : (check.summary, depth))
    }
  }
}
