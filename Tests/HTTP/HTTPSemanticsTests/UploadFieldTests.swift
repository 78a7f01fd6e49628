import HTTPSemantics
import Testing

@Suite struct UploadFieldTests {
  @Test(
    arguments: [
      ("0", 0), ("007", 7), ("999999999999999", 999_999_999_999_999), (" 5 ", 5), ("5;a=b", 5),
    ] as [(String, Int64)]) func `a count is a non-negative integer`(text: String, count: Int64)
  {
    #expect(StructuredItem.count(text) == count)
  }

  @Test(
    arguments: [nil, "", "-1", "+1", "1.0", "1e3", "\"1\"", "1, 2", "1000000000000000", "?1", "x", "1 2"]
      as [String?])
  func `an invalid count counts as missing`(text: String?) {
    #expect(StructuredItem.count(text) == nil)
  }

  @Test func `a boolean is ?1 or ?0`() {
    for value in [true, false] { #expect(StructuredItem.boolean(StructuredItem.text(value)) == value) }
    for text in [nil, "", "1", "true", "?2", "?1, ?1", "?"] as [String?] {
      #expect(StructuredItem.boolean(text) == nil)
    }
  }

  @Test func `written limits can be read`() {
    let limit = UploadLimitField(
      maximumSize: 1, minimumSize: 2, maximumAppendSize: 3, minimumAppendSize: 4, maximumAge: 5)
    #expect(limit.fieldValue == "max-size=1, min-size=2, max-append-size=3, min-append-size=4, max-age=5")
    #expect(UploadLimitField(limit.fieldValue) == limit)
    #expect(UploadLimitField().fieldValue == "min-size=0")
    #expect(
      UploadLimitField("max-size=7, later=?1, max-age=9;x") == UploadLimitField(maximumSize: 7, maximumAge: 9)
    )
    #expect(UploadLimitField("") == UploadLimitField())
  }

  @Test(arguments: [
    "max-size=x", "max-size", "max-size=1.5", "max-size=-1", "max-size=(1 2)", "=", "max-size=1,,",
  ])
  func `malformed limits are nil`(text: String) {
    #expect(UploadLimitField(text) == nil)
  }
}
