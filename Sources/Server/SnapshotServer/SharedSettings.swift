import Foundation
import PostgreSQLClient
import S3Client

/// The settings of servers that share their snapshots: an object store for the bundles and their records, and a
/// PostgreSQL database for the index and everything that servers have to agree on.
package struct SharedSettings: Sendable, Hashable {
  /// The bucket, and optionally a prefix in it: `s3://bucket/prefix`.
  package var store: String?
  /// The database: `postgres://user@host:5432/database`, without a password.
  package var database: String?
  /// The address of the object store; `nil` for Amazon's in the region.
  package var endpoint: String?
  /// The region that requests to the object store are signed for.
  package var region = "us-east-1"
  /// Whether requests name the bucket in the host instead of the path.
  package var namesBucketInHost = false
  /// The maximum size of the local copies of bundles that were read recently, in bytes.
  package var cacheBytes = 1 << 30
  /// Who sends bundles to clients.
  package var downloads = DownloadSource.server

  /// Creates the default settings: one server with a folder of its own.
  package init() {}

  /// Whether the server shares its snapshots with others.
  package var isEnabled: Bool { store != nil || database != nil }
}

extension SharedSettings {
  /// The part of the bucket that holds the snapshots. Throws if the settings do not fit each other.
  func bucket() throws(SharedSettingsError) -> S3Configuration {
    guard let store, database != nil else { throw .incomplete }
    return try bucket(at: store, of: "The setting server.shared.store")
  }

  /// The part of a bucket at an address like ``store``, at this endpoint.
  /// - Parameter what: names the origin of the address in the error.
  func bucket(at store: String, of what: String) throws(SharedSettingsError) -> S3Configuration {
    guard let place = URLComponents(string: store), place.scheme == "s3", let name = place.host,
      !name.isEmpty,
      place.user == nil, place.port == nil, place.query == nil, place.fragment == nil
    else {
      throw SharedSettingsError("\(what) is ‘\(store)’; it takes s3://bucket/prefix.")
    }
    let address = endpoint ?? "https://s3.\(region).amazonaws.com"
    guard let url = URL(string: address) else {
      throw SharedSettingsError(
        "The setting server.shared.endpoint is ‘\(address)’; it takes an address such as https://s3.example.com."
      )
    }
    do {
      return try S3Configuration(
        endpoint: url, bucket: name, prefix: place.path, region: region,
        style: namesBucketInHost ? .virtualHost : .path)
    } catch {
      throw SharedSettingsError("The settings below server.shared can't be used: \(error)")
    }
  }

  /// The connections to the database. Throws if the settings do not fit each other.
  func databaseConfiguration() throws(SharedSettingsError) -> PostgreSQLConfiguration {
    guard store != nil, let database else { throw .incomplete }
    // Settings are shown and logged.
    guard URLComponents(string: database)?.password == nil else {
      throw SharedSettingsError(
        "The setting server.shared.database contains a password. Pass it in PGPASSWORD, or in a file that PGPASSFILE names."
      )
    }
    do { return try PostgreSQLConfiguration(uri: database) } catch {
      throw SharedSettingsError("The setting server.shared.database can't be used: \(error)")
    }
  }
}

/// The reason why settings of shared snapshots can't be used, in a sentence.
package struct SharedSettingsError: Error, Sendable, CustomStringConvertible {
  package let description: String

  init(_ description: String) { self.description = description }

  static let incomplete = SharedSettingsError(
    "The settings server.shared.store and server.shared.database are used together; one of them is missing.")
}
