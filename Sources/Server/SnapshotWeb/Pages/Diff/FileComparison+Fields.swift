import SnapshotDiff
import SnapshotFormat

extension PreviewPage {
  /// The name of the other snapshot in marks: its version if that differs, otherwise the beginning of its id.
  var nameOfOther: String {
    guard let other = comparison?.other else { return "" }
    let version = other.application.version
    guard version != record.application.version, version != SnapshotRecord.noVersion else {
      return other.shortID
    }
    return PageText.cut(version, to: 40).text
  }

  /// Returns the values of the template `compared`; `nil` if the file is not compared.
  func comparisonFields(_ links: FileLinks) -> Fields? {
    guard let comparison else { return nil }
    let values = changeRows
    var selection = selection
    selection.with = nil
    let item =
      recording.map { DiffSelection.Item.recording(.init($0)) }
      ?? comparison.path.map(DiffSelection.Item.file)
    return [
      "short": comparison.other?.shortID,
      "version": comparison.other.map { other in
        let version = other.application.version
        return PageText.cut(
          version == SnapshotRecord.noVersion ? other.application.identifier : version, to: 60
        ).text
      },
      "received": comparison.other.map { Measures.timeFields($0.receivedAt) },
      "snapshot": comparison.other.map { PagePath.snapshot($0.id).description },
      "text": comparison.words,
      "all": comparison.path.flatMap { _ in
        comparison.other.flatMap { other in
          item.map { PagePath.diff(other.id, with: record.id, DiffSelection().showing($0)).description }
        }
      },
      "without": links.path(selection),
      "hasValues": !values.isEmpty,
      "values": values,
    ]
  }

  /// The first changes of the file.
  private var changeRows: [Fields] {
    guard let comparison, let changes = comparison.changes, let other = comparison.other else { return [] }
    var budget = PageBudget(8000)
    return changes.rows.compactMap { change in
      change.fields(in: nil, change.page(in: path, of: record.id, comparedWith: other.id), &budget)
    }
  }
}

extension FileComparison {
  /// The outcome in a few words.
  fileprivate var words: String {
    if let changes, changes.count > 0 { return Measures.count(changes.count, "difference") + "." }
    return switch outcome {
    case .missing: "It has no such file."
    case .identical: "The contents are identical."
    case .marked(let marks) where marks.count == 0: "Nothing differs on this page."
    case .marked(let marks): "\(Measures.count(marks.count, "difference")) on this page."
    case .different: "The contents differ."
    case .failed(let reason): PageText.cut(reason, to: 600).text
    }
  }
}
