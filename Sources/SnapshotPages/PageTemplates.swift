import Mustache

/// The templates of all pages, read once.
enum PageTemplates {
  static func template(_ source: [UInt8]) throws -> MustacheTemplate {
    try MustacheTemplate(string: String(decoding: source, as: UTF8.self))
  }
}
