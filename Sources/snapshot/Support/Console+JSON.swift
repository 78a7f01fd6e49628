import SnapshotFormat
import Synchronization

extension Console {
  /// A result as JSON.
  static func print(json value: some Encodable) {
    do {
      print(String(decoding: try SnapshotJSON.encode(value, pretty: true), as: UTF8.self))
    } catch {
      lostOutput.store(true, ordering: .relaxed)
    }
  }
}
