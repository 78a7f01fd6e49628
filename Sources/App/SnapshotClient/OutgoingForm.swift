import Foundation
import SnapshotFormat
import SystemIO

/// A form (RFC 7578) with a bundle and fields beside it, in a temporary file.
struct OutgoingForm: Sendable {
  /// The number of bytes that are copied at once.
  private static let pieceBytes = 1 << 20

  let file: URL
  let contentType: String

  /// Writes the form. The caller must ``remove()`` it.
  /// - Parameter limit: the maximum size of the form in bytes. Nothing is written for a larger one.
  init(
    _ bundle: URL, digestField: String, fields: [String: String], limit: Int64? = nil, isCancelled: () -> Bool
  ) throws(SnapshotClientError) {
    // 122 random bits, which no bundle contains by accident.
    let boundary = "snapshot-\(SnapshotID())"
    contentType = "multipart/form-data; boundary=\(boundary)"
    file = FileManager.default.temporaryDirectory.appending(path: "\(boundary).form")
    var head = ""
    for (name, value) in fields.sorted(by: { $0.key < $1.key }) {
      head += "--\(boundary)\r\nContent-Disposition: form-data; name=\"\(name)\"\r\n\r\n\(value)\r\n"
    }
    head += """
      --\(boundary)\r\nContent-Disposition: form-data; name="snapshot"; filename="snapshot.zip"\r
      Content-Type: application/zip\r\nContent-Digest: \(digestField)\r\n\r\n
      """
    let tail = "\r\n--\(boundary)--\r\n"
    let source: File
    let size: Int64
    do {
      source = try File(bundle.resolvingSymlinksInPath().path)
      size = try source.size + Int64(head.utf8.count + tail.utf8.count)
    } catch {
      throw SnapshotClientError(.file, error.description, cause: error)
    }
    guard size <= limit ?? .max else {
      throw SnapshotClientError(
        .invalidRequest,
        """
        bundle, note and fields are one form of \(size) bytes, which can't be sent in pieces, and a request's body may \
        have at most \(limit ?? 0); make the bundle with the note and the fields in it
        """)
    }
    do {
      let form = try File(file.path, .create(mode: 0o600))
      try form.append(Array(head.utf8))
      var offset: Int64 = 0
      while !isCancelled() {
        let piece = try source.read(upTo: Self.pieceBytes, at: offset)
        if piece.isEmpty { break }
        try form.append(piece)
        offset += Int64(piece.count)
      }
      try form.append(Array(tail.utf8))
    } catch {
      remove()
      throw SnapshotClientError(.file, error.description, cause: error)
    }
    guard !isCancelled() else {
      remove()
      throw SnapshotClientError(.cancelled)
    }
  }

  /// Removes the file.
  func remove() {
    // The system removes what remains in its folder for temporary files.
    do { try Folder.removeIfPresent(file.path) } catch {}
  }
}
