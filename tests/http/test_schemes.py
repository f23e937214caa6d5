"""The registry in /v1/schemes, and every scheme against its own description there."""

import unittest

from decode import SIZES, elements, flatten, read_npy, read_safetensors
from registry import after_defaulting, example, query_of, stated, text_of
from server import ServerCase

FORMATS = {
    "json": "application/json",
    "npy": "application/x-npy",
    "safetensors": "application/vnd.safetensors",
    "raw": "application/octet-stream",
}
FIRST_SCHEMES = {"integer", "normalized", "binary", "periodic", "sinusoidal", "sinusoidal_2d"}
RESERVED = {"format", "tensor", "preset", "metric", "rows", "colormap", "scale", "slice"}
STORED = "set"  # its values are names of sets
# what a choice needs by a rule of its scheme, which the table of parameters cannot say
NEEDED = {
    "dynamic": {"alpha": "4"},
    "longrope": {"factor": "2"},
    "listed": {"coordinates": "0,1,2,3,0,1,2,3"},
}
LEAST = {
    "f64": 2.0**-1074,
    "f32": 2.0**-149,
    "f16": 2.0**-24,
    "bf16": 2.0**-133,
    "i32": 0,
}
# Parameters that bring tensors which are not there without them.
ASKED_FOR = {
    "rope": (
        "cos_sin=true",
        "temperature=llama4",
        "preset=deepseek_v3&softmax_factor=true",
    ),
}
TYPES = {"integer", "number", "boolean", "string", "array"}


