#if canImport(UIKit) && os(iOS)
  public import SwiftUI
  public import UIKit

  /// A window that tells a trigger of shakes which nothing in it has handled.
  open class ReportWindow: UIWindow {
    /// The trigger, which must be set.
    public var trigger: ReportTrigger?

    /// Passes a shake to the trigger.
    open override func motionEnded(_ motion: UIEvent.EventSubtype, with event: UIEvent?) {
      if motion == .motionShake { trigger?.fire(.shake) }
      super.motionEnded(motion, with: event)
    }
  }

  extension View {
    /// Tells `trigger` of shakes, for apps whose windows SwiftUI makes. Use it once, on the outermost view.
    ///
    /// While the user types, iOS takes a shake as undo, and the trigger is not told.
    public func reportsShakes(to trigger: ReportTrigger) -> some View {
      background(ShakeReader(trigger: trigger))
    }
  }

  private struct ShakeReader: UIViewControllerRepresentable {
    let trigger: ReportTrigger

    func makeUIViewController(context: Context) -> ShakeController { ShakeController(trigger) }

    func updateUIViewController(_ controller: ShakeController, context: Context) {}
  }

  /// Is the first responder, to which the system sends shakes, whenever nothing else is.
  private final class ShakeController: UIViewController {
    private let trigger: ReportTrigger

    init(_ trigger: ReportTrigger) {
      self.trigger = trigger
      super.init(nibName: nil, bundle: nil)
      // Text fields and other windows take the role, and do not give it back.
      for name in [
        UIResponder.keyboardDidHideNotification, UIWindow.didBecomeKeyNotification,
        UIApplication.didBecomeActiveNotification,
      ] {
        _ = NotificationCenter.default.addObserver(forName: name, object: nil, queue: .main) {
          [weak self] _ in
          MainActor.assumeIsolated { _ = self?.becomeFirstResponder() }
        }
      }
    }

    required init?(coder: NSCoder) { return nil }

    override var canBecomeFirstResponder: Bool { true }

    override func viewDidAppear(_ animated: Bool) {
      super.viewDidAppear(animated)
      becomeFirstResponder()
    }

    override func motionEnded(_ motion: UIEvent.EventSubtype, with event: UIEvent?) {
      if motion == .motionShake { trigger.fire(.shake) }
      super.motionEnded(motion, with: event)
    }
  }
#endif
