import Foundation
import SnapshotFormat
import SystemIO

extension SnapshotRecord {
  /// The record as the bytes of its file.
  func encoded() throws(SystemError) -> [UInt8] {
    do {
      return Array(try SnapshotJSON.encode(self, pretty: true))
    } catch {
      throw SystemError(operation: "encode", code: POSIXErrorCode.EBADMSG.rawValue)
    }
  }
}
