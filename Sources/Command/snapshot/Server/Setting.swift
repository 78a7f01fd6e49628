/// A setting in a group, such as `age` in `server.retention`.
struct Setting<Group: Sendable>: Sendable {
  let name: String
  /// The expected value, in words, for an error message.
  let wanted: String
  /// Parses and sets the value; returns `false` if the text is malformed.
  let set: @Sendable (inout Group, String) -> Bool

  /// Returns `group` with the value in `text`; `nil` if the text is malformed.
  func parse(_ text: String, into group: Group) -> Group? {
    var group = group
    return set(&group, text) ? group : nil
  }
}
