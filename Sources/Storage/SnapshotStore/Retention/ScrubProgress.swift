import Foundation
import SnapshotFormat

/// How far a look at every bundle has come, as a line of text: the last id that was looked at, or when it ended.
enum ScrubProgress: Equatable, LosslessStringConvertible {
  case reached(SnapshotID)
  case ended(Date)

  /// The most bytes of the text.
  static let maximumLength = 64

  /// Reads ``description``; else `nil`.
  init?(_ text: String) {
    if let id = SnapshotID(text) {
      self = .reached(id)
    } else if let time = SnapshotJSON.time(text) {
      self = .ended(time)
    } else {
      return nil
    }
  }

  var description: String {
    switch self {
    case .reached(let id): id.description
    case .ended(let time): SnapshotJSON.text(of: time)
    }
  }
}
