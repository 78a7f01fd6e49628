// The place of a difference is a `JSONPath`: a client that imports this module can use it.
@_exported public import JSONText
