package import Foundation
package import SnapshotFormat

/// An HTTP exchange without the response's body, which is the recording itself.
///
/// In a file, it is the description as one line of JSON, followed by the body of the request.
package struct StoredExchange: Hashable, Sendable {
  /// The request, the response and the times. The body of the request is not described.
  package var description: Manifest.Exchange
  /// The body of the request; empty if there is none.
  package var requestBody: Data

  package init(_ description: Manifest.Exchange, requestBody: Data = Data()) {
    self.description = description
    self.requestBody = requestBody
  }

  /// Reads the contents of a file; `nil` if it is damaged.
  init?(file: Data) {
    guard let end = file.firstIndex(of: UInt8(ascii: "\n")) else { return nil }
    do {
      description = try SnapshotJSON.decode(Manifest.Exchange.self, from: file[..<end])
    } catch {
      return nil
    }
    requestBody = Data(file[(end + 1)...])
  }

  /// The contents of a file.
  func file() throws -> Data {
    try SnapshotJSON.encode(description) + Data("\n".utf8) + requestBody
  }
}

/// An exchange that is recorded: what ``StoredExchange`` has, and the body of the response.
package struct CompletedExchange: Sendable {
  package var stored: StoredExchange
  package var body: Data

  package init(_ stored: StoredExchange, body: Data) {
    self.stored = stored
    self.body = body
  }
}
