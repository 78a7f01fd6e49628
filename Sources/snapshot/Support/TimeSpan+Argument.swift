public import ArgumentParser
public import SnapshotFormat

extension TimeSpan: ExpressibleByArgument {
  /// Reads what people give on the command line, such as `30d`.
  public init?(argument: String) { self.init(argument) }
}
