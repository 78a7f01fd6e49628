import SnapshotStore
import SystemIO

/// The bytes of a range of a bundle, in pieces, while they arrive from the object store. For one reader, which asks for a
/// piece when it has the one before.
final class ArrivingPieces: Sendable {
  /// Reads at least the first byte of a range. Throws ``StoreError/damaged`` if there is no such byte.
  typealias Reader = @Sendable (Range<Int64>) async throws(StoreError) -> [UInt8]

  private struct State {
    var position: Int64
    var reader: Reader?
  }

  private let end: Int64
  private let open: @Sendable () -> Reader
  private let state: Lock<State>

  /// - Parameter open: called once, for the first piece.
  init(_ range: Range<Int64>, open: @escaping @Sendable () -> Reader) {
    end = range.upperBound
    self.open = open
    state = Lock(State(position: range.lowerBound))
  }

  /// The next bytes; `nil` at the end.
  func next() async throws(StoreError) -> [UInt8]? {
    let (position, opened) = state.withLock { ($0.position, $0.reader) }
    guard position < end else { return nil }
    let reader = opened ?? open()
    let bytes = try await reader(position..<min(end, position + S3StoreLimits.pieceBytes))
    guard !bytes.isEmpty else { throw .damaged }
    state.withLock { state in
      state.position += Int64(bytes.count)
      state.reader = reader
    }
    return bytes
  }
}
