extension SealedHeader {
  /// What happens to the recipients that a file already has.
  package enum Rewrapping: Sendable {
    /// They remain.
    case adding
    /// They are removed. Stanzas of types that this software does not know remain.
    case replacing
  }

  /// The header for other recipients. The payload behind it, with its nonce, stays as it is.
  ///
  /// Replacing recipients does not take from them what they already have: the key of the file stays the same.
  /// - Parameters:
  ///   - keys: The identities, one of which opens the file.
  ///   - recipients: The new recipients.
  package func rewrapped(
    with keys: [any UnwrappingKey], to recipients: [SealingRecipient], _ rewrapping: Rewrapping
  ) throws(SealingError) -> SealedHeader {
    let key = try unwrap(with: keys)
    let added = try Sealer.stanzas(of: key, for: recipients)
    let kept: [Stanza]
    switch rewrapping {
    case .replacing: kept = stanzas.filter { !$0.isKnown }
    case .adding:
      guard !stanzas.contains(where: { $0.type == "scrypt" }) else {
        throw .malformedHeader("a passphrase can't be mixed with other recipients")
      }
      let isHybrid = recipients.contains(where: \.isHybrid)
      guard stanzas.allSatisfy({ !$0.isKnown || $0.isHybrid == isHybrid }) else { throw .mixedRecipients }
      kept = stanzas
    }
    return try SealedHeader(stanzas: kept + added, key: key)
  }

  /// The types of stanzas that this software does not know, which rewrapping keeps.
  package var unknownTypes: [String] { stanzas.filter { !$0.isKnown }.map(\.type) }
}

extension Stanza {
  /// Whether the type resists quantum computers.
  fileprivate var isHybrid: Bool { type.hasPrefix("mlkem768") }
}
