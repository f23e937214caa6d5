"""Documents about the service: /v1/info, /health, /openapi.json."""

import json
import re
import struct
import unittest
from collections import Counter

from openapi import written_out
from registry import example, query_of, text_of
from server import ServerCase, run

LIMITS = {
    "cache-bytes": 2 << 20,
    "max-elements": 5000,
    "json-max-elements": 4000,
    "png-max-pixels": 6000,
    "max-list-length": 300,
    "max-target-bytes": 2000,
    "max-body-bytes": 1000,
    "max-upload-bytes": 3000,
    "max-store-bytes": 100000,
    "max-stored-sets": 3,
    "set-cache-bytes": 0,
    "max-connections": 64,
}


VERB_AND_OBJECT = (
    r"\A(get|list|post|put|delete|compare|identify|convert|apply|plan|check)_[a-z0-9_]+\Z"
)


class Info(ServerCase):
    flags = tuple(text for name, value in LIMITS.items() for text in (f"--{name}", str(value)))

    def test_info_publishes_the_limits_that_the_flags_set(self):
        document = self.assert_ok(self.get("/v1/info"), "application/json").json()
        published = {name: limit["value"] for name, limit in document["limits"].items()}
        self.assertLessEqual(LIMITS.items(), published.items())
        for limit in document["limits"].values():
            self.assertTrue(limit["unit"] and limit["help"])

    def test_every_flag_that_is_a_limit_is_published(self):
        flags = re.findall(r"^ *--([\w-]+)", run("--help").stdout, re.MULTILINE)
        limit = re.compile(r"(^|-)(max|min|compute|seconds|bytes)(-|$)")
        limits = {name for name in flags if limit.search(name)}
        self.assertGreater(len(limits), 20)
        self.assertEqual(limits, set(self.get("/v1/info").json()["limits"]))

    def test_the_published_limits_are_the_ones_that_hold(self):
        encoding = "/v1/encodings/integer"
        self.assert_ok(self.get(f"{encoding}?length=5000&format=raw"))
        self.assert_problem(self.get(f"{encoding}?length=5001&format=raw"), 422, "length")
        self.assert_ok(self.get(f"{encoding}?length=4000&format=json"))
        self.assert_problem(self.get(f"{encoding}?length=4001&format=json"), 422, "format")
        self.assert_problem(self.get(f"{encoding}?length=4001&format=csv"), 422, "format")
        self.assert_ok(self.get(f"{encoding}?length=1500&format=png&scale=2"))
        self.assert_problem(
            self.get(f"{encoding}?length=1501&format=png&scale=2"), 422, "format"
        )
        self.assert_ok(self.get(f"{encoding}?positions=0{',0' * 299}"))
        self.assert_problem(self.get(f"{encoding}?positions=0{',0' * 300}"), 422, "positions")
        self.assert_problem(self.get(f"/{'a' * 2000}"), 414)
        self.assert_problem(self.post(encoding, b'{"length": 4}'.ljust(1001)), 413)
        metrics = self.server.metrics()
        self.assertEqual(metrics["posenc_cache_budget_bytes"], LIMITS["cache-bytes"])

    def test_info_names_version_formats_and_dtypes(self):
        document = self.get("/v1/info").json()
        self.assertEqual(document["name"], "posenc")
        self.assertRegex(document["version"], r"\A\d+\.\d+\.\d+\Z")
        formats = {entry["name"]: entry["media_type"] for entry in document["formats"]}
        self.assertEqual(
            formats,
            {
                "json": "application/json",
                "npy": "application/x-npy",
                "safetensors": "application/vnd.safetensors",
                "raw": "application/octet-stream",
                "csv": "text/csv",
                "png": "image/png",
            },
        )
        self.assertEqual(set(document["dtypes"]), {"f32", "f64", "f16", "bf16"})


class Health(ServerCase):
    def test_a_running_server_is_live_and_ready(self):
        for name in ("live", "ready"):
            reply = self.assert_ok(self.get(f"/health/{name}"), "application/json")
            self.assertEqual(reply.json()["status"], name)
            self.assertEqual(reply.header("Cache-Control"), "no-store")


