package import Observability

extension AuditLog.Configuration {
  /// Writes refusals and completed actions to one file, so that a test sees the order of both.
  package static func together(_ path: String) -> Self {
    var configuration = Self(path: path)
    configuration.refusalsPath = path
    return configuration
  }
}
