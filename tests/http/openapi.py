"""The OpenAPI document with its shared components written out where they are referred to."""

SHARED = ("parameters", "headers")


def is_shared(kind, name):
    """Whether a component is what several operations share: a parameter, a header, or a member
    of bodies, whose name is in small letters. Other schemas have names of their own."""
    return kind in SHARED or (kind == "schemas" and name[0].islower())


def written_out(document):
    components = document["components"]

    def replaced(node):
        if isinstance(node, list):
            return [replaced(item) for item in node]
        if not isinstance(node, dict):
            return node
        if "$ref" in node:
            kind, name = node["$ref"].split("/")[-2:]
            if is_shared(kind, name):
                return replaced(components[kind][name])
        return {name: replaced(value) for name, value in node.items()}

    return replaced(document)
