#if canImport(UIKit) && (os(iOS) || os(visionOS))
  import UIKit
#elseif os(macOS)
  import AppKit
#endif

/// The system's pasteboard.
enum Pasteboard {
  /// Puts `text` into the pasteboard; does nothing where there is none.
  @MainActor static func put(_ text: String) {
    #if canImport(UIKit) && (os(iOS) || os(visionOS))
      UIPasteboard.general.string = text
    #elseif os(macOS)
      NSPasteboard.general.clearContents()
      NSPasteboard.general.setString(text, forType: .string)
    #endif
  }
}
