import SnapshotSealing

/// What came out of a sealed file, and the error that followed.
struct Opening: Equatable {
  var contents: [UInt8] = []
  var error: SealingError?

  /// Opens a file whose bytes arrive in pieces of `size` bytes.
  init(_ file: [UInt8], with keys: [any UnwrappingKey], piecesOf size: Int = 60_000) {
    var unsealer = Unsealer(with: keys)
    do throws(SealingError) {
      for start in stride(from: 0, to: file.count, by: size) {
        contents += try unsealer.open(file[start..<min(file.count, start + size)])
      }
      contents += try unsealer.finish()
    } catch {
      self.error = error
    }
  }

  init(contents: [UInt8], error: SealingError? = nil) { (self.contents, self.error) = (contents, error) }

  /// Opens a file with the identity of ``HandmadeFile``.
  init(_ file: HandmadeFile, piecesOf size: Int = 60_000) throws {
    self.init(try file.bytes(), with: [try SealingIdentity(HandmadeFile.identity)], piecesOf: size)
  }
}

/// Seals all of `contents`, which arrive in pieces of `size` bytes.
func sealed(_ contents: [UInt8], to recipients: [SealingRecipient], piecesOf size: Int = 60_000) throws
  -> [UInt8]
{
  var sealer = try Sealer(to: recipients)
  var file = sealer.header
  for start in stride(from: 0, to: contents.count, by: size) {
    file += try sealer.seal(contents[start..<min(contents.count, start + size)])
  }
  return try file + sealer.finish()
}
