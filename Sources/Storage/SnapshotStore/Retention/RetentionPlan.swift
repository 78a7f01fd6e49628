public import SnapshotFormat

/// What one run would let go.
///
/// A clock that has jumped, or rules that were mistyped, make most snapshots due at once, and no deletion can be undone.
/// A run that lets go more than a fifth of all snapshots therefore needs a confirmation, unless these are fewer than 100.
public struct RetentionPlan: Sendable, Hashable {
  /// A run that lets go fewer never needs a confirmation.
  public static let smallestHeld = 100
  /// A run that lets go no more than one in so many never needs a confirmation.
  public static let oneIn = 5

  /// What goes, the oldest first.
  public var expirations: [Expiration]
  /// How many snapshots there are, those that go among them.
  public var total: Int

  /// A plan by its parts.
  public init(expirations: [Expiration], total: Int) {
    self.expirations = expirations
    self.total = total
  }

  /// Whether it is only carried out when somebody confirms it.
  public var needsConfirmation: Bool {
    expirations.count >= Self.smallestHeld && expirations.count > total / Self.oneIn
  }
}

/// A run was stopped before it let anything go: it needs a confirmation.
public struct ExpirationHeld: Error, Sendable, Hashable, CustomStringConvertible {
  /// How many snapshots it would let go.
  public var due: Int
  /// How many there are.
  public var total: Int

  init(_ plan: RetentionPlan) {
    due = plan.expirations.count
    total = plan.total
  }

  /// What happened, and what to do.
  public var description: String {
    """
    \(due) of \(total) snapshots would go at once, and nothing went. Check the clock and the rules, and what \
    `snapshot expire --dry-run` shows; `snapshot expire --confirm` lets them go.
    """
  }
}
