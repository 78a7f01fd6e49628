#if canImport(UIKit) && (os(iOS) || os(visionOS))
  public import Foundation
  import SwiftUI
  public import UIKit

  /// The report form as a view controller, which is presented modally and dismisses itself.
  public final class ReportFormViewController: UIViewController {
    private let form: ReportForm
    private let dismissed: @MainActor () -> Void

    /// Creates a view controller for `form`. `dismissed` is called when it is closed, also by a gesture.
    public init(_ form: ReportForm, dismissed: @escaping @MainActor () -> Void = {}) {
      self.form = form
      self.dismissed = dismissed
      super.init(nibName: nil, bundle: nil)
    }

    /// Not supported: a form belongs to one report.
    public required init?(coder: NSCoder) { return nil }

    /// Embeds the view.
    public override func viewDidLoad() {
      super.viewDidLoad()
      let view = ReportFormView(form) { [weak self] in self?.dismiss(animated: true) }
      let child = UIHostingController(rootView: NavigationStack { view })
      addChild(child)
      child.view.frame = self.view.bounds
      child.view.autoresizingMask = [.flexibleWidth, .flexibleHeight]
      self.view.addSubview(child.view)
      child.didMove(toParent: self)
    }

    /// Reports the dismissal.
    public override func viewDidDisappear(_ animated: Bool) {
      super.viewDidDisappear(animated)
      if isBeingDismissed || presentingViewController == nil { dismissed() }
    }
  }

  extension ReportTrigger {
    /// Creates a trigger that presents the form above everything else in the key window, with a screenshot of it.
    ///
    /// A shake is noticed in a ``ReportWindow`` or below the SwiftUI modifier `reportsShakes(to:)`, and a screenshot
    /// everywhere.
    /// - Parameters:
    ///   - causes: what opens a form.
    ///   - makeForm: makes a form for a new report. Its argument is the screenshot in PNG, if there is one.
    public convenience init(
      causes: Set<Cause> = Set(Cause.allCases), makeForm: @escaping @MainActor (Data?) -> ReportForm
    ) {
      self.init(causes: causes) { _, dismissed in
        let scenes = UIApplication.shared.connectedScenes.compactMap { $0 as? UIWindowScene }
        guard let window = scenes.flatMap(\.windows).first(where: \.isKeyWindow),
          var top = window.rootViewController
        else { return nil }
        while let next = top.presentedViewController, !next.isBeingDismissed { top = next }
        let image = UIGraphicsImageRenderer(bounds: window.bounds).pngData { _ in
          window.drawHierarchy(in: window.bounds, afterScreenUpdates: false)
        }
        let controller = ReportFormViewController(makeForm(image), dismissed: dismissed)
        top.present(controller, animated: true)
        return controller
      }
      // The center keeps the observer, which does nothing when the trigger is gone.
      _ = NotificationCenter.default.addObserver(
        forName: UIApplication.userDidTakeScreenshotNotification, object: nil, queue: .main
      ) { [weak self] _ in
        MainActor.assumeIsolated { _ = self?.fire(.screenshot) }
      }
    }
  }
#endif
