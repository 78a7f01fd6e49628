import JSONText
import SnapshotFormat
import SnapshotViewer

/// The form for a search in a file, its matches, and one match in its place.
extension PreviewPage {
  /// The form for a search. In the bytes of a file that is not text, its values are searched.
  func findFields(_ links: FileLinks) -> Fields {
    let isText = preview.views.contains(.text) && (preview.view == .text || preview.view == .hex)
    return [
      "action": links.path(FileSelection()), "field": PageField.find.rawValue, "text": selection.find,
      "hidden": hiddenFields(isText: isText), "help": PagePath.article("search").description,
      "label": isText ? "Find in the text" : "Find a key, a value or a path", "hasForms": !isText,
    ]
  }

  /// What the form keeps of the address, as its other fields.
  private func hiddenFields(isText: Bool) -> [Fields] {
    var pairs: [(PageField, String)] = isText ? [(.view, FileSelection.View.text.rawValue)] : []
    if let decode = selection.decode { pairs.append((.decode, decode)) }
    if let with = selection.with { pairs.append((.with, with.description)) }
    return (pairs + selection.list.pairs).map { ["hiddenName": $0.0.rawValue, "hiddenValue": $0.1] }
  }

  /// The list of matches.
  func found(_ hits: [Fields], from: Int, count: Int, isCut: Bool, _ links: FileLinks) -> Fields {
    [
      "hits": hits.enumerated().map { index, hit in
        var hit = hit
        hit["href"] = links.hit(from + index + 1)
        return hit
      },
      "summary": count == 0
        ? "Nothing was found." : (isCut ? "More than " : "") + Measures.count(count, "hit"),
    ]
  }

  /// The number of the match that is shown, and the links to its neighbours.
  func hitFields(_ hit: FilePreview.Hit, _ links: FileLinks) -> Fields {
    let number = Measures.number(hit.number)
    let count = (hit.isCut ? "more than " : "") + Measures.number(hit.count)
    var list = selection.starting(
      at: (hit.number - 1) / FilePreview.Limits.default.hits * FilePreview.Limits.default.hits)
    list.pointer = ""
    let place =
      switch hit.place {
      case .value(let path, _): path.description
      case .line(let line): "line \(Measures.number(line + 1))"
      }
    return [
      "position": "Hit \(number) of \(count)", "place": PageText.cut(place, to: 400).text,
      "excerpt": excerpt(hit.excerpt), "list": links.path(list),
      "previous": hit.number > 1 ? links.hit(hit.number - 1) : nil,
      "next": hit.number < hit.count ? links.hit(hit.number + 1) : nil,
    ]
  }

  /// A match with the text around it.
  func excerpt(_ excerpt: Excerpt) -> Fields {
    [
      "before": PageText.inline(excerpt.before), "match": PageText.inline(excerpt.match),
      "after": PageText.inline(excerpt.after),
    ]
  }
}