class OpenApi(ServerCase):
    def setUp(self):
        self.served = self.assert_ok(self.get("/openapi.json"), "application/json").json()
        self.document = written_out(self.served)
        self.schemes = self.get("/v1/schemes").json()["schemes"]

    def operations(self):
        for path, item in self.document["paths"].items():
            for method, operation in item.items():
                yield path, method, operation

    def tables(self):
        """(path, scheme) of every scheme's own path."""
        for scheme in self.schemes:
            yield f"/v1/encodings/{scheme['name']}", scheme

    def resolved(self, kind, node):
        """The component that a $ref names, or the node itself."""
        if "$ref" not in node:
            return node
        return self.document["components"][kind][node["$ref"].rsplit("/", 1)[1]]

    def response(self, operation, status):
        if status in operation["responses"]:
            return self.resolved("responses", operation["responses"][status])
        return self.resolved("x-responses", operation["x-responses"][status])

    def headers_of(self, operation):
        """The names of the request headers that an operation describes."""
        given = [self.resolved("parameters", node) for node in operation["parameters"]]
        return {parameter["name"] for parameter in given if parameter["in"] == "header"}

    def query(self, path):
        """{name: parameter object} of a path's GET."""
        operation = self.document["paths"][path]["get"]
        given = operation["parameters"]
        return {
            parameter["name"]: parameter for parameter in given if parameter["in"] == "query"
        }

    def test_conditions_ranges_and_codings_are_described(self):
        for path, _ in self.tables():
            get, post = (self.document["paths"][path][method] for method in ("get", "post"))
            conditions = {"If-Match", "If-None-Match", "If-Range", "Range"}
            ids = {"X-Request-Id", "traceparent"}
            self.assertEqual(self.headers_of(get), {"Accept-Encoding", *conditions, *ids})
            self.assertEqual(self.headers_of(post), {"Accept-Encoding", *ids})
            self.assertIn("Content-Encoding", self.response(get, "200")["headers"])
            for status, problem in (("206", False), ("416", True)):
                response = self.response(get, status)
                self.assertTrue(response["headers"]["Content-Range"]["required"])
                self.assertEqual("application/problem+json" in response["content"], problem)
            self.assertNotIn("application/json", self.response(get, "206")["content"])

    def properties(self, path):
        """The members of a path's JSON body."""
        body = self.document["paths"][path]["post"]["requestBody"]
        return body["content"]["application/json"]["schema"]["properties"]

    def test_the_document_is_openapi_3_1(self):
        self.assertEqual(self.document["openapi"], "3.1.0")
        version = self.get("/v1/info").json()["version"]
        self.assertEqual(self.document["info"]["version"], version)
        self.assertTrue(self.document["info"]["title"])

    def test_every_path_is_there_with_its_methods(self):
        expected = {"/v1/schemes", "/v1/schemes/{scheme}", "/v1/info", "/health/live"}
        expected |= {
            "/health/ready",
            "/metrics",
            "/openapi.json",
            "/",
            "/docs",
            "/assets/{file}",
        }
        expected |= {"/v1/models/{model}"}
        others = {
            "/v1/encodings/{scheme}": {"get", "post"},
            "/v1/similarity/{scheme}": {"get", "post"},
            "/v1/sets": {"get"},
            "/v1/sets/{name}": {"get", "put", "delete"},
            "/v1/parameters": {"get"},
            "/v1/parameters/{name}": {"get", "put", "delete"},
            "/v1/batch": {"post"},
            "/v1/compare/{scheme}": {"post"},
            "/v1/identify": {"post"},
            "/v1/convert/rope": {"post"},
            "/v1/apply/{scheme}": {"post"},
            "/v1/apply": {"post"},
            "/v1/models": {"get", "post"},
            "/v1/models/compare": {"post"},
        }
        tables = {path for path, _ in self.tables()}
        self.assertEqual(set(self.document["paths"]), expected | tables | set(others))
        for path, item in self.document["paths"].items():
            plain = others.get(path, {"get"})
            self.assertEqual(set(item), {"get", "post"} if path in tables else plain, path)

    def test_a_scheme_has_a_similarity_if_its_example_is_answered(self):
        refused = 0
        for scheme in self.schemes:
            target = f"/v1/similarity/{scheme['name']}?{scheme['example']}&metric=l2"
            if scheme["similarity"]:
                self.assert_ok(self.get(target))
            else:
                self.assert_problem(self.get(target), 422, "scheme")
                refused += 1
        self.assertGreater(refused, 0)
        self.assertLess(refused, len(self.schemes) // 2 + 1)

    def test_operations_have_ids_summaries_and_responses(self):
        tags = {tag["name"] for tag in self.document["tags"]}
        for path, method, operation in self.operations():
            self.assertRegex(operation["operationId"], VERB_AND_OBJECT)
            self.assertTrue(operation["summary"])
            self.assertLessEqual(set(operation["tags"]), tags)
            self.check_statuses(path, method, operation)

    def check_statuses(self, path, method, operation):
        statuses = set(operation["responses"])
        successes = {"put": {"201", "204"}, "delete": {"204"}}.get(method, {"200"})
        parts = {"206"} if "Range" in self.headers_of(operation) else set()
        self.assertEqual(set(operation.get("x-responses", ())), parts, path)
        self.assertEqual({status for status in statuses if status[0] == "2"}, successes, path)
        self.assertLessEqual({"400", "413", "414", "501", "503"}, statuses)
        conditional = "If-None-Match" in self.headers_of(operation)
        self.assertEqual("412" in statuses, conditional, path)
        self.assertEqual("304" in statuses, conditional and method == "get", path)
        for status in statuses:
            response = self.response(operation, status)
            for name in ("Cross-Origin-Resource-Policy", "X-Content-Type-Options"):
                self.assertTrue(response["headers"][name]["required"])
            for name in ("Access-Control-Allow-Origin", "X-Request-Id", "traceparent"):
                self.assertFalse(response["headers"][name]["required"])
            if (
                status == "409"
            ):  # a comparison whose tolerance is exceeded is no problem document
                self.assertIn("application/json", response["content"])
            elif int(status) >= 400:
                self.assertIn("application/problem+json", response["content"])

    def test_options_of_formats_are_described(self):
        formats = {form["name"]: form for form in self.get("/v1/info").json()["formats"]}
        for name, names in (
            ("json", []),
            ("csv", ["slice", "header"]),
            ("png", ["slice", "colormap", "scale"]),
        ):
            listed = [option["name"] for option in formats[name]["options"]]
            self.assertEqual(listed, names)
        colormap, scale = formats["png"]["options"][1:]
        self.assertEqual(colormap["choices"], ["diverging", "viridis", "gray"])
        self.assertEqual((scale["minimum"], scale["maximum"], scale["default"]), (1, 16, 1))
        for path, _ in self.tables():
            query, properties = self.query(path), self.properties(path)
            for where in (query["scale"]["schema"], properties["scale"]):
                self.assertEqual((where["minimum"], where["maximum"]), (1, 16))
            self.assertIn("format=png", query["scale"]["description"])
            self.assertIn("format=csv, png", query["slice"]["description"])
            self.assertEqual(query["colormap"]["schema"]["enum"], colormap["choices"])

    def test_every_parameter_of_the_registry_is_there_with_its_limits(self):
        for path, scheme in self.tables():
            query, properties = self.query(path), self.properties(path)
            expected = {parameter["name"] for parameter in scheme["parameters"]}
            expected |= {"format", "tensor"}
            old = {row["old_name"] for row in scheme["parameters"] if "old_name" in row}
            expected |= old
            for form in self.get("/v1/info").json()["formats"]:
                expected |= {option["name"] for option in form["options"]}
            expected |= {"preset"} if scheme["presets"] else set()
            self.assertEqual(set(query), expected)
            self.assertEqual(set(properties), expected)
            for names in (query, properties):
                deprecated = {name for name in names if names[name].get("deprecated")}
                self.assertEqual(deprecated, old)
            for row in scheme["parameters"]:
                with self.subTest(f"{path} {row['name']}"):
                    needed = row["required"] and not {"unless", "stored"} & set(row)
                    self.assertEqual(query[row["name"]].get("required", False), needed)
                    self.check_schema(row, query[row["name"]]["schema"])
                    member = properties[row["name"]]
                    self.check_schema(row, member if needed else self.without_null(member))

    def without_null(self, schema):
        """The schema of a member that may be null, for what else it may be."""
        *kinds, null = schema["type"]
        self.assertEqual(null, "null")
        other = {**schema, "type": kinds if len(kinds) > 1 else kinds[0]}
        if "enum" in schema:
            self.assertIsNone(schema["enum"][-1])
            other["enum"] = schema["enum"][:-1]
        return other

    def check_schema(self, row, schema):
        ranged = schema["items"] if row["type"] == "array" else schema
        one_for_all = ["array", "number"]  # a list, or one number for all
        kind = "array" if schema["type"] == one_for_all else schema["type"]
        self.assertEqual(kind, row["type"])
        self.assertEqual(ranged.get("minimum"), row.get("minimum"))
        self.assertEqual(ranged.get("maximum"), row.get("maximum"))
        self.assertEqual(ranged.get("exclusiveMinimum"), row.get("exclusive_minimum"))
        self.assertEqual(ranged.get("exclusiveMaximum"), row.get("exclusive_maximum"))
        self.assertEqual(schema.get("enum"), row.get("choices"))
        self.assertEqual(schema.get("default"), row["default"])
        self.assertEqual(schema.get("x-when"), row.get("when"))
        self.assertEqual(schema.get("x-default-of"), row.get("default_of"))
        self.assertEqual(schema.get("multipleOf"), row.get("multiple_of"))

    def test_a_similarity_requires_a_metric_and_may_have_rows(self):
        path = "/v1/similarity/{scheme}"
        query, properties = self.query(path), self.properties(path)
        for where in (query["metric"]["schema"], properties["metric"]):
            self.assertEqual(where["enum"], ["l2", "l1", "dot", "cosine", "pearson"])
            self.assertNotIn("default", where)
        self.assertTrue(query["metric"]["required"])
        body = self.document["paths"][path]["post"]["requestBody"]["content"]
        self.assertEqual(body["application/json"]["schema"]["required"], ["metric"])
        self.assertNotIn("required", query["rows"])
        self.assertEqual((query["rows"]["style"], query["rows"]["explode"]), ("form", False))
        self.assertEqual(query["rows"]["schema"]["items"]["type"], "integer")

    def test_one_operation_stands_for_the_schemes_of_both_kinds(self):
        for kind in ("encodings", "similarity"):
            path = f"/v1/{kind}/{{scheme}}"
            query, properties = self.query(path), self.properties(path)
            free = query.pop("parameters")
            self.assertEqual((free["style"], free["explode"]), ("form", True))
            self.assertEqual(free["schema"], {"type": "object", "additionalProperties": True})
            self.assertEqual(set(query), set(properties))
            self.assertLessEqual({"dtype", "format", "tensor", "preset"}, set(query))

    def test_equal_parts_are_components(self):
        """A document with every part written out would be about twice as long."""
        shared = Counter()

        def count(node):
            if isinstance(node, dict):
                if "$ref" in node:
                    shared[node["$ref"].split("/")[2]] += 1
                node = list(node.values())
            if isinstance(node, list):
                for item in node:
                    count(item)

        count(self.served["paths"])
        for path, item in self.served["paths"].items():
            for operation in item.values():
                for parameter in operation["parameters"]:
                    self.assertIn(parameter.get("in", "$ref"), ("$ref", "path", "query"))
        components = self.served["components"]
        self.assertGreater(shared["parameters"], 2 * len(components["parameters"]))
        parameters = components["parameters"].values()
        written = [json.dumps(each, sort_keys=True) for each in parameters]
        self.assertEqual(len(written), len(set(written)))

    def test_names_of_components_differ_by_more_than_case_and_numbers(self):
        """Generated clients declare a type for each, in capitals of their own."""
        components = self.served["components"]
        names = [*components["schemas"], *components["parameters"]]
        kinds = {re.sub(r"[^a-z]|_?\d+$", "", name.lower()) for name in names}
        self.assertEqual(len(kinds), len(names))

    def test_bodies_of_any_form_have_a_schema(self):
        def contents(node):
            if isinstance(node, dict):
                if isinstance(node.get("content"), dict):
                    yield from node["content"].items()
                node = list(node.values())
            if isinstance(node, list):
                for item in node:
                    yield from contents(item)

        binary = 0
        for media_type, media in contents(self.served):
            self.assertIn("schema", media, media_type)
            if media["schema"].get("$ref", "").endswith("/Bytes"):
                binary += 1
        self.assertGreater(binary, 20)
        config = self.document["components"]["schemas"]["Config"]
        self.assertIs(config["additionalProperties"], True)

    def test_formats_tensors_and_presets_are_enumerated(self):
        for path, scheme in self.tables():
            query = self.query(path)
            formats = ["json", "npy", "safetensors", "raw", "csv", "png"]
            self.assertEqual(query["format"]["schema"]["enum"], formats)
            tensors = [tensor["name"] for tensor in scheme["tensors"]]
            self.assertEqual(query["tensor"]["schema"]["enum"], tensors)
            presets = [preset["name"] for preset in scheme["presets"]]
            named = query.get("preset", {"schema": {"enum": []}})["schema"]["enum"]
            self.assertEqual(named, presets)

    def test_every_example_query_answers(self):
        for path, _ in self.tables():
            with self.subTest(path):
                for parameter in self.query(path).values():
                    for value in parameter["schema"].get("examples", ()):
                        self.check_example(value, parameter["schema"])
                self.assert_ok(self.get(self.example_target(path)))

    def example_target(self, path):
        """A path with the query of its parameters' examples."""
        given = {
            name: text_of(parameter["schema"]["examples"][0])
            for name, parameter in self.query(path).items()
            if "examples" in parameter["schema"]
        }
        self.assertTrue(given)
        return f"{path}?{query_of(given)}"

    def check_example(self, value, schema):
        kinds = {"integer": int, "number": (int, float), "boolean": bool, "string": str}
        kinds["array"] = list
        self.assertIsInstance(value, kinds[schema["type"]])

    def test_every_example_body_answers(self):
        for path, scheme in self.tables():
            with self.subTest(path):
                content = self.document["paths"][path]["post"]["requestBody"]["content"]
                (media_type,) = content
                self.assertEqual(media_type, "application/json")
                (body,) = content[media_type]["schema"]["examples"]
                self.assertLessEqual(set(example(scheme)), set(body))
                required = content[media_type]["schema"]["required"]
                self.assertLessEqual(set(required), set(body))
                self.assertFalse(content[media_type]["schema"]["additionalProperties"])
                self.assert_ok(self.post(path, body))

    def test_success_is_described_by_the_media_types_that_are_served(self):
        for path, scheme in self.tables():
            for operation in self.document["paths"][path].values():
                for media_type in self.response(operation, "200")["content"]:
                    reply = self.get(self.example_target(path), {"Accept": media_type})
                    if reply.status == 422 and media_type == "image/png":
                        self.assert_problem(reply, 422, "slice")
                        self.assertGreaterEqual(scheme["tensors"][0]["shape"].count(","), 2)
                        continue
                    self.assert_ok(reply)
                    self.assertEqual(reply.header("Content-Type").split(";")[0], media_type)

    def test_every_plain_path_answers_what_it_describes(self):
        table = b'{"t":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}'
        body = struct.pack("<Q", len(table)) + table + bytes(4)
        name = "bert-positions"  # the example of the document
        reply = self.server.request("PUT", f"/v1/sets/{name}", body=body)
        self.assertEqual(reply.status, 201, reply)
        tables = {path for path, _ in self.tables()}
        for path, method, operation in self.operations():
            if path in tables or method != "get" or path == "/assets/{file}":
                # the names of files change with the build: test_visualiser.py has them
                continue
            with self.subTest(path):
                for parameter in operation["parameters"]:
                    if parameter.get("in") == "path":
                        path = path.replace(f"{{{parameter['name']}}}", parameter["example"])
                asked = {}
                for parameter in operation["parameters"]:
                    if parameter.get("style") == "form" and parameter["explode"]:
                        asked.update(parameter["example"])  # the scheme's own parameters
                    elif parameter["in"] == "query" and parameter.get("required"):
                        (asked[parameter["name"]],) = parameter["schema"]["examples"]
                path += "?" * bool(asked) + "&".join(
                    f"{name}={value}" for name, value in asked.items()
                )
                served = self.assert_ok(self.get(path)).header("Content-Type").split(";")[0]
                described = list(self.response(operation, "200")["content"])
                self.assertIn(served, described)
                several = path in ("/", "/docs") or "/models/" in path or "length=" in path
                self.assertTrue(several or len(described) == 1, described)


if __name__ == "__main__":
    unittest.main()
