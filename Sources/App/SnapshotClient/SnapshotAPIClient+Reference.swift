import Foundation

extension SnapshotAPIClient {
  /// The address of the server's API, as people write it.
  public var server: String { address.description }

  /// Whether `reference` names this client's server, or none. Names of this machine's own loopback are one to it.
  public func serves(_ reference: SnapshotReference) -> Bool {
    guard let server = reference.server else { return true }
    do { return try ServerAddress(server).isSame(as: address) } catch { return false }
  }
}
