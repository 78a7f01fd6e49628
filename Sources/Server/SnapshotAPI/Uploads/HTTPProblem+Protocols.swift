import HTTPEngine
import HTTPSemantics
import HTTPTypes
import Observability
import SnapshotStore

/// Problems that only the protocols for resumable uploads have.
extension HTTPProblem {
  /// 400: `Upload-Concat` is malformed, or names a part that does not exist.
  static func malformedConcatenation(_ detail: String) -> HTTPProblem {
    HTTPProblem(.malformedConcatenation, detail: detail)
  }

  /// 400: `Upload-Metadata` is malformed, or lacks a required key.
  static func malformedMetadata(_ detail: String) -> HTTPProblem {
    HTTPProblem(.malformedUploadMetadata, detail: detail)
  }

  /// 413: `Upload-Metadata` exceeds a limit.
  static func metadataTooLarge(_ detail: String) -> HTTPProblem {
    HTTPProblem(.uploadMetadataTooLarge, detail: detail)
  }

  /// 412: the request is for another version of tus.
  static var tusVersion: HTTPProblem {
    HTTPProblem(
      .tusVersion, detail: "Send ‘Tus-Resumable: \(Tus.version)’.", headerFields: [.tusVersion: Tus.version])
  }

  /// 415: the bytes of an upload have another media type.
  static func unsupportedPart(_ expected: String) -> HTTPProblem {
    HTTPProblem(
      .unsupportedMediaType, detail: "Send the bytes of an upload as \(expected).",
      headerFields: [.accept: expected, .acceptPatch: expected])
  }
}
