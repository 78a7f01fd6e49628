import Crypto
import Foundation
package import HTTPClient
import HTTPTypes

/// A URL to which events are sent.
package struct WebhookEndpoint: Sendable, Hashable {
  /// A short text that is the same for the same URL and reveals nothing of its path, which can contain a secret: the host
  /// and some digits of a digest.
  package let name: String
  /// The part of the URL that names the server.
  package let authority: Authority
  /// Whether the URL begins with `https`.
  package let isSecure: Bool
  /// The path with the query.
  let path: String

  /// Reads an absolute URL of `http` or `https`, without user information and fragment. Returns `nil` for any other text,
  /// and for one longer than ``WebhookLimits/urlBytes``.
  package init?(_ text: String) {
    guard text.utf8.count <= WebhookLimits.urlBytes, let colon = text.firstRange(of: "://") else {
      return nil
    }
    switch text[..<colon.lowerBound].lowercased() {
    case "https": isSecure = true
    case "http": isSecure = false
    default: return nil
    }
    let rest = text[colon.upperBound...]
    let end = rest.firstIndex { "/?#".contains($0) } ?? rest.endIndex
    guard let authority = Authority(String(rest[..<end])), authority.port != 0 else { return nil }
    let path = rest[end...]
    guard path.utf8.allSatisfy({ (0x21...0x7E).contains($0) }), !path.contains("#") else { return nil }
    self.authority = authority
    self.path = path.first == "/" ? String(path) : "/" + path
    let digest = SHA256.hash(data: Data(text.utf8)).prefix(4).map { byte in
      String(UInt16(byte) + 0x100, radix: 16).dropFirst()
    }
    name = "\(authority.name)-\(digest.joined())"
  }

  /// The port to connect to.
  var port: UInt16 { authority.port ?? (isSecure ? 443 : 80) }

  /// A request without fields.
  var request: HTTPRequest {
    HTTPRequest(method: .post, scheme: isSecure ? "https" : "http", authority: authority.text, path: path)
  }
}
