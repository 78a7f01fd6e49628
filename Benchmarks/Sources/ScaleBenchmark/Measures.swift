/// What is measured for each size of a store.
enum Measure: String, CaseIterable {
  case start = "start after a clean stop"
  case startProcessor = "start after a clean stop, CPU"
  case idleProcessor = "idle after a clean stop, CPU"
  case firstList = "first list after the start"
  case stop = "stop"
  case crashStart = "start after a kill"
  case crashReady = "repaired after a kill"
  case crashProcessor = "repaired after a kill, CPU"
  case attach
  case attachProcessor = "attach, CPU"
  case fetch
  case fetchProcessor = "fetch, CPU"
  case record
  case list = "list, newest"
  case listMiddle = "list, from the middle"
  case search = "search, common word"
  case searchRare = "search, rare word"
  case delete
  case deleteProcessor = "delete, CPU"
  case expire = "expire: find what is due, CPU"
  case scrub = "scrub: one bundle, CPU"
  case memory = "memory, idle"
  case memoryPeak = "memory, peak"
  case disk = "disk beyond the bundles, for each"
  case catalog = "catalogue, for each"

  var unit: String {
    switch self {
    case .memory, .memoryPeak: "MB"
    case .disk, .catalog: "B"
    case .idleProcessor, .crashReady, .crashProcessor, .expire: "s"
    default: "ms"
    }
  }

  /// The reason why a value grows faster than the logarithm of the number of bundles, if that is known.
  var reason: String? {
    switch self {
    case .crashReady, .crashProcessor:
      "every record is read and indexed again, in the background, because the catalogue may lack the last changes"
    case .crashStart: "the log of the catalogue is read, which has at most 40 MB"
    case .idleProcessor: "the catalogue's file is checked for damage once, in the background"
    case .expire: "every pass reads every record, in the background, because the rules need the sizes of all"
    default: nil
    }
  }
}

/// The values for each size of a store.
struct Curves {
  private(set) var sizes: [Int] = []
  private var values: [Measure: [Int: Double]] = [:]

  mutating func add(_ measure: Measure, _ value: Double, at size: Int) {
    if !sizes.contains(size) { sizes.append(size) }
    values[measure, default: [:]][size] = value
  }

  func value(_ measure: Measure, at size: Int) -> Double? { values[measure]?[size] }

  /// How many times larger the value is at the largest size than at the smallest.
  func growth(_ measure: Measure) -> Double? {
    guard let first = sizes.min(), let last = sizes.max(), first < last,
      let before = values[measure]?[first], let after = values[measure]?[last], before > 0
    else { return nil }
    return after / before
  }

  /// The growth of the logarithm of the number of bundles.
  var logarithm: Double {
    guard let first = sizes.min(), let last = sizes.max(), first > 1 else { return 1 }
    return Double(last).logarithm / Double(first).logarithm
  }

  /// Whether a value grows faster than the logarithm. Half as much again is noise, and so is less than a millisecond,
  /// or 16 bytes for each bundle.
  func isSteep(_ measure: Measure) -> Bool {
    guard let growth = growth(measure), let first = sizes.min(), let last = sizes.max(),
      let before = value(measure, at: first), let after = value(measure, at: last)
    else { return false }
    let noise =
      switch measure.unit {
      case "s": 0.01
      case "B": 16.0
      default: 1.0
      }
    return growth > logarithm * 1.5 && after - before > noise
  }

  /// A table with a column for each size.
  var table: String {
    var rows = [["", "unit"] + sizes.map { "\($0)" } + ["growth"]]
    for measure in Measure.allCases where values[measure] != nil {
      let cells = sizes.map { value(measure, at: $0).map(Self.text) ?? "-" }
      let growth = growth(measure).map { "×\(Self.text($0))\(isSteep(measure) ? " !" : "")" } ?? ""
      rows.append([measure.rawValue, measure.unit] + cells + [growth])
    }
    let widths = rows[0].indices.map { column in rows.map { $0[column].count }.max() ?? 0 }
    return rows.map { row in
      row.enumerated().map { column, cell in
        let space = String(repeating: " ", count: widths[column] - cell.count)
        return column < 2 ? cell + space : space + cell
      }.joined(separator: "  ")
    }.joined(separator: "\n")
  }

  /// The values that grow faster than the logarithm, with their reasons.
  var findings: String {
    let steep = Measure.allCases.filter(isSteep)
    guard !steep.isEmpty else { return "Nothing grows faster than the logarithm." }
    return "Faster than the logarithm (×\(Self.text(logarithm))):\n"
      + steep.map { "  \($0.rawValue): \($0.reason ?? "the reason is not known")" }.joined(separator: "\n")
  }

  static func text(_ value: Double) -> String {
    let digits = value >= 100 ? 0 : value >= 10 ? 1 : 2
    var scale = 1.0
    for _ in 0..<digits { scale *= 10 }
    let whole = Int((value * scale).rounded())
    guard digits > 0 else { return "\(whole)" }
    let (units, rest) = whole.quotientAndRemainder(dividingBy: Int(scale))
    let fraction = "\(rest)"
    return "\(units).\(String(repeating: "0", count: digits - fraction.count))\(fraction)"
  }
}
