#if canImport(CCurl)
  import Foundation
  import HTTPTransport
  import SystemIO

  /// Gives out a request's body piece by piece.
  struct BodySource {
    private enum Kind {
      case bytes(Data)
      case file(File)
    }

    /// The length that is declared; `nil` where there is no body.
    let length: Int64?
    /// How many bytes have been given out.
    private(set) var offset: Int64 = 0
    private let kind: Kind
    /// Where in the file the body begins.
    private var start: Int64 = 0

    /// Opens the file, where the body is one.
    init(_ body: TransportBody) throws(TransportError) {
      switch body {
      case .none:
        kind = .bytes(Data())
        length = nil
      case .bytes(let data):
        kind = .bytes(data)
        length = Int64(data.count)
      case .file(let url):
        let file = try Self.open(url)
        do { length = try file.size } catch { throw .file(error.description) }
        kind = .file(file)
      case .part(of: let url, let range):
        let file = try Self.open(url)
        let size: Int64
        do { size = try file.size } catch { throw .file(error.description) }
        guard range.lowerBound >= 0, range.upperBound <= size else {
          throw .file("\(url.path) has \(size) bytes instead of \(range.upperBound) and more")
        }
        kind = .file(file)
        start = range.lowerBound
        length = range.upperBound - range.lowerBound
      }
    }

    /// Fills `buffer` as far as the declared length goes; 0 at the end.
    mutating func read(into buffer: UnsafeMutableRawBufferPointer) throws(TransportError) -> Int {
      let wanted = Int(min(Int64(buffer.count), (length ?? 0) - offset))
      guard wanted > 0 else { return 0 }
      let target = UnsafeMutableRawBufferPointer(rebasing: buffer[..<wanted])
      switch kind {
      case .bytes(let data):
        let first = data.startIndex + Int(offset)
        target.copyBytes(from: data[first..<first + wanted])
      case .file(let file):
        let count: Int
        do { count = try file.read(into: target, at: start + offset) } catch {
          throw .file(error.description)
        }
        guard count == wanted else { throw .file("\(file.path) got shorter while it was sent") }
      }
      offset += Int64(wanted)
      return wanted
    }

    /// Goes on at `position`; `false` where there is no such place.
    mutating func seek(to position: Int64) -> Bool {
      guard (0...(length ?? 0)).contains(position) else { return false }
      offset = position
      return true
    }

    private static func open(_ url: URL) throws(TransportError) -> File {
      let path = url.resolvingSymlinksInPath().path
      // Looked at first, since to open a pipe would wait for its other end.
      guard Folder.isRegularFile(path) else { throw .file("\(url.path) is not a regular file") }
      do { return try File(path, .read) } catch { throw .file(error.description) }
    }
  }
#endif
