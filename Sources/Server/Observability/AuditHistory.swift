package import SnapshotFormat
import SnapshotStore
package import SystemIO

/// The newest actions on snapshots, for administrators: those at all servers that share their snapshots, or at this one if
/// it is alone or the database does not answer.
package struct AuditHistory: Sendable {

  private let log: AuditLog
  private let forwarder: AuditForwarder?

  init(_ log: AuditLog, _ forwarder: AuditForwarder?) { (self.log, self.forwarder) = (log, forwarder) }

  /// Reads the newest actions on a snapshot, without refused ones.
  package func trail(
    of id: SnapshotID, limits: AuditTrail.Limits = .default
  ) async throws(SystemError) -> AuditTrail {
    if let forwarder {
      // The forwarder logs the failure.
      do { return try await forwarder.trail(of: id, limits: limits) } catch {}
    }
    var trail = try await ServerQueues.shared.longReaders.next.perform { [log] () throws(SystemError) in
      try log.trail(of: id, limits: limits)
    }
    trail.isIncomplete = forwarder != nil
    return trail
  }
}

extension Observation {
  /// The newest actions on snapshots; `nil` without an audit log.
  package var history: AuditHistory? { audit.map { AuditHistory($0, forwarder) } }
}
