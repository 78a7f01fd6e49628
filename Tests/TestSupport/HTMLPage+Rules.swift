extension HTMLPage {
  /// Violations of a strict content security policy, and obstacles for users of a screen reader or a keyboard.
  public var violations: [String] { policyViolations + referenceViolations + structureViolations }

  /// The elements with the name.
  public func all(_ name: String) -> [Element] { elements.filter { $0.name == name } }

  /// Markup that requires `unsafe-inline`, and resources from other servers.
  private var policyViolations: [String] {
    elements.flatMap { element -> [String] in
      var found = element.attributes.keys.filter { $0 == "style" || $0.lowercased().hasPrefix("on") }
        .map { "<\(element.name)> has \($0)" }
      if ["style", "iframe", "object", "embed", "base"].contains(element.name) {
        found.append("there is <\(element.name)>")
      }
      if element.name == "script", element.attributes["src"] == nil || !element.text.isEmpty {
        found.append("there is an inline script")
      }
      for name in ["src", "action"] {
        if let value = element.attributes[name], !value.hasPrefix("/") || value.hasPrefix("//") {
          found.append("\(name) leads elsewhere: \(value)")
        }
      }
      if let value = element.attributes["href"],
        !["/", "#"].contains(value.prefix(1)) || value.hasPrefix("//")
      {
        found.append("href leads elsewhere: \(value)")
      }
      if element.attributes["method"] == "post", element.name != "form" {
        found.append("method without a form")
      }
      return found
    }
  }

  /// References to ids that do not exist, and duplicate ids.
  private var referenceViolations: [String] {
    let ids = elements.compactMap { $0.attributes["id"] }
    var found = Dictionary(grouping: ids) { $0 }.filter { $0.value.count > 1 }.map {
      "the id \($0.key) twice"
    }
    for element in elements {
      for name in ["for", "aria-labelledby", "aria-describedby"] {
        for id in element.attributes[name]?.split(separator: " ") ?? [] where !ids.contains(String(id)) {
          found.append("\(name) names \(id), which does not exist")
        }
      }
      if let href = element.attributes["href"], href.hasPrefix("#"), !ids.contains(String(href.dropFirst())) {
        found.append("a link to \(href), which does not exist")
      }
    }
    return found
  }

  /// Elements without an accessible name or structure.
  private var structureViolations: [String] {
    var found: [String] = []
    for name in ["html", "main", "h1"] where all(name).count != 1 {
      found.append("\(all(name).count) <\(name)>")
    }
    if all("title").filter({ $0.ancestors.last == "head" }).count != 1 {
      found.append("no title, or several")
    }
    if all("html").first?.attributes["lang"] == nil { found.append("no language") }
    let levels = elements.compactMap { element in
      ["h1", "h2", "h3", "h4"].firstIndex(of: element.name).map { $0 + 1 }
    }
    for (level, next) in zip(levels, levels.dropFirst()) where next > level + 1 {
      found.append("<h\(next)> after <h\(level)>")
    }
    let labelled = Set(all("label").compactMap { $0.attributes["for"] })
    for element in elements {
      let attributes = element.attributes
      let hasName = attributes["aria-label"]?.isEmpty == false || attributes["aria-labelledby"] != nil
      switch element.name {
      case "input" where attributes["type"] != "hidden", "select":
        if !hasName, !labelled.contains(attributes["id"] ?? "") { found.append("a field without a label") }
      case "img" where attributes["alt"] == nil: found.append("a picture without a text")
      case "svg" where attributes["aria-hidden"] == nil && !hasName: found.append("a drawing without a name")
      case "th" where attributes["scope"] == nil: found.append("a head cell without a scope")
      case "a", "button", "summary", "h1", "h2", "h3":
        let isPicture = element.name == "a" && all("img").contains { $0.ancestors.last == "a" }
        if !hasName, !isPicture, element.text.allSatisfy(\.isWhitespace) {
          found.append("<\(element.name)> without a text")
        }
        if ["a", "button"].contains(element.name),
          element.ancestors.contains(where: { $0 == "a" || $0 == "button" })
        {
          found.append("<\(element.name)> in another one")
        }
      default: break
      }
    }
    if all("caption").count != all("table").count { found.append("a table without a caption") }
    return found
  }
}
