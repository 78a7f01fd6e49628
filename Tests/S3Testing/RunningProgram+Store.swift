import Foundation
import S3Client
import TestSupport

extension RunningProgram {
  /// The address and the credentials of the object store that a script has started: its first line.
  func store() throws -> (endpoint: URL, credentials: S3Credentials) {
    let words = firstLine.split(separator: " ").map(String.init)
    guard words.count == 3, let endpoint = URL(string: words[0]),
      let credentials = S3Credentials(accessKey: words[1], secretKey: words[2])
    else { throw URLError(.badServerResponse) }
    return (endpoint, credentials)
  }
}
