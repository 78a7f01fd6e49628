/// An element of a stored array that this version of the app can't decode. It is kept as it is written, for a later
/// version.
public struct UndecodedElement: Sendable {
  /// The id of an element.
  ///
  /// - Invariant: the id of a model of a ``CollectionRepository``, whose ids are `Sendable`. It is never changed. This
  ///   makes `@unchecked Sendable` correct.
  struct ID: @unchecked Sendable {
    let value: AnyHashable

    init(_ value: some Hashable) { self.value = AnyHashable(value) }
  }

  /// The index of the element in the array with all elements.
  var position: Int
  /// The schema of ``json``, which can be older than that of the file.
  let schemaVersion: Int
  let json: [UInt8]
  /// The element's id, if it is known.
  let id: ID?
}
