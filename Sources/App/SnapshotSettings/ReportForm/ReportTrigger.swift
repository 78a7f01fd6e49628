/// Opens a report form after a shake, a screenshot or a call: again and again, but never two at once.
///
/// The form counts as closed when the presenter says so, and also when the presented object is gone, so that a dismissal
/// that nobody reports does not switch the trigger off. Keep the trigger as long as the app runs.
///
///     let trigger = ReportTrigger { screenshot in
///       ReportForm(mode: snapshots, reporter: reporter, screenshot: screenshot)
///     }
@MainActor public final class ReportTrigger {
  /// What opens a form.
  public enum Cause: Sendable, Hashable, CaseIterable {
    /// The app calls ``fire(_:)``, for example from a menu.
    case call
    /// The user shakes the device.
    case shake
    /// The user makes a screenshot.
    case screenshot
  }

  /// Presents a form, and calls `dismissed` when it is closed. Returns the presented object, which it does not keep
  /// after that; `nil` if nothing can be presented now.
  public typealias Presenter =
    @MainActor (_ cause: Cause, _ dismissed: @escaping @MainActor () -> Void) ->
    AnyObject?

  /// What opens a form; other causes are ignored.
  public var causes: Set<Cause>

  private let present: Presenter
  private weak var presented: AnyObject?
  private var isPresenting = false
  /// Tells a dismissal of this form from a late one of an earlier form.
  private var number = 0

  /// Creates a trigger.
  public init(causes: Set<Cause> = Set(Cause.allCases), present: @escaping Presenter) {
    self.causes = causes
    self.present = present
  }

  /// Whether a form is open.
  public var isOpen: Bool { isPresenting || presented != nil }

  /// Opens a form because of `cause`.
  /// - Returns: whether a form was opened: not if one is open, or if the cause is not among ``causes``.
  @discardableResult
  public func fire(_ cause: Cause) -> Bool {
    guard causes.contains(cause), !isOpen else { return false }
    isPresenting = true
    number += 1
    var isDismissed = false
    let object = present(cause) { [weak self, number] in
      isDismissed = true
      if self?.number == number { self?.presented = nil }
    }
    isPresenting = false
    // The presenter can have dismissed the form already.
    if !isDismissed { presented = object }
    return object != nil
  }
}
