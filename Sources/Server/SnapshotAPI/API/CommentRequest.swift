import AccessControl
import Foundation
import HTTPEngine
import HTTPSemantics
import HTTPTypes
import SnapshotFormat

/// The body of a request that writes a comment: `{"text": "…"}`.
struct CommentRequest: Decodable {
  /// The text of the comment.
  let text: String

  /// Reads the body of `request`. `limits` are those of the comment.
  init(_ request: HTTPServerRequest, limits: SnapshotComment.Limits) async throws {
    let type = request.headerFields[.contentType]
    guard type.flatMap(MediaType.init)?.essence == "application/json" else {
      throw HTTPProblem.unsupportedMediaType(type, accepted: "application/json")
    }
    // A byte of the text has at most six bytes in JSON.
    let limit = Int64(6 * limits.textBytes + 1024)
    let bytes: [UInt8]
    do {
      bytes = try await request.body.collect(upTo: limit)
    } catch HTTPBodyError.tooLarge {
      throw HTTPProblem.tooLarge(limit: limit)
    }
    do {
      self = try SnapshotJSON.decode(Self.self, from: Data(bytes))
    } catch {
      throw HTTPProblem.malformedChange("The body is not a JSON object with the text ‘text’.")
    }
  }
}
