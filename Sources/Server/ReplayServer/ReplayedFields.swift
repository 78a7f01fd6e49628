import Foundation
import HTTPEngine
import HTTPTypes

/// Changes fields of a recorded or live response so that they are right for the replay server.
enum ReplayedFields {
  /// Fields that describe the recorded connection or coding, or bind the browser to the recorded host. The fields for
  /// other origins are those of ``ReplayOrigins``.
  private static let omitted: Set<String> = [
    "alt-svc", "connection", "content-encoding", "content-length", "date", "expect-ct", "keep-alive",
    "proxy-authenticate", "proxy-connection", "public-key-pins", "strict-transport-security", "te", "trailer",
    "transfer-encoding", "upgrade",
  ]

  /// Returns the fields to send. `keeping` names omitted ones that apply nevertheless.
  static func of(_ fields: [(name: String, value: String)], keeping: Set<String> = []) -> HTTPFields {
    var left: HTTPFields = [:]
    for (name, value) in fields {
      let lower = name.lowercased()
      if omitted.contains(lower), !keeping.contains(lower) { continue }
      if lower.hasPrefix("access-control-") { continue }
      // An invalid name can't be sent. Invalid characters in a value become spaces.
      guard let name = HTTPField.Name(name) else { continue }
      left.append(HTTPField(name: name, value: lower == "set-cookie" ? cookie(value) : value))
    }
    return left
  }

  /// Returns the value of `Set-Cookie` without attributes that a client does not accept from the replay server.
  private static func cookie(_ value: String) -> String {
    let parts = value.split(separator: ";", omittingEmptySubsequences: false)
    let kept = parts.enumerated().filter { index, part in
      let text = part.trimmingCharacters(in: .whitespaces).lowercased()
      let isBound =
        ["secure", "partitioned"].contains(text) || text.hasPrefix("domain=")
        || text.filter { $0 != " " } == "samesite=none"
      return index == 0 || !isBound
    }
    return kept.map(\.element).joined(separator: ";")
  }

  /// Returns a redirect's target on the replay server, if it is on one of `hosts`; otherwise as it is.
  static func location(_ text: String, _ hosts: Set<String>, _ request: HTTPServerRequest) -> String {
    guard let url = URLComponents(string: text), let scheme = url.scheme, let name = url.host,
      !request.authority.isEmpty
    else { return text }
    let port = url.port.map { ":\($0)" } ?? ""
    guard hosts.contains("\(scheme)://\(name)\(port)".lowercased()) else { return text }
    let path = url.percentEncodedPath.isEmpty ? "/" : url.percentEncodedPath
    let query = url.percentEncodedQuery.map { "?" + $0 } ?? ""
    let fragment = url.percentEncodedFragment.map { "#" + $0 } ?? ""
    return "http://\(request.authority)\(path)\(query)\(fragment)"
  }
}
