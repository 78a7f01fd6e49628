/// The types of property lists that JSON does not have.
///
/// In the JSON document that is made from a property list, the byte before a value tells its type. It is white space,
/// which has no meaning in JSON.
package enum PropertyListType: UInt8, Sendable, Hashable, CaseIterable {
  /// A number that JSON does not have, as a string.
  case number = 0x20
  /// A date, as a string.
  case date = 0x09
  /// Data, as a string in base64.
  case data = 0x0A
  /// A set, as an array.
  case set = 0x0D
}
