public import DataSnapshots
public import Foundation
import SnapshotURLSession

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// A small reader of news, with three bugs of the kind that only shows with the data of a user.
///
/// The bugs stay, so that the article *From a report to a failing test* can show them. A ``Mend`` removes one.
public struct NewsReader: Sendable {
  let mode: SnapshotMode
  let session: URLSession
  let server: URL
  let mends: Set<Mend>

  /// The server of the recorded reports.
  public static let standardServer = URL(string: "http://news.localhost:8080") ?? URL(filePath: "/")

  /// Creates a reader of the news on `server`.
  public init(
    mode: SnapshotMode, server: URL = standardServer, mends: Set<Mend> = []
  ) {
    self.mode = mode
    self.server = server
    self.mends = mends
    session = URLSession(configuration: mode.record(.ephemeral))
  }

  /// The data of a path on the server.
  func data(_ path: String) async throws -> Data {
    let (data, response) = try await session.data(from: server.appending(path: path))
    let status = (response as? HTTPURLResponse)?.statusCode ?? 0
    guard status == 200 else { throw NewsError(status: status) }
    return data
  }
}

/// An answer of the server that is not news.
public struct NewsError: Error {
  /// The status code.
  public let status: Int

  /// Creates the error of an answer with this status.
  public init(status: Int) { self.status = status }
}

/// The removal of a bug.
public enum Mend: String, Sendable, CaseIterable {
  /// Prices are read in the user's locale.
  case total
  /// A month after the 31st is the last day of the next month.
  case renewal
  /// An article may have no author.
  case author
}
