#if canImport(CCurl)
  import Foundation
  import SystemIO

  /// Reads a request's body in pieces.
  struct BodySource {
    private enum Kind {
      case bytes(Data)
      case file(File)
    }

    /// The declared length; `nil` if there is no body.
    let length: Int64?
    /// The number of bytes read so far.
    private(set) var offset: Int64 = 0
    private let kind: Kind
    /// The offset of the body's first byte in the file.
    private var start: Int64 = 0

    /// Opens the file if the body is in one.
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
          throw .file("\(url.path) has \(size) bytes, but the request needs \(range.upperBound)")
        }
        kind = .file(file)
        start = range.lowerBound
        length = range.upperBound - range.lowerBound
      }
    }

    /// Fills `buffer`, at most up to the declared length. Returns the number of bytes, which is 0 at the end.
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

    /// Continues at `position`. Returns `false` if it is outside the body.
    mutating func seek(to position: Int64) -> Bool {
      guard (0...(length ?? 0)).contains(position) else { return false }
      offset = position
      return true
    }

    private static func open(_ url: URL) throws(TransportError) -> File {
      let path = url.resolvingSymlinksInPath().path
      // The type is checked before opening, because opening a pipe waits for its other end.
      guard Folder.isRegularFile(path) else { throw .file("\(url.path) is not a regular file") }
      do { return try File(path, .read) } catch { throw .file(error.description) }
    }
  }
#endif
