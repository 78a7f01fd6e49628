import HTTPEngine
import JSONText
import SnapshotAPI
import SnapshotFormat
import SnapshotViewer
import SystemIO
import ZipArchive

extension ViewerCache {
  /// Returns the file at `path` with its index. Blocks for the disk.
  func file(
    _ path: String, _ entry: ZipEntry, of archive: File, _ bundle: ContentDigest
  ) throws(ViewerError) -> ViewedFile {
    let key = Key(bundle: bundle.description, path: path)
    return try file(key, entry, of: archive) { bytes throws(ViewerError) in
      try ViewedFile(reading: bytes, in: space, claimsJSON: FileHead.claimsJSON(path))
    }
  }

  /// Returns the decoded contents of the string at the JSON Pointer `string` in the file at `path`. Blocks for the disk.
  /// - Throws: An ``HTTPProblem`` if there is no such string, or if its contents are not decoded.
  func decoded(
    _ string: String, in path: String, _ entry: ZipEntry, of archive: File, _ bundle: ContentDigest
  ) throws -> (ViewedFile, FilePreview.Decoded) {
    let field = PageField.decode.rawValue
    guard let tokens = JSONPath.tokens(ofPointer: string) else {
      throw HTTPProblem.badRequest("‘\(field)’ must be a JSON Pointer, such as ‘/items/0/image’.")
    }
    guard let document = try file(path, entry, of: archive, bundle).document,
      let place = try document.place(at: tokens)
    else { throw HTTPProblem.badRequest("The file has no value at this path.") }
    guard let text = try EncodedText(document, place) else {
      throw HTTPProblem.badRequest("The value at this path contains nothing that is shown decoded.")
    }
    let key = Key(bundle: bundle.description, path: path, string: string)
    let decoded = try file(key) { () throws(any Error) in
      switch try text.decode(place, of: document, in: space) {
      case .bytes(let bytes): return try ViewedFile(reading: bytes, in: space)
      case .malformed:
        throw HTTPProblem.badRequest("The string does not contain what its beginning promises.")
      case .tooLarge(let limit):
        throw HTTPProblem.badRequest("The string contains more than \(Measures.size(Int64(limit))).")
      }
    }
    return (decoded, .init(path: place.path, text: text, size: decoded.bytes.size))
  }
}

extension EncodedText {
  /// Examines the value at `place`; `nil` if it is not a string whose contents are shown decoded.
  init?(_ document: JSONView, _ place: JSONPlace) throws(ViewerError) {
    let child = try document.value(at: place)
    guard case .string(let text, let isCut) = child.value else { return nil }
    self.init(text, isCut: isCut, isData: child.type == .data)
  }
}
