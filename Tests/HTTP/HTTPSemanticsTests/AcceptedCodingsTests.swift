import HTTPSemantics
import HTTPTypes
import Testing

@Suite struct AcceptedCodingsTests {
  private func prefersGzip(_ field: String?) -> Bool {
    var fields: HTTPFields = [:]
    fields[.acceptEncoding] = field
    return AcceptedCodings(fields).prefers("gzip")
  }

  @Test(arguments: [
    "gzip", "GZIP", "x-gzip", "gzip, deflate, br", "br;q=1.0, gzip;q=0.8", "gzip;q=0.001", "*", "*;q=0.5",
    "identity;q=0.5, gzip", "gzip;q=1.000,identity;q=1", ",, gzip ,", "gzip ; q=1", "identity;q=0, *",
  ])
  func `gzip is preferred`(field: String) {
    #expect(prefersGzip(field))
  }

  @Test(arguments: [
    nil, "", "identity", "br", "deflate", "gzip;q=0", "gzip;q=0.000", "*;q=0", "gzip;q=0, *",
    "gzip;q=0.5, identity", "gzip;q=0.5, *", "gzip;q=2", "gzip;q=-1", "gzip;q=0.1234", "gzip;q=x", "gzip;q=",
    "gzip;q=1.001", "gzip gzip", "gzip;q=1;q=1", "\"gzip\"", "gzipp",
  ])
  func `gzip is not preferred, or the field is malformed`(field: String?) {
    #expect(!prefersGzip(field))
  }
}
