public import Foundation

/// A comment that a user of the server wrote on a snapshot. It is part of the snapshot's record.
public struct SnapshotComment: Codable, Hashable, Sendable {
  /// The limits of comments.
  public struct Limits: Sendable, Hashable {
    /// The maximum length of a comment's text in UTF-8 bytes.
    public var textBytes = 4096
    /// The maximum number of comments on a snapshot.
    public var count = 100

    /// Creates the default limits.
    public init() {}

    /// The default limits.
    public static let `default` = Limits()
  }

  /// The text, without white space at its ends. Never empty.
  public let text: String
  /// The time at which it was written, with millisecond precision.
  public let writtenAt: Date
  /// The name of the user whom a proxy has named; or that of the author's token at that time, or the token's identifier if
  /// it had no name; `nil` if the server needed no token.
  public let author: String?
  /// The identifier of the author's token, or `user:` and the name of the user; `nil` if the server needed none.
  public let token: String?

  /// Creates a comment. Removes white space at the ends of `text`; `nil` if the rest is empty, longer than `limits`
  /// allows, or contains a NUL.
  public init?(
    _ text: String, writtenAt: Date, author: String? = nil, token: String? = nil, limits: Limits = .default
  ) {
    let text = text.trimmingCharacters(in: .whitespacesAndNewlines)
    guard (1...limits.textBytes).contains(text.utf8.count), !text.utf8.contains(0) else { return nil }
    self.text = text
    self.writtenAt = SnapshotJSON.milliseconds(of: writtenAt)
    self.author = author
    self.token = token
  }
}
