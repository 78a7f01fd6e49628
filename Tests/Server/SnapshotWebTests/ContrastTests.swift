import Foundation
@testable import SnapshotWeb
import Testing

/// The style sheet's colours, held to WCAG 2.2's contrasts (1.4.3 and 1.4.11).
struct ContrastTests {
  private static let texts = [
    ("text", "back"), ("text", "card"), ("text", "quiet"), ("note", "back"), ("note", "card"),
    ("note", "quiet"),
    ("accent", "back"), ("accent", "card"), ("accent", "quiet"), ("on-accent", "accent"),
    ("good", "good-back"),
    ("bad", "bad-back"), ("bad", "card"), ("bad", "back"), ("card", "bad"), ("warn", "warn-back"),
    ("warn", "card"),
    ("key", "card"), ("string", "card"), ("number", "card"), ("literal", "card"),
  ]
  private static let drawings = [("edge", "card"), ("edge", "back"), ("bar", "card"), ("bar", "rail")]

  /// The colours of each scheme, by their names.
  private func schemes() -> [[String: Int]] {
    let sheet = String(decoding: PageAsset.stylesheet.bytes, as: UTF8.self)
    return sheet.components(separatedBy: ":root {").dropFirst().map { rest in
      let rules = rest.prefix { $0 != "}" }
      return rules.split(separator: ";").reduce(into: [:]) { colours, rule in
        let parts = rule.split(separator: ":").map { $0.trimmingCharacters(in: .whitespacesAndNewlines) }
        guard parts.count == 2, parts[0].hasPrefix("--"), parts[1].hasPrefix("#") else { return }
        let digits = parts[1].dropFirst()
        let full = digits.count == 3 ? digits.map { "\($0)\($0)" }.joined() : String(digits)
        colours[String(parts[0].dropFirst(2))] = Int(full, radix: 16)
      }
    }
  }

  private func luminance(_ colour: Int) -> Double {
    let parts = [16, 8, 0].map { shift in
      let part = Double(colour >> shift & 255) / 255
      return part <= 0.03928 ? part / 12.92 : pow((part + 0.055) / 1.055, 2.4)
    }
    return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]
  }

  private func contrast(_ one: Int, _ other: Int) -> Double {
    let (one, other) = (luminance(one), luminance(other))
    return (max(one, other) + 0.05) / (min(one, other) + 0.05)
  }

  @Test func `texts and drawings stand out in the light and in the dark`() throws {
    let schemes = schemes()
    #expect(schemes.count == 2)
    for colours in schemes {
      for (pairs, least) in [(Self.texts, 4.5), (Self.drawings, 3.0)] {
        for (front, back) in pairs {
          let found = contrast(try #require(colours[front]), try #require(colours[back]))
          #expect(found >= least, "\(front) on \(back)")
        }
      }
    }
  }
}
