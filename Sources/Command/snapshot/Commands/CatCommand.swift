import ArgumentParser
import Foundation
import JSONText
import SnapshotClient
import SnapshotFormat
import SnapshotViewer
import SystemIO

struct CatCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "cat",
    abstract: "Prints a recording or another file of a snapshot.",
    discussion: """
      JSON and property lists are printed as JSON with one value in each line, everything else as it is. With --raw, the \
      bytes are printed unchanged.
      """)

  @Argument(help: "A UUID on the server, the address of a bundle, a bundle, or a snapshot's folder.")
  var snapshot: String

  @Argument(help: "The identifier of a recording, or the name of an attachment or another file.")
  var recording: String

  @Option(
    help: ArgumentHelp(
      "The call, if the recording has several; the last one by default.", valueName: "number"))
  var call: Int?

  @Option(
    help: ArgumentHelp("Print only the value at .user.balance or /user/balance.", valueName: "path"))
  var path: String?

  @Flag(
    help: "Print the bytes unchanged. With --path, a string without quotation marks and escape sequences.")
  var raw = false

  @OptionGroup var options: ReadingOptions

  func run() async throws {
    let source = SearchedSource(try await options.open(snapshot))
    let file = try source.file(named: recording, call: call)
    do {
      if raw, path == nil {
        let next = try file.open()
        while let piece = try next() { guard Console.print(bytes: piece) else { break } }
      } else {
        let scratch = try ScratchFolder()
        try withExtendedLifetime(scratch) { try print(file, in: scratch) }
      }
    } catch let error as BundleError {
      throw CommandFailure("\(error)", status: .refused)
    }
  }

  private func print(_ source: SearchedSource.File, in scratch: ScratchFolder) throws {
    let copy = try source.copy(in: scratch)
    let file: ViewedFile
    do {
      file = try ViewedFile(reading: ViewedBytes(copy), in: CopySpace(folder: scratch.url.path))
      if let document = file.document {
        try print(document)
        return
      }
      guard path == nil else {
        throw CommandFailure(
          "‘\(source.name)’ is neither JSON nor a property list, so it has no paths.", status: .refused)
      }
      try print(text: file.contents)
    } catch let error as ViewerError {
      throw CommandFailure("‘\(source.name)’ can't be read: \(error)")
    }
  }

  /// Prints a document, or the value in it that is asked for.
  private func print(_ document: JSONView) throws {
    var place = document.root
    if let path {
      guard let tokens = JSONPath.tokens(ofPointer: path) ?? JSONPath.tokens(ofPath: path) else {
        throw CommandFailure(
          "‘\(path)’ is not a path such as .items[0].name or /items/0/name.", status: .refused)
      }
      guard let found = try document.place(at: tokens) else {
        throw CommandFailure("There is no value at \(path).", status: .refused)
      }
      place = found
    }
    if raw, var page = try JSONStringPage(document, place) {
      Console.print(bytes: Array(page.text.utf8))
      while let next = page.next, let more = try JSONStringPage(document, place, from: next) {
        Console.print(bytes: Array(more.text.utf8))
        page = more
      }
      Console.print("")
      return
    }
    let range = try document.range(of: place)
    var printer = JSONPrinter()
    var offset = range.lowerBound
    while offset < range.upperBound {
      let piece = try document.bytes.read(upTo: min(1 << 17, range.upperBound - offset), at: offset)
      guard !piece.isEmpty else { break }
      offset += piece.count
      guard raw ? Console.print(bytes: piece) : Self.print(json: try printer.take(piece)) else { return }
    }
    if raw { Console.print("") } else { _ = Self.print(json: try printer.finish()) }
  }

  private static func print(json bytes: [UInt8]) -> Bool {
    guard Console.outputIsTerminal else { return Console.print(bytes: bytes) }
    return Console.print(bytes: Array(Console.escapedJSON(String(decoding: bytes, as: UTF8.self)).utf8))
  }

  /// Prints a text. On a terminal, what could control it is escaped, and other bytes are refused.
  private func print(text bytes: ViewedBytes) throws {
    let head = ContentHead(try bytes.read(upTo: ContentHead.length, at: 0))
    guard head.isText || !Console.outputIsTerminal else {
      throw CommandFailure(
        "‘\(recording)’ is no text; print it with --raw into a file or a pipe.", status: .refused)
    }
    var offset = 0
    var rest: [UInt8] = []
    while offset < bytes.size {
      let piece = try bytes.read(upTo: 1 << 17, at: offset)
      guard !piece.isEmpty else { break }
      offset += piece.count
      guard Console.outputIsTerminal else {
        guard Console.print(bytes: piece) else { return }
        continue
      }
      let lines = (rest + piece).split(separator: 0x0A, omittingEmptySubsequences: false)
      rest = lines.last.map(Array.init) ?? []
      for line in lines.dropLast() { Console.print(Console.escaped(String(decoding: line, as: UTF8.self))) }
    }
    if !rest.isEmpty { Console.print(Console.escaped(String(decoding: rest, as: UTF8.self))) }
  }
}
