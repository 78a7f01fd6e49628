public import Foundation

/// An upload that lies in a queue's folder and can't be read.
public struct UnreadableUpload: Sendable, Hashable {
  /// Where it lies.
  public let folder: URL
  /// Why it can't be read, in a sentence.
  public let reason: String
}
