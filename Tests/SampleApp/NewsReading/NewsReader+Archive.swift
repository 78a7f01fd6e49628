import DataSnapshots
public import Foundation

/// The archive of all articles, which is large.
extension NewsReader {
  private struct Article: Decodable {
    let title: String
    let author: String
  }

  private struct SignedOrNot: Decodable {
    let title: String
    let author: String?
  }

  /// The number of articles in the archive; 0 if it can't be read.
  /// - Parameter fetch: gets the archive from the server.
  public func archivedArticles(_ fetch: @Sendable () async throws -> Data) async -> Int {
    do {
      let data = try await mode.process("news/archive", fetch)
      let decoder = JSONDecoder()
      return mends.contains(.author)
        ? try decoder.decode([SignedOrNot].self, from: data).count
        : try decoder.decode([Article].self, from: data).count
    } catch {
      return 0
    }
  }
}
