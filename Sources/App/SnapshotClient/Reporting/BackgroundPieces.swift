import Dispatch
import Foundation
import HTTPClient
import HTTPTypes
import SnapshotFormat
import SystemIO

/// The transport of one queued upload: lets the system send the pieces of its bundle, and sends everything else itself.
struct BackgroundPieces: Transport {
  /// The number of bytes that are copied at once.
  private static let copiedBytes = 1 << 20

  let background: any BackgroundTransport
  let direct: any Transport
  let id: SnapshotID
  /// The folder that contains the file with the bytes of a piece.
  let folder: QueueFolder
  /// The queue on which the file is written.
  let disk: DispatchQueue
  /// The piece of an earlier process.
  let former: BackgroundPiece?
  /// Called when the system has a piece.
  let started: @Sendable (BackgroundPiece) -> Void

  private var file: String { folder.piece(of: id) }

  func send(
    _ request: HTTPRequest, body: TransportBody, destination: TransportDestination,
    timeouts: TransportTimeouts, events: (@Sendable (TransportEvent) -> Void)?
  ) async throws(TransportError) -> TransportResponse {
    var piece: BackgroundPiece?
    if case .part(_, let range) = body, let location = request.path {
      piece = BackgroundPiece(of: id, range, at: location)
    }
    // The server would end it anyway, because it has another request for the upload now.
    if let former, former != piece { background.cancel(former.description) }
    guard let piece, case .part(let bundle, let range) = body else {
      return try await direct.send(
        request, body: body, destination: destination, timeouts: timeouts, events: events)
    }
    let total = Int64(range.count)
    let progress = { @Sendable (count: Int64) -> Void in
      events?(.progress(TransportProgress(completed: min(count, total), total: total)))
    }
    if piece == former, let response = try await outcome(of: piece, progress) { return response }
    try await disk.perform { Result { () throws(TransportError) in try write(range, of: bundle.path) } }.get()
    guard !Task.isCancelled else { throw .cancelled }
    try background.start(request, sending: URL(filePath: file), as: piece.description)
    guard let response = try await outcome(of: piece, progress) else {
      throw .interrupted("the transfer was lost")
    }
    return response
  }

  /// Waits for the outcome of `piece`; `nil` if the system does not have it.
  private func outcome(
    of piece: BackgroundPiece, _ progress: @escaping @Sendable (Int64) -> Void
  ) async throws(TransportError) -> TransportResponse? {
    started(piece)
    let outcome = await background.outcome(of: piece.description, progress: progress)
    guard !Task.isCancelled else { throw .cancelled }
    await disk.perform { [folder, file] in folder.discard(file) }
    return try outcome?.get()
  }

  /// Writes the bytes into the file. The whole bundle gets a second name instead, if the disk can do that.
  private func write(_ range: Range<Int64>, of bundle: String) throws(TransportError) {
    do throws(SystemError) {
      try Folder.removeIfPresent(file)
      let source = try File(bundle)
      if try range == 0..<source.size {
        do { return try Folder.link(bundle, as: file) } catch {
          // Not every file system has second names. A full disk also refuses the copy.
        }
      }
      let copy = try File(file, .create(mode: 0o600))
      var offset = range.lowerBound
      while offset < range.upperBound {
        let count = Int(min(range.upperBound - offset, Int64(Self.copiedBytes)))
        let bytes = try source.read(upTo: count, at: offset)
        guard !bytes.isEmpty else { throw SystemError(operation: "read", path: bundle, code: EIO) }
        try copy.append(bytes)
        offset += Int64(bytes.count)
      }
    } catch {
      throw .file(error.description)
    }
  }
}
