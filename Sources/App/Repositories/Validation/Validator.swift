/// A rule for a value, composed of smaller rules. It describes each problem and its path.
///
///     let tripRules: Validator<Trip> = .all(
///       .at("name", \.name, "is empty") { !$0.isEmpty },
///       .at("dates", \.dates, .each("has negative length") { $0.end >= $0.start }),
///       Validator("ends before it begins") { $0.end >= $0.start })
///
/// All rules run in one pass, each exactly once, even if earlier rules found problems.
public struct Validator<Value>: Sendable {
  let check: @Sendable (Value, inout Validation) -> Void

  /// A rule that reports any number of problems itself.
  public init(_ check: @escaping @Sendable (_ value: Value, _ validation: inout Validation) -> Void) {
    self.check = check
  }

  /// A rule with one condition.
  /// - Parameters:
  ///   - words: the problem if the condition is false, such as "date list has negative length".
  ///   - isValid: the condition.
  public init(_ words: String, _ isValid: @escaping @Sendable (Value) -> Bool) {
    self.init { value, validation in
      if !isValid(value) { validation.fail(words) }
    }
  }

  /// Combines several rules.
  public static func all(_ validators: Validator<Value>...) -> Validator<Value> {
    Validator { value, validation in
      for validator in validators { validator.check(value, &validation) }
    }
  }

  /// Rules for a part of the value.
  /// - Parameters:
  ///   - name: the part's name in the paths of problems.
  ///   - part: returns the part; usually a key path.
  ///   - validators: the part's rules.
  public static func at<Part>(
    _ name: String, _ part: @escaping @Sendable (Value) -> Part, _ validators: Validator<Part>...
  ) -> Validator<Value> {
    Validator { value, validation in
      let part = part(value)
      validation.enter(name) { validation in
        for validator in validators { validator.check(part, &validation) }
      }
    }
  }

  /// A rule with one condition for a part of the value.
  public static func at<Part>(
    _ name: String, _ part: @escaping @Sendable (Value) -> Part, _ words: String,
    _ isValid: @escaping @Sendable (Part) -> Bool
  ) -> Validator<Value> {
    at(name, part, Validator<Part>(words, isValid))
  }

  /// Rules for each element; the path contains the element's index.
  public static func each<Element>(_ validators: Validator<Element>...) -> Validator<Value>
  where Value == [Element] {
    Validator { value, validation in
      for (index, element) in value.enumerated() {
        validation.enter("[\(index)]") { validation in
          for validator in validators { validator.check(element, &validation) }
        }
      }
    }
  }

  /// A rule with one condition for each element; the path contains the element's index.
  public static func each<Element>(
    _ words: String, _ isValid: @escaping @Sendable (Element) -> Bool
  ) -> Validator<Value> where Value == [Element] {
    each(Validator<Element>(words, isValid))
  }

  /// Rules for the wrapped value; `nil` is valid.
  public static func ifPresent<Wrapped>(_ validators: Validator<Wrapped>...) -> Validator<Value>
  where Value == Wrapped? {
    Validator { value, validation in
      guard let value else { return }
      for validator in validators { validator.check(value, &validation) }
    }
  }
}
