import Foundation
import SnapshotStore
import SystemIO

/// The file that says what was agreed upon for an upload, and how far it is.
///
///     0      how far it is; or, where the number there is higher and all is whole,
///     4096   how far it is
///     8192   what was agreed upon: written once
///
/// The two take turns, so that one is whole whatever happens while the other is written.
enum UploadFile {
  /// What never changes.
  private struct Head: Codable {
    var id: UploadID
    var createdAt: Date
    var terms: UploadTerms
  }

  /// How far it was at some time.
  private struct Slot: Codable {
    var number: Int
    var progress: UploadSession.Progress
  }

  private static let slotSize = 4096
  /// The most bytes of such a file that are read: far more than are written.
  private static let sizeLimit: Int64 = 16 << 20

  /// Writes all of a new one.
  static func write(_ session: UploadSession, to file: File) throws(SystemError) {
    let head = Head(id: session.id, createdAt: session.createdAt, terms: session.terms)
    try file.write(try bytes(of: head, in: file), at: Int64(2 * slotSize))
    // The room for all that is ever written is taken at once: a full disk does not stand in the way later.
    try file.write([UInt8](repeating: 0, count: 2 * slotSize), at: 0)
    try write(session.progress, number: 0, to: file)
  }

  /// Writes the progress of that number, over the last but one.
  static func write(
    _ progress: UploadSession.Progress, number: Int, to file: File
  ) throws(SystemError) {
    let bytes = try bytes(of: Slot(number: number, progress: progress), in: file)
    guard bytes.count <= slotSize else { throw failure(file) }
    try file.write(bytes, at: Int64(number % 2 * slotSize))
  }

  /// What a file says; `nil` for one whose writing was never ended.
  static func read(_ file: File) throws(SystemError) -> (session: UploadSession, number: Int)? {
    let size = try file.size
    guard size <= sizeLimit else { return nil }
    let bytes = try file.read(upTo: Int(size), at: 0)
    let slots = [0, 1].compactMap {
      CheckedBlock.decode(Slot.self, from: bytes.dropFirst($0 * slotSize).prefix(slotSize))
    }
    guard let head = CheckedBlock.decode(Head.self, from: bytes.dropFirst(2 * slotSize)),
      let slot = slots.max(by: { $0.number < $1.number }), slot.number >= 0
    else { return nil }
    let session = UploadSession(
      head.id, head.terms, createdAt: head.createdAt, progress: slot.progress)
    return (session, slot.number)
  }

  private static func bytes(of value: some Encodable, in file: File) throws(SystemError) -> [UInt8] {
    do { return try CheckedBlock.encode(value) } catch { throw failure(file) }
  }

  private static func failure(_ file: File) -> SystemError {
    SystemError(operation: "encode", path: file.path, code: POSIXErrorCode.EBADMSG.rawValue)
  }
}
