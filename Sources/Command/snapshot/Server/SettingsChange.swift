import SnapshotServer

/// The difference between the settings of a running server and those that were read again.
struct SettingsChange: Sendable {
  /// A setting whose value is different.
  struct Item: Sendable, Hashable {
    let name: String
    /// The former text; `nil` for the default.
    let former: String?
    let new: String?
    /// Whether the values can contain a secret.
    let isSecret: Bool

    var formerText: String { former ?? "the default" }
    var newText: String { new ?? "the default" }

    /// The values for a log, which has no secret.
    var logged: (former: String, new: String) { isSecret ? ("…", "…") : (formerText, newText) }
  }

  /// The settings that change now.
  private(set) var now: [Item] = []
  /// The settings that change with the next start.
  private(set) var later: [Item] = []
  /// The settings that the server has afterwards, with the former values of those that need a restart.
  private(set) var settings = ReadSettings()

  /// Compares the values of all settings. A different text with the same meaning is no change.
  init(from former: ReadSettings, to new: ReadSettings) {
    for setting in ServerSettings.table {
      let item = Item(
        name: setting.name, former: former.texts[setting.name], new: new.texts[setting.name],
        isSecret: setting.isSecret)
      let isChanged = Self.only(setting, item.former) != Self.only(setting, item.new)
      if isChanged {
        if setting.reloads { now.append(item) } else { later.append(item) }
      }
      guard let text = setting.reloads || !isChanged ? item.new : item.former else { continue }
      settings.texts[setting.name] = text
      settings.settings = setting.parse(text, into: settings.settings) ?? settings.settings
    }
    // The folder itself, without the links in the text.
    settings.settings.storage = former.settings.storage
  }

  /// Settings in which only one has a value, since the values of single settings cannot be compared otherwise.
  private static func only(_ setting: Setting<ServerSettings>, _ text: String?) -> ServerSettings {
    guard let text, let settings = setting.parse(text, into: ServerSettings()) else {
      return ServerSettings()
    }
    return settings
  }
}
