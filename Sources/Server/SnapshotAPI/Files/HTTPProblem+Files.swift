import HTTPEngine
import HTTPTypes
import Observability

extension HTTPProblem {
  /// 404: the snapshot is there, the file is not.
  static var noSuchFile: HTTPProblem {
    HTTPProblem(
      .noSuchFile, detail: "The snapshot holds no file of this name; …/files lists those that it holds.")
  }

  /// 422: the file is there, and encrypted or compressed by a method that isn't known.
  static var unreadableFile: HTTPProblem {
    HTTPProblem(
      .unreadableFile,
      detail: "It is encrypted, or compressed by a method that this server doesn't know. Fetch the bundle.")
  }

  /// 406: the file is larger than the `limit` bytes up to which it is inflated here.
  static func onlyCompressed(limit: Int64) -> HTTPProblem {
    HTTPProblem(
      .onlyCompressed,
      detail: """
        Files of more than \(limit) bytes are sent as they lie in the bundle; ask with Accept-Encoding: gzip and \
        without a range.
        """)
  }
}
