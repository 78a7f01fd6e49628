import SnapshotFormat

/// A part of a bundle that the system sends in the background. Its description is the name of the exchange.
struct BackgroundPiece: Sendable, Hashable, LosslessStringConvertible {
  /// The bundle's snapshot.
  let id: SnapshotID
  /// The bytes of the bundle.
  let range: Range<Int64>
  /// The path of the upload on the server.
  let location: String

  init(of id: SnapshotID, _ range: Range<Int64>, at location: String) {
    self.id = id
    self.range = range
    self.location = location
  }

  /// Parses a description.
  init?(_ text: String) {
    let parts = text.split(separator: " ", maxSplits: 2, omittingEmptySubsequences: false)
    guard parts.count == 3, let id = SnapshotID(String(parts[0])) else { return nil }
    let bounds = parts[1].split(separator: "-", omittingEmptySubsequences: false).map { Int64($0) }
    guard bounds.count == 2, let lower = bounds[0], let upper = bounds[1], 0 <= lower, lower < upper else {
      return nil
    }
    self.init(of: id, lower..<upper, at: String(parts[2]))
  }

  var description: String { "\(id) \(range.lowerBound)-\(range.upperBound) \(location)" }

  /// The step of the upload at `location` of a bundle of `size` bytes; `nil` if the piece belongs to another one.
  func step(of location: String?, size: Int64) -> PiecewiseUpload.Step? {
    location == self.location && range.upperBound <= size ? .append(self.location, range) : nil
  }
}
