import SnapshotAPI

/// The remaining number of bytes in a page for texts from snapshots, which can have any length.
struct PageBudget {
  /// The budget for all lists of a page, in bytes. The rest of the page always fits into the remainder of 60 KB.
  static let page = 46_000
  /// The minimum size of a truncated name, in bytes.
  private static let shortestName = 24
  /// The maximum size of the tooltip of a truncated name, in bytes.
  private static let longestTitle = 300

  private(set) var left: Int

  init(_ bytes: Int = Self.page) { left = bytes }

  /// Takes `length` bytes. Returns `false`, and takes nothing, if there are fewer.
  mutating func take(_ length: Int) -> Bool {
    guard length <= left else { return false }
    left -= length
    return true
  }

  /// Returns a name from a client for the template `name`, truncated to `most` bytes or the remaining budget.
  mutating func name(_ text: String, most: Int = 160) -> Fields {
    guard !text.isEmpty else { return ["text": "(empty)", "full": nil] }
    let shown = PageText.cut(text, to: max(Self.shortestName, min(most, left)))
    left = max(0, left - shown.length)
    guard !shown.isWhole else { return ["text": shown.text, "full": nil] }
    let title = PageText.cut(text, to: Self.longestTitle)
    return ["text": shown.text, "full": take(title.length) ? title.text : nil]
  }

  /// Executes `body` with a budget of at most `most` of the remaining bytes.
  mutating func part<Result>(_ most: Int, _ body: (inout PageBudget) -> Result) -> Result {
    var part = PageBudget(min(most, left))
    let whole = part.left
    let result = body(&part)
    left -= whole - part.left
    return result
  }
}
