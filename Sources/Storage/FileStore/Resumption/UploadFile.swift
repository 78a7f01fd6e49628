import Foundation
import SnapshotStore
import SystemIO

/// The state file of a resumable upload: its terms and its progress.
///
///     0      progress with an even number
///     4096   progress with an odd number
///     8192   id, time of creation and terms: written once
///
/// The two slots are written in turn, so one is always intact if a write of the other is interrupted. The intact slot
/// with the higher number is the current one.
enum UploadFile {
  /// The part that never changes.
  private struct Head: Codable {
    var id: UploadID
    var createdAt: Date
    var terms: UploadTerms
  }

  /// The progress at some time.
  private struct Slot: Codable {
    var number: Int
    var progress: UploadSession.Progress
  }

  private static let slotSize = 4096
  /// The most bytes of such a file that are read: far more than are ever written.
  private static let sizeLimit: Int64 = 16 << 20

  /// Writes a new file completely.
  static func write(_ session: UploadSession, to file: File) throws(SystemError) {
    let head = Head(id: session.id, createdAt: session.createdAt, terms: session.terms)
    try file.write(try bytes(of: head, in: file), at: Int64(2 * slotSize))
    // Allocates the space for all later writes now, so that a full disk can't prevent them.
    try file.write([UInt8](repeating: 0, count: 2 * slotSize), at: 0)
    try write(session.progress, number: 0, to: file)
  }

  /// Writes the progress with this number, overwriting the one before the last.
  static func write(
    _ progress: UploadSession.Progress, number: Int, to file: File
  ) throws(SystemError) {
    let bytes = try bytes(of: Slot(number: number, progress: progress), in: file)
    guard bytes.count <= slotSize else { throw failure(file) }
    try file.write(bytes, at: Int64(number % 2 * slotSize))
  }

  /// Reads a file; `nil` if it was never written completely.
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
