public import Foundation

/// Two values after a roll-back: what the older app has written since, and what the newer app had before.
///
/// An app was rolled back to a version with an older schema, and is now at a version again that can read both files. The
/// storage asks its `onRollback` closure once how to continue, and keeps the other file as `….version-N`:
///
///     FileStorage(file: file, migrations: migrations, onRollback: { conflict in conflict.mergedByID() })
///
/// If the app crashes before the result is in the file, it asks again at the next launch.
public struct RollbackConflict<Value: Sendable>: Sendable {
  /// One of the two values.
  public struct Version: Sendable {
    /// The value, migrated to the current schema. Elements that can't be decoded are kept, and not part of it.
    public let value: Value
    /// The schema of the app that wrote it.
    public let schemaVersion: Int
    /// When its file was written, by the device's clock.
    public let written: Date
  }

  /// How the app continues.
  public enum Resolution: Sendable {
    /// With what the older app wrote.
    case older
    /// With what the newer app had.
    case newer
    /// With another value. If it is invalid, as two models with the same id are, the newest write is used.
    case merged(Value)
  }

  /// Decides how the app continues.
  public typealias Decision = @Sendable (_ conflict: RollbackConflict<Value>) -> Resolution

  /// What the older app wrote.
  public let older: Version
  /// What the newer app had before the roll-back.
  public let newer: Version

  /// The value that was written last; the default.
  public var newestWrite: Resolution { older.written >= newer.written ? .older : .newer }

  /// All models of both. A model that both have is that of the newest write. A model that the older app has removed is
  /// there again.
  public func mergedByID<Model: Identifiable>() -> Resolution where Value == [Model] {
    let isOlderLast = older.written >= newer.written
    var models = newer.value
    let places = Dictionary(models.enumerated().map { ($1.id, $0) }) { first, _ in first }
    for model in older.value {
      if let place = places[model.id] {
        if isOlderLast { models[place] = model }
      } else {
        models.append(model)
      }
    }
    return .merged(models)
  }
}
