package import Foundation
package import HTTPClient

/// A bucket, or the part of a bucket below a prefix, at an object store.
package struct S3Configuration: Sendable, Hashable {
  /// Where requests name the bucket.
  package enum Style: Sendable, Hashable {
    /// At the beginning of the path. Every store has this.
    case path
    /// At the beginning of the host.
    case virtualHost
  }

  /// `http` or `https`.
  let scheme: String
  /// The host with its port, as requests name it.
  let authority: String
  /// The path of all objects, encoded, with a slash at its end.
  let base: String
  /// The name of the bucket.
  package let bucket: String
  /// The beginning of all keys: empty, or with a slash at its end.
  package let prefix: String
  /// The region that requests are signed for.
  package let region: String
  /// How often requests are repeated.
  package var retries = S3Retries()
  /// The size from which files are uploaded in parts, and the minimum size of these parts, in bytes; at least
  /// ``S3Limits/minimumPartBytes``.
  package var multipartBytes: Int64 = 16 << 20
  /// The time limits of every request.
  package var timeouts = Self.defaultTimeouts

  /// While a store assembles the parts of an upload, it sends a space from time to time. Such a response has no minimum
  /// rate.
  private static var defaultTimeouts: TransportTimeouts {
    var timeouts = TransportTimeouts()
    timeouts.bodyBytesPerSecond = 0
    return timeouts
  }

  /// Creates a configuration. Throws ``S3Error/invalidRequest(_:)`` for an invalid endpoint, bucket or prefix.
  /// - Parameters:
  ///   - endpoint: the address of the store, without a path: `https://s3.eu-central-1.amazonaws.com`.
  ///   - bucket: the name of the bucket.
  ///   - prefix: the folder in the bucket; empty for all of the bucket.
  ///   - region: the region that requests are signed for. Stores of one region accept `us-east-1`.
  ///   - style: where requests name the bucket.
  package init(
    endpoint: URL, bucket: String, prefix: String = "", region: String = "us-east-1", style: Style = .path
  ) throws(S3Error) {
    guard let scheme = endpoint.scheme?.lowercased(), let port = Self.defaultPorts[scheme],
      let host = endpoint.host(percentEncoded: true), !host.isEmpty, endpoint.user == nil,
      ["", "/"].contains(endpoint.path), endpoint.query == nil, endpoint.fragment == nil
    else { throw .invalidRequest("the endpoint is not an http or https address without a path") }
    guard Self.isValid(bucket: bucket) else { throw .invalidRequest("the bucket's name is invalid") }
    let parts = prefix.split(separator: "/")
    guard prefix.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F }), !parts.contains("."), !parts.contains(".."),
      prefix.utf8.count <= S3Limits.keyBytes / 2
    else { throw .invalidRequest("the prefix is invalid") }
    guard !region.isEmpty, region.utf8.allSatisfy({ (0x21...0x7E).contains($0) && $0 != 0x2F }) else {
      throw .invalidRequest("the region is invalid")
    }
    // An address in IPv6 needs brackets, which Foundation removes on some systems.
    let name = host.contains(":") && !host.hasPrefix("[") ? "[\(host)]" : host
    // Clients omit the default port in the field Host, which is signed.
    let place = name + (endpoint.port.map { $0 == port ? "" : ":\($0)" } ?? "")
    self.scheme = scheme
    self.bucket = bucket
    self.region = region
    self.prefix = parts.map { "\($0)/" }.joined()
    authority = style == .path ? place : "\(bucket).\(place)"
    base = style == .path ? "/\(bucket)/" : "/"
  }

  /// The address of the store.
  package var endpoint: String { "\(scheme)://\(authority)" }

  private static let defaultPorts = ["http": 80, "https": 443]

  /// S3's rules for names: 3 to 63 letters in lower case, digits, hyphens and dots.
  private static func isValid(bucket: String) -> Bool {
    (3...63).contains(bucket.utf8.count) && !bucket.hasPrefix(".") && !bucket.contains("..")
      && bucket.utf8.allSatisfy {
        switch $0 {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"),
          UInt8(ascii: "."):
          true
        default: false
        }
      }
  }
}
