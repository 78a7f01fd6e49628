import Foundation
import SnapshotFormat
import SystemIO

/// The contents of a token's file: its properties, and the keyed hash that identifies its secret.
struct StoredToken: Sendable, Codable {
  /// The version that is written. No others are read: later versions could have limits that this one would ignore.
  private static let version = 1
  /// The version of links, which programs that know no links can't read.
  private static let linkVersion = 2

  private let version: Int
  var token: AccessToken
  /// The HMAC-SHA256 of the token's secret.
  let code: Data

  init(_ token: AccessToken, code: Data) {
    version = token.link == nil ? Self.version : Self.linkVersion
    self.token = token
    self.code = code
  }

  /// Parses a file's contents. Returns `nil` if it is not a token of this version.
  init?(json: [UInt8]) {
    do {
      self = try SnapshotJSON.decode(StoredToken.self, from: Data(json))
    } catch {
      return nil
    }
    guard version == (token.link == nil ? Self.version : Self.linkVersion), code.count == 32,
      !token.scopes.isEmpty
    else { return nil }
  }

  /// Returns a file's contents.
  func json() throws(SystemError) -> [UInt8] {
    do {
      return Array(try SnapshotJSON.encode(self, pretty: true))
    } catch {
      throw SystemError(operation: "encode", code: POSIXErrorCode.EBADMSG.rawValue)
    }
  }
}
