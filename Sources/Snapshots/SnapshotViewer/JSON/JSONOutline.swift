/// The part of a document that one page shows: a container with its children, and the children of as many containers
/// inside as there is space for, in the document's order.
package struct JSONOutline: Sendable {
  /// Limits for one page.
  package struct Limits: Sendable, Hashable {
    /// The maximum number of children of the shown container.
    package var children = 100
    /// The maximum numbers of children of a container inside.
    package var members = 100
    package var elements = 20
    /// The number of values up to which containers inside are opened.
    package var values = 500
    /// The maximum number of levels below the shown container.
    package var depth = 24

    /// Creates limits with the default values.
    package init() {}
  }

  /// A value, and what is shown of it.
  package struct Node: Sendable {
    /// The value.
    package let child: JSONChild
    /// Its children, if it is open. Other containers are shown by their preview.
    package internal(set) var contents: Contents?
  }

  /// A range of the children of a container.
  package struct Contents: Sendable {
    /// The children.
    package internal(set) var nodes: [Node]
    /// The index of the first of them.
    package let from: Int
    /// The number of all children of the container.
    package let count: Int

    /// The number of children after the shown ones.
    package var rest: Int { max(0, count - from - nodes.count) }
  }

  /// The shown value.
  package let root: Node

  /// Reads what a page shows of the value at `place`, from its child `from` on.
  package init(_ view: JSONView, _ place: JSONPlace, from: Int = 0, limits: Limits = Limits())
    throws(ViewerError)
  {
    var root = Node(child: try view.value(at: place))
    var left = limits.values
    if let count = root.child.value.childCount {
      let children = try view.children(of: place, from: from, limit: limits.children)
      left -= children.count
      root.contents = Contents(nodes: children.map { Node(child: $0) }, from: from, count: count)
      try Self.open(&root, in: view, depth: limits.depth, &left, limits)
    }
    self.root = root
  }

  /// Opens the containers in `node`.
  private static func open(
    _ node: inout Node, in view: JSONView, depth: Int, _ left: inout Int, _ limits: Limits
  ) throws(ViewerError) {
    guard depth > 0, var contents = node.contents else { return }
    for index in contents.nodes.indices where left > 0 {
      let child = contents.nodes[index].child
      guard let preview = child.value.preview, preview.count > 0, !preview.isShort else { continue }
      // Its path is unknown, so nothing in it could be linked.
      guard !child.isKeyCut else { continue }
      let most = if case .object = child.value { limits.members } else { limits.elements }
      let children = try view.children(of: child.place, from: 0, limit: most)
      left -= children.count
      contents.nodes[index].contents = Contents(
        nodes: children.map { Node(child: $0) }, from: 0, count: preview.count)
      try open(&contents.nodes[index], in: view, depth: depth - 1, &left, limits)
    }
    node.contents = contents
  }
}

extension JSONChild.Value {
  /// The preview of a container.
  package var preview: JSONPreview? {
    switch self {
    case .object(let preview), .array(let preview): preview
    case .string, .number, .literal: nil
    }
  }

  /// The number of children of a container.
  package var childCount: Int? { preview?.count }
}

extension JSONPreview {
  /// Whether the container is shown in one line, because it contains only a few short values.
  package var isShort: Bool {
    isComplete && items.reduce(0) { $0 + $1.text.utf8.count + ($1.key?.utf8.count ?? 0) + 4 } <= 80
  }
}
