/// A page of the documentation as HTML, without the layout around it, which depends on the visitor.
package struct RenderedDocument: Sendable {
  /// The comment in the template `document` that the HTML replaces.
  static let place = "<!--article-->"

  let title: String
  let html: String
}
