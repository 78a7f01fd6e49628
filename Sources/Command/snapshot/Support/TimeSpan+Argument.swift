public import ArgumentParser
public import SnapshotFormat

extension TimeSpan: ExpressibleByArgument {
  /// Parses a duration such as `90s`, `15m`, `1h`, `30d`.
  public init?(argument: String) { self.init(argument) }
}
