import SnapshotSealing

extension FuzzedParser {
  /// A file gives the same contents or error for every split of the input and by random access, no more bytes than it
  /// has, and its header is written as it was read.
  func checkSealedFile(_ input: [UInt8]) throws {
    // The identity of the seeds: 32 bytes 0x42.
    let identity = try SealingIdentity(
      "AGE-SECRET-KEY-1GFPYYSJZGFPYYSJZGFPYYSJZGFPYYSJZGFPYYSJZGFPYYSJZGFPQ4EGAEX")
    let whole = Self.open(input, .whole, identity)
    for splits in [Splits.bytes, .pieces] {
      let opened = Self.open(input, splits, identity)
      try require(opened == whole, "\(opened) in \(splits), \(whole) as a whole")
    }
    try require(whole.contents.count < max(1, input.count), "more bytes than the file has")
    let header: SealedHeader?
    do throws(SealingError) {
      header = try SealedHeader.parse(input)
    } catch {
      return try require(whole.error == error, "\(whole), although the header alone gives \(error)")
    }
    if let header {
      try require(
        header.bytes.elementsEqual(input.prefix(header.size)), "the header is written in another way")
    }
    do {
      let reader = try SealedReader(sealedSize: Int64(input.count), with: [identity]) {
        Array(input.dropFirst(Int($0)).prefix($1))
      }
      let contents = try reader.read(at: 0, count: .max)
      try require(
        whole.error == nil && whole.contents == contents, "\(whole), and \(contents) by random access")
    } catch is SealingError {
      try require(whole.error != nil, "it can't be opened by random access")
    }
  }

  private struct Opened: Equatable {
    var contents: [UInt8] = []
    var error: SealingError?
  }

  private static func open(_ input: [UInt8], _ splits: Splits, _ identity: SealingIdentity) -> Opened {
    var unsealer = Unsealer(with: [identity])
    var opened = Opened()
    do throws(SealingError) {
      for piece in splits.pieces(of: input) { opened.contents += try unsealer.open(piece) }
      opened.contents += try unsealer.finish()
    } catch {
      opened.error = error
    }
    return opened
  }
}
