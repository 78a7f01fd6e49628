public import SnapshotFormat
public import SnapshotSealing

extension SnapshotMode {
  /// To whom snapshots are sealed, and what remains readable.
  ///
  ///     configuration.sealing = .recipients([team], required: true, head: [.application, .device])
  public struct Sealing: Sendable, Hashable {
    /// Those who can open the snapshots, 1 to 32.
    public var recipients: [SealingRecipient]
    /// Whether no snapshot is made if it can't be sealed. Otherwise it is made in clear, and ``Event/Kind/notSealed`` is
    /// sent.
    public var isRequired: Bool
    /// What everybody can see of a snapshot, besides its UUID, time, size and recipients.
    public var head: Set<Manifest.HeadPart>

    /// Seals to `recipients`.
    public static func recipients(
      _ recipients: [SealingRecipient], required: Bool = true, head: Set<Manifest.HeadPart> = .usual
    ) -> Sealing {
      Sealing(recipients: recipients, isRequired: required, head: head)
    }

    /// A sentence for users about who can read what they send.
    public var summary: String {
      guard let first = recipients.first else {
        return isRequired
          ? "Nothing can be sent: snapshots must be sealed, and there is no key for that."
          : "Snapshots are not sealed: there is no key for that."
      }
      let owners =
        recipients.count == 1
        ? "the owner of the key \(first.abridged)"
        : "the owners of the keys \(recipients.prefix(3).map(\.abridged).joined(separator: ", "))"
      let others = recipients.count > 3 ? " and \(recipients.count - 3) more" : ""
      return "Snapshots are sealed on this device: only \(owners)\(others) can read them."
    }
  }

  /// To whom snapshots are sealed; `nil` if they are not.
  public var sealing: Sealing? { configuration.sealing }
}