class Schemes(ServerCase):
    def setUp(self):
        self.schemes = self.get("/v1/schemes").json()["schemes"]

    def get_encoding(self, scheme, query):
        return self.get(f"/v1/encodings/{scheme['name']}?{query}")

    def test_the_list_holds_the_schemes_once_each(self):
        reply = self.assert_ok(self.get("/v1/schemes"), "application/json")
        self.assertEqual(list(reply.json()), ["schemes"])
        names = [scheme["name"] for scheme in self.schemes]
        self.assertEqual(len(names), len(set(names)))
        self.assertLessEqual(FIRST_SCHEMES, set(names))

    def test_a_scheme_describes_itself_in_full(self):
        for scheme in self.schemes:
            with self.subTest(scheme["name"]):
                for text in ("title", "summary", "reference", "family", "formula"):
                    self.assertTrue(scheme[text] and isinstance(scheme[text], str), text)
                self.assertTrue(scheme["keywords"])
                for word in scheme["keywords"]:
                    self.assertEqual(word, word.strip(" ,"))
                self.assertGreaterEqual(scheme["revision"], 1)
                self.assertTrue(scheme["tensors"])
                for tensor in scheme["tensors"]:
                    self.assertTrue(tensor["name"] and tensor["shape"] and tensor["help"])
                primary = [tensor["primary"] for tensor in scheme["tensors"]]
                self.assertEqual(primary, [True] + [False] * (len(primary) - 1))

    def test_a_relative_scheme_says_what_it_follows_and_what_the_sign_of_a_distance_means(self):
        followed = ("author", "paper", "Hugging Face", "XLNet")
        relative = [scheme for scheme in self.schemes if scheme["family"] == "relative"]
        self.assertGreaterEqual(len(relative), 8)
        for scheme in relative:
            with self.subTest(scheme["name"]):
                said = scheme["convention"]
                self.assertTrue(any(name in said for name in followed), said)
                signs = ("key minus query", "query minus key", "both signs")
                self.assertTrue(any(sign in said for sign in signs), said)
                for tensor in scheme["tensors"]:
                    if tensor["name"] == "distance":
                        self.assertRegex(tensor["help"], "key minus query|query minus key")

    def test_a_parameter_describes_itself_in_full(self):
        for scheme in self.schemes:
            names = [parameter["name"] for parameter in scheme["parameters"]]
            self.assertEqual(len(names), len(set(names)), scheme["name"])
            self.assertFalse(RESERVED & set(names), scheme["name"])
            self.assertEqual(names[-1], "dtype")
            for parameter in scheme["parameters"]:
                with self.subTest(f"{scheme['name']} {parameter['name']}"):
                    self.assertIn(parameter["type"], TYPES)
                    self.assertTrue(parameter["help"])
                    self.assertNotIn("\n", parameter["help"])
                    if parameter["required"]:
                        self.assertIsNone(parameter["default"])
                    if parameter["type"] in ("integer", "number", "array"):
                        self.assertLess(*bounds_of(parameter))
                    if parameter["name"] == STORED:
                        self.assertEqual(parameter["type"], "string")
                        self.assertIsNone(parameter["default"])
                        self.assertNotIn("choices", parameter)
                    elif parameter["type"] == "string":
                        self.assertIn(parameter["default"], [None, *parameter["choices"]])
                    if "default_of" in parameter:
                        self.assertIsNone(parameter["default"])
                        self.assertLessEqual(
                            set(parameter["default_of"].split()) - {"*", "-"},
                            set(names[: names.index(parameter["name"])]),
                        )

    def test_another_name_of_a_parameter_is_answered_by_its_name_here(self):
        told = 0
        for scheme in self.schemes:
            names = {parameter["name"] for parameter in scheme["parameters"]}
            for row in scheme["parameters"]:
                for alias in set(row.get("aliases", [])) - names:
                    with self.subTest(f"{scheme['name']} {alias}"):
                        reply = self.get_encoding(scheme, f"{scheme['example']}&{alias}=1")
                        self.assertEqual(reply.json()["did_you_mean"], row["name"])
                        told += 1
        self.assertGreater(told, 30)

    def test_a_parameter_without_the_choice_that_it_belongs_to_is_refused(self):
        refused = 0
        for scheme in self.schemes:
            rows = {row["name"]: row for row in scheme["parameters"]}
            for row in filter(lambda row: "when" in row, rows.values()):
                decides = rows[row["when"]["parameter"]]
                value = row.get("minimum", (row.get("choices") or ["true"])[0])
                if decides["default"] is not None or decides["required"] or "when" in decides:
                    continue
                with self.subTest(f"{scheme['name']} {row['name']}"):
                    reply = self.get_encoding(
                        scheme, f"{scheme['example']}&{row['name']}={value}"
                    )
                    self.assertEqual(
                        [error["allowed"] for error in reply.json()["errors"]],
                        [f"left out without {decides['name']}"],
                    )
                    refused += 1
        self.assertGreaterEqual(refused, 2)

    def test_a_parameter_that_depends_on_a_choice_is_refused_with_every_other(self):
        refused = 0
        for scheme in self.schemes:
            rows = {row["name"]: row for row in scheme["parameters"]}
            for row in filter(lambda row: "when" in row, rows.values()):
                decides = rows[row["when"]["parameter"]]
                cases = {case["choice"]: case for case in row["when"]["cases"]}
                self.assertLess(set(), set(cases))
                self.assertLessEqual(set(cases), set(decides["choices"]))
                self.assertEqual((row["required"], row["default"]), (False, None))
                value = (
                    "true"
                    if row["type"] == "boolean"
                    else row["choices"][0]
                    if "choices" in row
                    else bounds_of(row)[0]
                )
                for choice in set(decides["choices"]) - set(cases):
                    query = (
                        f"{scheme['example']}&{decides['name']}={choice}&{row['name']}={value}"
                    )
                    problem = self.assert_problem(self.get_encoding(scheme, query), 422)
                    errors = {error["parameter"]: error for error in problem["errors"]}
                    self.assertIn(f"{decides['name']}={choice}", errors[row["name"]]["allowed"])
                    refused += 1
        self.assertGreater(refused, 0)

    def test_a_model_configuration_may_be_posted_as_it_is(self):
        scaling = {"rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0}
        scaling |= {"high_freq_factor": 4.0, "original_max_position_embeddings": 8192}
        body = {"length": 3, "dim": 128, "rope_theta": 500000.0, **scaling, "format": "json"}
        reply = self.assert_ok(self.post("/v1/encodings/rope", body), "application/json").json()
        self.assertEqual(scaling, {name: reply["parameters"][name] for name in scaling})
        self.assertIsNone(reply["parameters"]["beta_fast"])
        names = [(tensor["name"], tensor["shape"]) for tensor in reply["tensors"]]
        self.assertEqual(names, [("cos", [3, 64]), ("sin", [3, 64]), ("inv_freq", [64])])

    def test_a_scheme_by_name_is_the_same_as_in_the_list(self):
        for scheme in self.schemes:
            reply = self.get(f"/v1/schemes/{scheme['name']}")
            self.assert_ok(reply, "application/json")
            self.assertEqual(reply.json(), scheme)

    def test_the_descriptions_are_cacheable_by_their_tag(self):
        for path in ("/v1/schemes", "/v1/schemes/sinusoidal", "/v1/info", "/openapi.json"):
            with self.subTest(path):
                tag = self.assert_ok(self.get(path)).header("ETag")
                self.assertRegex(tag, r'\A"[^"]+"\Z')
                again = self.get(path, {"If-None-Match": tag})
                self.assertEqual((again.status, again.body), (304, b""))
                self.assertEqual(again.header("ETag"), tag)
                self.assert_open_to_browsers(again)
                head = self.head(path)
                self.assertEqual((head.status, head.body), (200, b""))
                self.assertEqual(head.header("ETag"), tag)

    def test_every_scheme_answers_its_example_in_every_format(self):
        for scheme in self.schemes:
            for name, media_type in FORMATS.items():
                with self.subTest(f"{scheme['name']} as {name}"):
                    reply = self.get_encoding(scheme, f"{scheme['example']}&format={name}")
                    self.assert_ok(reply, media_type)
                    self.assertEqual(reply.header("Content-Length"), str(len(reply.body)))

    def test_every_format_and_dtype_carries_the_same_elements(self):
        for scheme in self.schemes:
            dtypes = scheme["parameters"][-1]["choices"]
            self.assertEqual(dtypes, ["f32", "f64", "f16", "bf16"])
            for dtype in dtypes:
                with self.subTest(f"{scheme['name']} {dtype}"):
                    self.check_formats(scheme, f"{scheme['example']}&dtype={dtype}", dtype)

    def check_tensors(self, scheme, document):
        """Check that tensors come in the documented order, the primary one first. Documented
        tensors may be missing if they belong to another form, or to a parameter."""
        names = [tensor["name"] for tensor in document["tensors"]]
        documented = [tensor["name"] for tensor in scheme["tensors"]]
        self.assertEqual(names, [name for name in documented if name in names])
        self.assertEqual(names[0], documented[0])
        if not any(row["name"] == "form" for row in scheme["parameters"]):
            self.assertEqual(
                names,
                [
                    tensor["name"]
                    for tensor in scheme["tensors"]
                    if "only with" not in tensor["help"]
                ],
            )
        return set(names)

    def test_every_documented_tensor_comes_with_some_form(self):
        forms = 0
        for scheme in self.schemes:
            seen = set()
            rows = {row["name"]: row for row in scheme["parameters"]}
            for form in rows["form"]["choices"] if "form" in rows else [None]:
                query = query_of({**example(scheme), **({"form": form} if form else {})})
                document = self.assert_ok(self.get_encoding(scheme, query)).json()
                here = self.check_tensors(scheme, document)
                for name in {tensor["name"] for tensor in scheme["tensors"]} - here:
                    reply = self.get_encoding(scheme, f"{query}&tensor={name}")
                    self.assert_problem(reply, 400, "tensor")
                seen |= here
                forms += form is not None
            for more in ASKED_FOR.get(scheme["name"], ()):
                document = self.assert_ok(
                    self.get_encoding(scheme, f"{scheme['example']}&{more}")
                ).json()
                seen |= {tensor["name"] for tensor in document["tensors"]}
            self.assertEqual(seen, {tensor["name"] for tensor in scheme["tensors"]})
        self.assertGreater(forms, 10)

    def check_formats(self, scheme, query, dtype):
        document = self.assert_ok(self.get_encoding(scheme, query)).json()
        stored = self.get_encoding(scheme, f"{query}&format=safetensors").body
        stored = read_safetensors(stored)[1]
        self.assertEqual(set(stored), self.check_tensors(scheme, document))
        for tensor in document["tensors"]:
            one = f"{query}&tensor={tensor['name']}"
            raw = self.assert_ok(self.get_encoding(scheme, f"{one}&format=raw"))
            self.assertIn(tensor["dtype"], (dtype, "i32"))
            self.assertEqual(raw.header("Tensor-Name"), tensor["name"])
            self.assertEqual(raw.header("Tensor-Dtype"), tensor["dtype"])
            shape = ", ".join(str(extent) for extent in tensor["shape"])
            self.assertEqual(raw.header("Tensor-Shape"), shape)
            self.assertEqual(raw.header("Tensor-Byte-Order"), "little")
            expected = tensor["dtype"], tensor["shape"], raw.body
            self.assertEqual(stored[tensor["name"]], expected)
            npy = self.get_encoding(scheme, f"{one}&format=npy")
            if tensor["dtype"] == "bf16":
                self.assertEqual(npy.status, 406)
            else:
                self.assertEqual(read_npy(npy.body), expected)
            self.check_numbers(tensor, raw.body)

    def check_numbers(self, tensor, data):
        """Check that JSON's numbers are the elements of the data, and that there are no
        others."""
        numbers = flatten(tensor["data"], tensor["shape"])
        self.assertEqual(len(data), len(numbers) * SIZES[tensor["dtype"]])
        # the shortest digits may differ by half an ulp of the dtype
        bits = {"f64": 53, "f32": 24, "f16": 11, "bf16": 8, "i32": 64}[tensor["dtype"]]
        for number, element in zip(numbers, elements(tensor["dtype"], data)):
            if tensor["dtype"] == "f64":
                self.assertEqual(number, element)
            bound = max(abs(element) * 2.0**-bits, LEAST[tensor["dtype"]] / 2)
            self.assertLessEqual(abs(number - element), bound, number)

    def test_json_states_every_parameter_after_defaulting(self):
        for scheme in self.schemes:
            with self.subTest(scheme["name"]):
                answer = self.get_encoding(scheme, scheme["example"]).json()["parameters"]
                expected = after_defaulting(scheme, example(scheme))
                self.assertEqual(set(answer), set(expected))
                settled = ""
                for name in expected:
                    if expected[name] is None and answer[name] is not None:
                        settled += f"&{name}={answer[name]}"
                        continue
                    self.assertEqual(answer[name], expected[name], name)
                # whoever gives what the scheme settled gets the same
                again = self.get_encoding(scheme, scheme["example"] + settled)
                self.assertEqual(again.json()["parameters"], answer)

    def test_stating_every_default_changes_nothing(self):
        computed = 0
        for scheme in self.schemes:
            query = query_of(stated(scheme, example(scheme)))
            with self.subTest(f"{scheme['name']} {query}"):
                plain = self.get_encoding(scheme, scheme["example"])
                in_full = self.get_encoding(scheme, query)
                self.assert_ok(in_full)
                self.assertEqual(in_full.header("ETag"), plain.header("ETag"))
                self.assertEqual(in_full.body, plain.body)
            computed += sum("default_of" in row for row in scheme["parameters"])
        self.assertGreater(computed, 10)

    def test_a_computed_default_follows_what_it_is_computed_from(self):
        followed = 0
        for scheme in self.schemes:
            if not any(row.get("default_of") for row in scheme["parameters"]):
                continue
            for given in (
                {"length": "7"},
                {"length": "7", "query_length": "3"},
                {"length": "7", "query_length": "3", "query_offset": "2"},
            ):
                if not set(given) <= {row["name"] for row in scheme["parameters"]}:
                    continue
                with self.subTest(f"{scheme['name']} {given}"):
                    given = {**example(scheme), **given}
                    plain = self.assert_ok(self.get_encoding(scheme, query_of(given)))
                    values = stated(scheme, given)
                    self.assertLess(set(given), set(values))
                    in_full = self.get_encoding(scheme, query_of(values))
                    self.assertEqual(in_full.header("ETag"), plain.header("ETag"))
                    shown = plain.json()["parameters"]
                    for name, expected in after_defaulting(scheme, given).items():
                        if expected is not None:  # else the scheme may have settled it
                            self.assertEqual(shown[name], expected, name)
                    followed += 1
        self.assertGreater(followed, 20)

    def test_a_choice_brings_the_defaults_of_its_case(self):
        stated_cases = 0
        for scheme in self.schemes:
            decides = {
                row["when"]["parameter"] for row in scheme["parameters"] if "when" in row
            }
            choices = [
                (row["name"], choice)
                for row in scheme["parameters"]
                if row["name"] in decides
                for choice in row["choices"]
            ]
            for name, choice in choices:
                given = {
                    **example(scheme),
                    name: choice,
                    **required_by(scheme, name, choice),
                    **NEEDED.get(choice, {}),
                }
                plain = self.get_encoding(scheme, query_of(given))
                with self.subTest(f"{scheme['name']} {given}"):
                    self.assert_ok(plain)
                    in_full = self.get_encoding(scheme, query_of(stated(scheme, given)))
                    self.assertEqual(in_full.header("ETag"), plain.header("ETag"))
                    stated_cases += 1
        self.assertGreater(stated_cases, 7)

    def test_every_preset_stands_for_its_values(self):
        for scheme in self.schemes:
            for preset in scheme["presets"]:
                with self.subTest(f"{scheme['name']} {preset['name']}"):
                    query = f"{scheme['example']}&preset={preset['name']}&format=raw"
                    short = self.get_encoding(scheme, query)
                    values = {name: text_of(v) for name, v in preset["values"].items()}
                    long = self.get_encoding(
                        scheme, query_of({**values, **example(scheme)}) + "&format=raw"
                    )
                    self.assert_ok(short)
                    self.assertEqual(short.header("ETag"), long.header("ETag"))
                    self.assertEqual(short.body, long.body)

    def test_an_explicit_value_beats_its_preset(self):
        target = "/v1/encodings/sinusoidal?length=2&dim=8"
        whisper = self.get(f"{target}&preset=whisper").json()["parameters"]
        mixed = self.get(f"{target}&preset=whisper&layout=interleaved").json()["parameters"]
        self.assertEqual(whisper["layout"], "concat")
        self.assertEqual(mixed, {**whisper, "layout": "interleaved"})

    def test_every_parameter_refuses_what_its_row_excludes(self):
        for scheme in self.schemes:
            for parameter in scheme["parameters"]:
                for text, status in illegal_values(parameter):
                    with self.subTest(f"{scheme['name']} {parameter['name']}={text}"):
                        given = {**example(scheme), parameter["name"]: text}
                        for name in excluded_by(scheme, parameter["name"]):
                            given.pop(name, None)
                        reply = self.get_encoding(scheme, query_of(given))
                        problem = self.assert_problem(reply, status, parameter["name"])
                        self.assertEqual(problem["errors"][0]["given"], text)

    def test_every_required_parameter_is_asked_for(self):
        for scheme in self.schemes:
            with self.subTest(scheme["name"]):
                required = [p["name"] for p in scheme["parameters"] if p["required"]]
                reply = self.get(f"/v1/encodings/{scheme['name']}")
                problem = self.assert_problem(reply, 400, *required)
                self.assertEqual({error["given"] for error in problem["errors"]}, {None})


def excluded_by(scheme, name):
    return [row["name"] for row in scheme["parameters"] if row.get("unless") == name]


def required_by(scheme, decides, choice):
    """Legal values of what a choice requires."""
    values = {}
    for row in scheme["parameters"]:
        cases = row["when"]["cases"] if row.get("when", {}).get("parameter") == decides else []
        if any(case["choice"] == choice and case["required"] for case in cases):
            count = int(example(scheme)["dim"]) // 2 if row["type"] == "array" else 1
            values[row["name"]] = ",".join([text_of(max(bounds_of(row)[0], 2))] * count)
    return values


def bounds_of(parameter):
    """The bounds of a number, which are legal themselves unless they are exclusive."""
    return [
        parameter.get(name, parameter.get(f"exclusive_{name}"))
        for name in ("minimum", "maximum")
    ]


def illegal_values(parameter):
    """(text, status) pairs for a parameter's row."""
    kind = parameter["type"]
    if kind == "boolean":
        return [("True", 400), ("1", 400), ("yes", 400)]
    if kind == "string":
        if "choices" not in parameter:
            return [("no-such-set", 422), ("../etc", 422)]
        return [("no-such-choice", 400), (parameter["choices"][0].upper(), 400)]
    minimum, maximum = bounds_of(parameter)
    above = float(maximum) * 2 + 2
    below = minimum - (1 if abs(minimum) < 2**53 else 2)
    below = below if below < minimum else minimum * 2
    pairs = [("abc", 400), ("0x4", 400), ("nan", 400), (f"{above:.17g}", 422)]
    pairs.append((f"{below:.17g}", 422))
    pairs += [
        (text_of(parameter[name]), 422) for name in parameter if name.startswith("exclusive_")
    ]
    if kind == "integer":
        pairs.append(("2.5", 400))
    if parameter.get("multiple_of"):
        pairs.append((str(parameter["multiple_of"] + 1), 422))
    return pairs


if __name__ == "__main__":
    unittest.main()
