import SnapshotFormat
import Synchronization

extension Console {
  /// Results as JSON: one line where there are none, which Foundation would spread over three.
  static func print(json values: [some Encodable]) {
    if values.isEmpty { print("[]") } else { printPretty(values) }
  }

  /// A result as JSON.
  static func print(json value: some Encodable) { printPretty(value) }

  private static func printPretty(_ value: some Encodable) {
    do {
      print(String(decoding: try SnapshotJSON.encode(value, pretty: true), as: UTF8.self))
    } catch {
      lostOutput.store(true, ordering: .relaxed)
    }
  }
}
