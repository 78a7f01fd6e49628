public import Foundation

/// Makes archives as the server has them.
public enum NewsArchive {
  /// An archive of at least `bytes` bytes, in which one article has no author, and the number of its articles.
  public static func make(bytes: Int) -> (data: Data, articles: Int) {
    var json = Data("[\n".utf8)
    json.reserveCapacity(bytes + 1024)
    var number = 0
    while json.count < bytes {
      number += 1
      json += Data(
        #"{"title":"Article \#(number) of the archive","author":"Author \#(number % 977)"},"#.utf8)
      json.append(UInt8(ascii: "\n"))
    }
    json += Data(#"{"title":"A letter to the editor","author":null}]"#.utf8)
    return (json, number + 1)
  }
}
