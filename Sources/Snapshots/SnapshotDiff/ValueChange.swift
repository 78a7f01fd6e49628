import JSONText

/// A change of one value in a JSON recording.
package struct ValueChange: Sendable, Hashable {
  /// The recording.
  package let recording: ComparisonSelection.Place
  /// The path of the value, and the values, as in ``RecordingDifference/Detail/json(_:)``.
  package let change: Change<JSONPath>
  /// The number of all changes in the recording.
  package let countInRecording: Int

  /// The place of the value in any version of the recording: all elements of an array have the same.
  fileprivate var leaf: Leaf {
    Leaf(
      identifier: recording.identifier,
      steps: change.place.steps.map { step in
        if case .key(let key) = step { key } else { nil }
      })
  }

  fileprivate struct Leaf: Hashable {
    let identifier: String
    let steps: [String?]
  }
}

extension SnapshotComparison {
  /// The reported changes of all values in JSON recordings, in the order of the comparison.
  package var values: [ValueChange] {
    changed.flatMap { difference -> [ValueChange] in
      guard case .json(let changes) = difference.detail else { return [] }
      return changes.rows.map {
        ValueChange(recording: .init(difference.second), change: $0, countInRecording: changes.count)
      }
    }
  }
}

/// Orders changes so that the most telling ones come first.
///
/// A value that changes in every comparison, such as a time or a token, tells little; one that was stable and changes in
/// one comparison tells much.
package struct ChangeRanking: Sendable {
  private var frequencies: [ValueChange.Leaf: Int] = [:]

  /// Creates a ranking that knows how often each value changed in several comparisons.
  package init(_ comparisons: [[ValueChange]] = []) {
    for changes in comparisons {
      for leaf in Set(changes.map(\.leaf)) { frequencies[leaf, default: 0] += 1 }
    }
  }

  /// Returns `changes` with the most telling one first: before values that always differ, before those that changed in
  /// several comparisons, before the same value of another element of an array, and before those of recordings with many
  /// changes.
  package func ranked(_ changes: [ValueChange]) -> [ValueChange] {
    var seen: Set<ValueChange.Leaf> = []
    let ranks = changes.enumerated().map { index, value in
      let isRepeated = !seen.insert(value.leaf).inserted
      return (
        rank: (
          VolatileValue.isLikely(value.change) ? 1 : 0, frequencies[value.leaf] ?? 0, isRepeated ? 1 : 0,
          value.countInRecording, index
        ), value: value
      )
    }
    return ranks.sorted { $0.rank < $1.rank }.map(\.value)
  }
}
