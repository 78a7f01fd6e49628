import HTTPSemantics
import HTTPTypes
import SystemIO

/// The fields in which trusted proxies describe the request that they received.
public enum ForwardingFields: String, Sendable, Hashable, CaseIterable {
  /// `Forwarded` (RFC 7239). Only its `for` is used.
  case forwarded
  /// `X-Forwarded-For`, `X-Forwarded-Proto`, `X-Forwarded-Host` and `X-Forwarded-Prefix`.
  case xForwarded = "x-forwarded"
}

/// How the client of a trusted proxy sees the server, according to `X-Forwarded-Proto`, `X-Forwarded-Host` and
/// `X-Forwarded-Prefix`. A field that is missing says nothing.
package struct ForwardedView: Sendable, Hashable {
  /// The maximum length of `X-Forwarded-Host`, in bytes.
  static let maximumHostLength = 255

  /// Whether the client uses HTTPS.
  package let isSecure: Bool?
  /// The host with which the client has connected, with a port if there is one.
  package let authority: String?
  /// The path below which the client sees the server: empty, or such as `/snapshots`.
  package let basePath: String?

  /// Reads the fields of a request from a trusted proxy. Throws if one of them is there twice, or is malformed: what a
  /// client has sent could be one of the two values.
  init(_ fields: HTTPFields) throws(Refusal) {
    switch try Self.value(of: .xForwardedProto, in: fields)?.lowercased() {
    case nil: isSecure = nil
    case "https": isSecure = true
    case "http": isSecure = false
    default: throw .malformed("X-Forwarded-Proto must be http or https.")
    }
    authority = try Self.value(of: .xForwardedHost, in: fields)
    if let authority {
      guard authority.utf8.count <= Self.maximumHostLength, PublicAddress.isAuthority(authority) else {
        throw .malformed("X-Forwarded-Host must be a host, with a port if there is one.")
      }
    }
    if var path = try Self.value(of: .xForwardedPrefix, in: fields) {
      if path.hasSuffix("/") { path.removeLast() }
      guard PublicAddress.isBasePath(path) else {
        throw .malformed("X-Forwarded-Prefix must be a short path of letters, digits and - . _ ~.")
      }
      basePath = path
    } else {
      basePath = nil
    }
  }

  /// Returns the value of a field that can be there once; `nil` if it is not there.
  private static func value(of name: HTTPField.Name, in fields: HTTPFields) throws(Refusal) -> String? {
    let values = fields[values: name]
    guard values.count <= 1 else { throw .malformed("A field X-Forwarded-… is there twice.") }
    return values.first
  }

  /// Returns the nodes in `X-Forwarded-For`, the last one first, because each proxy appends one. Throws if one of them is
  /// malformed.
  static func hops(in fields: HTTPFields) throws(Refusal) -> [ForwardedNode] {
    var hops: [ForwardedNode] = []
    for text in fields[values: .xForwardedFor].flatMap({ $0.split(separator: ",") }).reversed() {
      let name = text.trimmed
      if let address = IPAddress(name), address.isIPv6 {
        hops.append(.address(name, port: nil))
      } else if let node = ForwardedNode(name) {
        hops.append(node)
      } else {
        throw .malformed("X-Forwarded-For must be a list of addresses.")
      }
    }
    return hops
  }
}

extension HTTPField.Name {
  fileprivate static let xForwardedFor = constant("X-Forwarded-For")
  fileprivate static let xForwardedProto = constant("X-Forwarded-Proto")
  fileprivate static let xForwardedHost = constant("X-Forwarded-Host")
  fileprivate static let xForwardedPrefix = constant("X-Forwarded-Prefix")
}

extension Substring {
  /// The text without the white space around it (RFC 9110 §5.6.3).
  fileprivate var trimmed: String {
    let isSpace: (Character) -> Bool = { $0 == " " || $0 == "\t" }
    return String(String(drop(while: isSpace).reversed()).drop(while: isSpace).reversed())
  }
}
