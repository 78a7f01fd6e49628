package import Foundation
import HTTPSemantics
import HTTPClient
import HTTPTypes
import SystemIO

/// An object in a list.
package struct S3ListedObject: Sendable, Hashable {
  /// The key without the client's prefix.
  package let key: String
  /// The length in bytes.
  package let size: Int64
  /// When the object was written.
  package let modifiedAt: Date

  /// Creates an object from its parts.
  package init(key: String, size: Int64, modifiedAt: Date) {
    self.key = key
    self.size = size
    self.modifiedAt = modifiedAt
  }
}

/// One page of a list of objects.
package struct S3ObjectPage: Sendable, Hashable {
  /// The objects, by their keys in ascending order of their bytes.
  package let objects: [S3ListedObject]
  /// Continues the list; `nil` on the last page.
  package let next: String?
}

extension S3Client {
  /// Lists objects whose keys begin with `prefix`, which can be empty.
  /// - Parameters:
  ///   - prefix: the beginning of the keys, below the client's prefix.
  ///   - next: ``S3ObjectPage/next`` of the previous page; `nil` for the first page.
  ///   - limit: the maximum number of objects, 1 to ``S3Limits/pageLength``.
  package func list(
    prefix: String, after next: String? = nil, limit: Int = S3Limits.pageLength
  ) async throws(S3Error) -> S3ObjectPage {
    var query = [
      ("list-type", "2"), ("encoding-type", "url"), ("prefix", configuration.prefix + prefix),
      ("max-keys", "\(min(max(limit, 1), S3Limits.pageLength))"),
    ]
    if let next { query.append(("continuation-token", next)) }
    let document = try await document(of: S3Request(.get, nil, query: query), named: "ListBucketResult")
    var objects: [S3ListedObject] = []
    for element in document.all("Contents") {
      guard let key = element["Key"], let size = element["Size"].flatMap({ Int64($0) }),
        let modified = element["LastModified"]
      else { throw .malformedAnswer("an object in a list is incomplete") }
      objects.append(
        S3ListedObject(key: try relativeKey(key), size: size, modifiedAt: try date(modified)))
    }
    guard document["IsTruncated"] == "true" else { return S3ObjectPage(objects: objects, next: nil) }
    guard let next = document["NextContinuationToken"], !next.isEmpty else {
      throw .malformedAnswer("a list is truncated and can't be continued")
    }
    return S3ObjectPage(objects: objects, next: next)
  }

  /// Passes all objects whose keys begin with `prefix` to `visit`, page by page.
  package func forEachPage(
    prefix: String, _ visit: ([S3ListedObject]) async throws(S3Error) -> Void
  ) async throws(S3Error) {
    var next: String?
    repeat {
      let page = try await list(prefix: prefix, after: next)
      try await visit(page.objects)
      next = page.next
    } while next != nil
  }

  /// The key in a list, without the client's prefix.
  func relativeKey(_ encoded: String) throws(S3Error) -> String {
    let key = try decodedKey(encoded)
    guard key.hasPrefix(configuration.prefix) else {
      throw .malformedAnswer("a key in a list has another prefix")
    }
    return String(key.dropFirst(configuration.prefix.count))
  }

  /// The key in a list, which was requested with an encoding because XML lacks some characters.
  func decodedKey(_ encoded: String) throws(S3Error) -> String {
    do {
      return try PercentCoding.decode(encoded[...], plusIsSpace: true)
    } catch {
      throw .malformedAnswer("a key in a list \(error.words)")
    }
  }

  /// A time in a list.
  func date(_ text: String) throws(S3Error) -> Date {
    guard let milliseconds = UTCTime.milliseconds(rfc3339: Array(text.utf8)[...]) else {
      throw .malformedAnswer("a time in a list is invalid")
    }
    return Date(timeIntervalSince1970: Double(milliseconds) / 1000)
  }

  /// Sends a request that is answered with an XML document.
  func document(of request: S3Request, named name: String) async throws(S3Error) -> XMLElement {
    let response = try await send(request)
    do throws(XMLElement.Malformation) {
      let document = try XMLElement(document: response.body)
      guard document.name == name else { throw XMLElement.Malformation(reason: "it is a \(document.name)") }
      return document
    } catch {
      throw .malformedAnswer(error.reason)
    }
  }
}
