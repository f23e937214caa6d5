"""A scheme's example query and defaults, read from its description in /v1/schemes."""

import json
from urllib.parse import quote


def example(scheme):
    """The scheme's small legal query: {name: text}."""
    return dict(pair.split("=") for pair in scheme["example"].split("&"))


def text_of(value):
    """A JSON value as a query writes it."""
    if isinstance(value, list):
        return ",".join(text_of(item) for item in value)
    return value if isinstance(value, str) else json.dumps(value)


def query_of(values):
    """A query string of {name: text}."""
    return "&".join(f"{name}={quote(text, ',')}" for name, text in values.items())


def value_of(row, text):
    """A query's text as the JSON value that a parameter's row makes of it."""
    if row["type"] == "array":
        return [json.loads(item) for item in text.split(",")]
    return text if row["type"] == "string" else json.loads(text)


def rule_for(row, values):
    """The rule for a parameter (whether it is required, its default): the row itself, or the
    case of the choice in `values`; None if the choice does not allow the parameter."""
    if "when" not in row:
        return row
    cases = {case["choice"]: case for case in row["when"]["cases"]}
    return cases.get(values[row["when"]["parameter"]])


def computed(formula, values):
    """The value of a formula "a", "a * b" or "a - b"; None if a name has no value."""
    name, operation, other = (formula.split(" ") + [None, None])[:3]
    numbers = [values.get(name), values.get(other)] if other else [values.get(name)]
    if None in numbers:
        return None
    if operation is None:
        return numbers[0]
    return numbers[0] * numbers[1] if operation == "*" else numbers[0] - numbers[1]


def after_defaulting(scheme, given):
    """{name: JSON value} of every parameter of a request given as texts; None if it is
    absent."""
    values = {}
    for row in scheme["parameters"]:  # a default depends on earlier rows only
        name = row["name"]
        rule = rule_for(row, values)
        values[name] = None
        if name in given:
            values[name] = value_of(row, given[name])
        elif rule is None or row.get("unless") in given:
            continue
        elif rule["default"] is not None:
            values[name] = rule["default"]
        elif "default_of" in row:
            values[name] = computed(row["default_of"], values)
    return values


def stated(scheme, given):
    """The same request with every default written out: {name: text}."""
    values = after_defaulting(scheme, given)
    return {name: text_of(value) for name, value in values.items() if value is not None}


def misspelt(name, random):
    """The name with one character lost, doubled, replaced or swapped, or in capitals."""
    at = random.randrange(len(name))
    return random.choice(
        [
            name[:at] + name[at + 1 :],
            name[:at] + name[at] + name[at:],
            name[:at] + random.choice("abz_0") + name[at + 1 :],
            name[: at - 1] + name[at - 1 : at + 1][::-1] + name[at + 1 :],
            name.upper(),
        ]
    )
