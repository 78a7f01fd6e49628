import SnapshotSettings
import Testing

@MainActor struct ReportTriggerTests {
  /// Presents forms as a double of the user interface does.
  @MainActor private final class Screen {
    /// What is on the screen keeps the form.
    var shown: Form?
    var isPossible = true
    var causes: [ReportTrigger.Cause] = []
    var whilePresenting: (() -> Void)?

    final class Form {
      let dismissed: @MainActor () -> Void

      init(_ dismissed: @escaping @MainActor () -> Void) { self.dismissed = dismissed }
    }

    func present(_ cause: ReportTrigger.Cause, _ dismissed: @escaping @MainActor () -> Void) -> AnyObject? {
      causes.append(cause)
      guard isPossible else { return nil }
      let form = Form(dismissed)
      shown = form
      whilePresenting?()
      return form
    }
  }

  private let screen = Screen()
  private let trigger: ReportTrigger

  init() {
    trigger = ReportTrigger { [screen] cause, dismissed in screen.present(cause, dismissed) }
  }

  @Test func `each shake, screenshot and call opens a form, again and again`() {
    for _ in 0..<3 {
      for cause in ReportTrigger.Cause.allCases {
        #expect(trigger.fire(cause) && trigger.isOpen)
        screen.shown?.dismissed()
        #expect(!trigger.isOpen)
        screen.shown = nil
      }
    }
    #expect(screen.causes.count == 9)
  }

  @Test func `while a form is open, nothing opens another one`() {
    #expect(trigger.fire(.shake))
    for cause in ReportTrigger.Cause.allCases { #expect(!trigger.fire(cause)) }
    #expect(screen.causes == [.shake])
  }

  @Test func `a form that is gone without a word does not switch the trigger off`() {
    #expect(trigger.fire(.shake))
    screen.shown = nil
    #expect(!trigger.isOpen && trigger.fire(.shake))
  }

  @Test func `a form that its owner keeps counts as closed when it was dismissed`() {
    #expect(trigger.fire(.screenshot))
    let kept = screen.shown
    kept?.dismissed()
    #expect(trigger.fire(.screenshot))
    // The first form reports its dismissal again, while the second one is open.
    kept?.dismissed()
    #expect(trigger.isOpen)
  }

  @Test func `if nothing can be presented, the next shake tries again`() {
    screen.isPossible = false
    #expect(!trigger.fire(.shake) && !trigger.isOpen)
    screen.isPossible = true
    #expect(trigger.fire(.shake))
  }

  @Test func `a cause that is switched off is ignored`() {
    trigger.causes = [.call]
    #expect(!trigger.fire(.shake) && !trigger.fire(.screenshot) && trigger.fire(.call))
  }

  @Test func `a screenshot while the form appears opens no second one`() {
    var second: Bool?
    screen.whilePresenting = { [weak trigger] in second = trigger?.fire(.screenshot) }
    #expect(trigger.fire(.shake))
    #expect(second == false && screen.causes == [.shake])
  }

  @Test func `a form that is dismissed while it appears is closed`() {
    screen.whilePresenting = { [weak screen] in screen?.shown?.dismissed() }
    #expect(trigger.fire(.shake))
    #expect(!trigger.isOpen)
  }
}
