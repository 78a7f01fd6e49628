import Crypto
package import Foundation
package import SystemIO

/// The secrets by which receivers recognize the events of this server: one, or the new and the old one while they are
/// being replaced (Standard Webhooks 1.0.0, "Signature scheme").
package struct WebhookSecrets: Sendable {
  /// Why a file with secrets can't be used.
  package enum Failure: Error, Sendable, Hashable, CustomStringConvertible {
    case file(NamedFile.Failure)
    /// The file has another number of lines than one or two.
    case count(Int)
    /// The line of this number, from 1, is no secret.
    case malformed(line: Int)

    /// The reason, as the end of a sentence.
    package var description: String {
      switch self {
      case .file(let failure): failure.description
      case .count(let count): "it has \(count) secrets, and must have one or two, one on each line"
      case .malformed(let line):
        """
        secret \(line) is not ‘whsec_’ and the base64 of \(WebhookLimits.secretBytes.lowerBound) to \
        \(WebhookLimits.secretBytes.upperBound) bytes
        """
      }
    }
  }

  private let keys: [SymmetricKey]

  /// Reads the lines of `text`. Empty lines are ignored.
  package init(_ text: String) throws(Failure) {
    let lines = text.split(whereSeparator: \.isNewline).map { $0.trimmingCharacters(in: .whitespaces) }
      .filter { !$0.isEmpty }
    guard (1...2).contains(lines.count) else { throw .count(lines.count) }
    var keys: [SymmetricKey] = []
    for (index, line) in lines.enumerated() {
      guard line.hasPrefix(Self.prefix),
        let bytes = Data(base64Encoded: String(line.dropFirst(Self.prefix.count))),
        WebhookLimits.secretBytes.contains(bytes.count)
      else { throw .malformed(line: index + 1) }
      keys.append(SymmetricKey(data: bytes))
    }
    self.keys = keys
  }

  /// Reads the file at `path`.
  package init(path: String) throws(Failure) {
    let bytes: [UInt8]
    do { bytes = try NamedFile.read(path, limit: WebhookLimits.secretFileBytes) } catch { throw .file(error) }
    try self.init(String(decoding: bytes, as: UTF8.self))
  }

  /// The value of `webhook-signature`: one signature for each secret, separated by spaces.
  /// - Parameters:
  ///   - id: the event's id.
  ///   - timestamp: the time of the try, in seconds since 1970.
  package func signatures(id: String, timestamp: Int64, body: Data) -> String {
    let signed = Data("\(id).\(timestamp).".utf8) + body
    return keys.map { key in
      "v1," + Data(HMAC<SHA256>.authenticationCode(for: signed, using: key)).base64EncodedString()
    }.joined(separator: " ")
  }

  private static let prefix = "whsec_"
}
