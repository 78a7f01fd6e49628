/// The name of a test that is written from a snapshot, and what is named after it.
struct TestName {
  /// The folder of the fixtures, beside the test files.
  static let fixtures = "Fixtures"
  /// The maximum number of characters.
  static let longest = 80

  /// The name as it was given.
  let text: String

  /// Throws unless `text` can be the name of a file on every system.
  init(_ text: String) throws(CommandFailure) {
    guard !text.isEmpty, text.count <= Self.longest, text.allSatisfy(Self.isAllowed), text.first != "."
    else {
      throw CommandFailure(
        "‘\(text.prefix(100))’ can't be the name of a test; a name has 1 to \(Self.longest) ASCII letters, digits, ‘-’, ‘_’ and ‘.’, and does not begin with ‘.’.",
        status: .refused)
    }
    self.text = text
  }

  /// Whether names can contain the character.
  static func isAllowed(_ character: Character) -> Bool {
    character.isASCII && (character.isLetter || character.isNumber || "-_.".contains(character))
  }

  /// The path of the fixture, relative to the folder of the test target.
  var fixture: String { "\(Self.fixtures)/\(text).snapshot.zip" }

  /// The name of the test file.
  var file: String { "\(text)Tests.swift" }

  /// The name of the type with the test.
  var type: String {
    let name = String(text.map { $0.isLetter || $0.isNumber ? $0 : "_" }) + "Tests"
    return name.first?.isNumber == true ? "_" + name : name
  }
}
