import Foundation
import SnapshotFormat
import SystemIO

/// A token as its file keeps it: what is known of it, and the keyed hash by which it is recognised.
struct StoredToken: Sendable, Codable {
  /// What this program writes, and all that it reads: a later version may know limits that this one would pass over.
  private static let version = 1

  private let version: Int
  var token: AccessToken
  /// The HMAC-SHA256 of the token.
  let code: Data

  init(_ token: AccessToken, code: Data) {
    version = Self.version
    self.token = token
    self.code = code
  }

  /// Reads a file's contents; `nil` for what is none of a token of this version.
  init?(json: [UInt8]) {
    do {
      self = try SnapshotJSON.decode(StoredToken.self, from: Data(json))
    } catch {
      return nil
    }
    guard version == Self.version, code.count == 32, !token.scopes.isEmpty else { return nil }
  }

  /// A file's contents.
  func json() throws(SystemError) -> [UInt8] {
    do {
      return Array(try SnapshotJSON.encode(self, pretty: true))
    } catch {
      throw SystemError(operation: "encode", code: POSIXErrorCode.EBADMSG.rawValue)
    }
  }
}
