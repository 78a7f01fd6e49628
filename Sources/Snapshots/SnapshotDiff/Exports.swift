// The place of a difference is a `JSONPath`. The re-export lets clients use that type without importing its module.
@_exported public import JSONText
