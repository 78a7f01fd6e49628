public import Foundation
import SnapshotFormat

/// Time, time zone, locale and calendar: those of this machine or, while replaying, those of the recording.
extension SnapshotMode {
  /// The time at which the app should believe to be.
  ///
  /// While replaying, it is the time at which the app had received the latest datum that was replayed; before the first
  /// one, the start of the recording. It never goes backwards until replaying starts again. In every other state, it is
  /// the time of ``Configuration/clock``, as it is if nothing is recorded.
  public var now: Date {
    guard case .replay(let source) = current.makePath() else { return configuration.clock() }
    let time = source.session.now { [recorder] in
      if let active = source.active { active.manifest.span?.from } else { recorder.began }
    }
    return time ?? configuration.clock()
  }

  /// The time zone of the replayed snapshot, and otherwise of ``Configuration/timeZone``. It is GMT if the snapshot does
  /// not say it, so that it does not depend on the machine.
  public var timeZone: TimeZone {
    guard let manifest = replayedManifest else { return configuration.timeZone }
    return manifest.timeZone.flatMap(TimeZone.init(identifier:)) ?? .gmt
  }

  /// The locale of the replayed snapshot, and otherwise of ``Configuration/locale``.
  public var locale: Locale {
    guard let manifest = replayedManifest else { return configuration.locale }
    return Locale(identifier: manifest.locale ?? manifest.device.locale)
  }

  /// The calendar of the replayed snapshot with its ``locale`` and ``timeZone``, and otherwise of
  /// ``Configuration/calendar``.
  public var calendar: Calendar {
    guard let manifest = replayedManifest else { return configuration.calendar }
    var calendar = Calendar(
      identifier: manifest.calendar.flatMap(Calendar.Identifier.init(name:)) ?? .gregorian)
    calendar.locale = locale
    calendar.timeZone = timeZone
    return calendar
  }

  private var replayedManifest: Manifest? {
    guard case .replay(let source) = current.makePath() else { return nil }
    return source.active?.manifest
  }
}

extension Calendar.Identifier {
  /// The calendars and their names in CLDR.
  private static let names: [(identifier: Calendar.Identifier, name: String)] = [
    (.gregorian, "gregorian"), (.buddhist, "buddhist"), (.chinese, "chinese"), (.coptic, "coptic"),
    (.ethiopicAmeteMihret, "ethiopic"), (.ethiopicAmeteAlem, "ethiopic-amete-alem"), (.hebrew, "hebrew"),
    (.iso8601, "iso8601"), (.indian, "indian"), (.islamic, "islamic"), (.islamicCivil, "islamic-civil"),
    (.islamicTabular, "islamic-tbla"), (.islamicUmmAlQura, "islamic-umalqura"), (.japanese, "japanese"),
    (.persian, "persian"), (.republicOfChina, "roc"),
  ]

  /// The name in CLDR; `nil` for a calendar that a manifest can't describe.
  var name: String? { Self.names.first { $0.identifier == self }?.name }

  /// The calendar with a name in CLDR; `nil` if it is not known.
  init?(name: String) {
    guard let known = Self.names.first(where: { $0.name == name }) else { return nil }
    self = known.identifier
  }
}
