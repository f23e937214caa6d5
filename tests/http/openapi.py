"""The OpenAPI document with its shared components written out where they are referred to."""

SHARED = ("parameters", "headers")  # what several operations share


def written_out(document):
    components = document["components"]

    def replaced(node):
        if isinstance(node, list):
            return [replaced(item) for item in node]
        if not isinstance(node, dict):
            return node
        if "$ref" in node:
            kind, name = node["$ref"].split("/")[-2:]
            if kind in SHARED:
                return replaced(components[kind][name])
        return {name: replaced(value) for name, value in node.items()}

    return replaced(document)
