/// A setting in a group, such as `age` in `server.retention`.
struct Setting<Group: Sendable>: Sendable {
  let name: String
  /// The expected value, in words, for an error message.
  let wanted: String
  /// Whether a running server takes a new value when its settings are read again.
  var reloads = false
  /// Whether the value can contain a secret, so that logs do not have it.
  var isSecret = false
  /// Parses and sets the value; returns `false` if the text is malformed.
  let set: @Sendable (inout Group, String) -> Bool

  /// Returns `group` with the value in `text`; `nil` if the text is malformed.
  func parse(_ text: String, into group: Group) -> Group? {
    var group = group
    return set(&group, text) ? group : nil
  }

  /// The same setting of an enclosing group, in which it has the prefix `key`.
  func inside<Outer: Sendable>(
    _ key: String, _ path: any WritableKeyPath<Outer, Group> & Sendable, reloads: Bool? = nil
  ) -> Setting<Outer> {
    Setting<Outer>(
      name: "\(key).\(name)", wanted: wanted, reloads: reloads ?? self.reloads, isSecret: isSecret
    ) { outer, text in
      set(&outer[keyPath: path], text)
    }
  }
}
