extension Manifest {
  /// A part of a manifest that the clear head of a sealed bundle can show. The identifier and the time of the snapshot,
  /// the recipients and the size are always shown.
  public enum HeadPart: String, Codable, Hashable, Sendable, CaseIterable {
    /// The app, with its version.
    case application
    /// The device.
    case device
    /// The names of the modules; the identifiers in them only with ``identifiers``.
    case modules
    /// The bug report.
    case report
    /// The identifiers of the recordings, and their number.
    case identifiers
    /// The names of the redaction rules.
    case redactions
    /// What the user wrote.
    case note
    /// The further descriptions.
    case fields
  }

  /// The clear head of a sealed bundle whose inner bundle has this manifest.
  func head(showing parts: Set<HeadPart>, sealed: SealedContents) -> Manifest {
    var head = Manifest(
      id: id, createdAt: createdAt, application: parts.contains(.application) ? application : .hidden,
      device: parts.contains(.device) ? device : .hidden)
    head.formatVersion = Self.sealedFormatVersion
    head.sealed = sealed
    if parts.contains(.modules) {
      head.modules = modules.map {
        Module(name: $0.name, files: parts.contains(.identifiers) ? $0.files : [])
      }
    }
    if parts.contains(.report) { head.report = report }
    if parts.contains(.identifiers) {
      head.sealed?.recordingCount = recordings.count
      head.sealed?.identifiers = SnapshotRecord.identifiers(of: self)
    }
    if parts.contains(.redactions) { head.redactions = redactions }
    if parts.contains(.note) { head.note = note }
    if parts.contains(.fields) { head.fields = fields }
    return head
  }

  /// Whether what this head of a sealed bundle shows is what `inner`, the manifest of its contents, says.
  func describes(_ inner: Manifest) -> Bool {
    (sealed?.bundle ?? id) == inner.id && createdAt == inner.createdAt
      && (application == .hidden || application == inner.application)
      && (device == .hidden || device == inner.device)
      && (modules.isEmpty || modules.map(\.name) == inner.modules.map(\.name))
  }
}

extension Set<Manifest.HeadPart> {
  /// What a head shows unless the team decides otherwise.
  public static let usual: Self = [.application, .device]
}
