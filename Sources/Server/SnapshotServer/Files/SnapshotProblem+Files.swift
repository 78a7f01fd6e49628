import HTTPEngine
import HTTPTypes

extension SnapshotProblem {
  /// 404: the snapshot is there, the file is not.
  static var noSuchFile: HTTPProblem {
    HTTPProblem(
      .notFound, kind: "no-such-file", title: "The snapshot has no such file",
      detail: "The snapshot holds no file of this name; …/files lists those that it holds.")
  }

  /// 422: the file is there, and encrypted or compressed by a method that isn't known.
  static var unreadableFile: HTTPProblem {
    HTTPProblem(
      .unprocessableContent, kind: "unreadable-file", title: "The file can't be read",
      detail: "It is encrypted, or compressed by a method that this server doesn't know. Fetch the bundle.")
  }

  /// 406: the file is larger than the `limit` bytes up to which it is inflated here.
  static func onlyCompressed(limit: Int64) -> HTTPProblem {
    HTTPProblem(
      .notAcceptable, kind: "only-compressed", title: "The file is only sent compressed",
      detail: """
        Files of more than \(limit) bytes are sent as they lie in the bundle; ask with Accept-Encoding: gzip and \
        without a range.
        """)
  }
}
