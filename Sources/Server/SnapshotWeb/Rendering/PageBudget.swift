import SnapshotAPI

/// How many bytes of a page are left for what comes out of snapshots, which may be as long as anybody likes.
struct PageBudget {
  /// What all lists of a page may take together; what stands around them takes at most the rest of 60 KB.
  static let page = 46_000
  /// What is always shown of a name.
  private static let shortestName = 24
  /// What is told of a name that is cut, where there is room.
  private static let longestTitle = 300

  private(set) var left: Int

  init(_ bytes: Int = Self.page) { left = bytes }

  /// Takes `length` bytes; `false` where there are not as many.
  mutating func take(_ length: Int) -> Bool {
    guard length <= left else { return false }
    left -= length
    return true
  }

  /// A name that somebody else chose, cut to `most` bytes or what is left, and for the template `name`.
  mutating func name(_ text: String, most: Int = 160) -> Fields {
    guard !text.isEmpty else { return ["text": "(empty)", "full": nil] }
    let shown = PageText.cut(text, to: max(Self.shortestName, min(most, left)))
    left = max(0, left - shown.length)
    guard !shown.isWhole else { return ["text": shown.text, "full": nil] }
    let title = PageText.cut(text, to: Self.longestTitle)
    return ["text": shown.text, "full": take(title.length) ? title.text : nil]
  }

  /// Lets `body` take from at most `most` bytes of what is left.
  mutating func part<Result>(_ most: Int, _ body: (inout PageBudget) -> Result) -> Result {
    var part = PageBudget(min(most, left))
    let whole = part.left
    let result = body(&part)
    left -= whole - part.left
    return result
  }
}
