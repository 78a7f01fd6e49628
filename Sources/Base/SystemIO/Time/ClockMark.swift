/// The newest time that a clock is known to have shown, and whether its present time can be believed. It is stored, so
/// that a clock that is wrong after a restart is recognized.
///
/// A clock is doubted once it differs from the last reading by more than ``tolerance``, in either direction. It is
/// believed again when it has run on for ``trialSeconds`` without another jump: a machine that was switched off for a
/// month has a mark that is a month old, and a clock that is right.
public struct ClockMark: Sendable, Hashable, Codable {
  /// The difference in seconds up to which a clock agrees with another time: a day.
  public static let tolerance = 86_400.0
  /// How many seconds a doubted clock must agree with its own last readings: an hour.
  public static let trialSeconds = 3600.0

  /// The readings of a clock that is doubted.
  public struct Trial: Sendable, Hashable, Codable {
    /// The last reading, in seconds since 1970.
    public fileprivate(set) var time: Double
    /// For how many seconds the readings have agreed with each other.
    public fileprivate(set) var seconds: Double
  }

  /// The newest time that was believed, in seconds since 1970.
  public private(set) var time: Double
  /// `nil` while the clock is believed.
  public private(set) var trial: Trial?

  /// Creates the mark of a clock that is known to have shown `time`, in seconds since 1970.
  public init(time: Double) { self.time = time }

  /// Whether the last reading is believed.
  public var isBelieved: Bool { trial == nil }

  /// The last reading, in seconds since 1970; of those that are believed, the newest.
  public var last: Double { trial?.time ?? time }

  /// Whether two times in seconds agree.
  public static func agree(_ left: Double, _ right: Double) -> Bool { abs(left - right) <= tolerance }

  /// Judges a reading of the clock.
  /// - Parameters:
  ///   - now: the reading, in seconds since 1970.
  ///   - elapsed: the seconds since ``last``, as far as they are known from another clock. A difference of a day more or
  ///     less is no jump.
  /// - Returns: whether the clock has jumped, so that it is doubted from now on.
  @discardableResult
  public mutating func observe(_ now: Double, elapsed: Double) -> Bool {
    guard now >= last - Self.tolerance, now <= last + elapsed + Self.tolerance else {
      doubt(now)
      return true
    }
    if let trial {
      let seconds = trial.seconds + elapsed
      if seconds >= Self.trialSeconds {
        self = ClockMark(time: now)
      } else {
        self.trial = Trial(time: now, seconds: seconds)
      }
    } else {
      time = max(time, now)
    }
    return false
  }

  /// Doubts the clock, whatever was seen before.
  /// - Parameter now: the reading, in seconds since 1970.
  public mutating func doubt(_ now: Double) { trial = Trial(time: now, seconds: 0) }
}
