"""ETags, conditional requests, HEAD as a dry run, and Cache-Control."""

import unittest

from server import ServerCase

TARGET = "/v1/encodings/sinusoidal?length=4&dim=8"
BINARY_FORMATS = ("npy", "safetensors", "raw")
FORMATS = ("json", *BINARY_FORMATS)
CACHEABLE = "public, max-age=86400, stale-while-revalidate=604800"
CACHE_FIELDS = ("ETag", "Cache-Control", "Vary")
TENSOR_FIELDS = ("Tensor-Name", "Tensor-Dtype", "Tensor-Shape", "Tensor-Byte-Order")


class Validators(ServerCase):
    def tag(self, query, headers=None):
        tag = self.assert_ok(self.get(f"/v1/encodings/{query}", headers)).header("ETag")
        self.assertRegex(tag, r'\A"[!#-~]+"\Z', "a strong tag, quoted")
        return tag

    def test_tags_differ_by_scheme_parameters_dtype_and_format(self):
        queries = [
            "sinusoidal?length=4&dim=8",
            "sinusoidal?length=5&dim=8",
            "sinusoidal?length=4&dim=10",
            "sinusoidal?length=4&dim=8&offset=1",
            "sinusoidal?length=4&dim=8&layout=concat",
            "sinusoidal?length=4&dim=8&dtype=f64",
            "sinusoidal?length=4&dim=8&dtype=f16",
            "sinusoidal?length=4&dim=8&dtype=bf16",
            "sinusoidal?length=8&dim=4",
            "periodic?length=4&dim=8",
            "integer?length=4",
            "normalized?length=4",
        ]
        pairs = [(query, name) for query in queries for name in ("json", "raw")]
        tags = [self.tag(f"{query}&format={name}") for query, name in pairs]
        tags += [self.tag(f"{queries[0]}&format={name}") for name in ("npy", "safetensors")]
        self.assertEqual(len(tags), len(set(tags)))

    def test_tags_do_not_depend_on_how_a_request_is_written(self):
        tags = {
            self.tag("sinusoidal?length=10&dim=8&format=npy"),
            self.tag("sinusoidal?format=npy&dim=8&length=10"),
            self.tag("sinusoidal?length=1e1&dim=8&format=npy"),
            self.tag("sinusoidal?length=10.0&dim=8.0&format=npy"),
            self.tag("sinusoidal?length=10&dim=8&base=1e4&offset=0&step=1.0&format=npy"),
            self.tag("sinusoidal?length=10&dim=8&offset=-0&format=npy"),
            self.tag("sinusoidal?length=10&dim=8&preset=vaswani&format=npy"),
            self.tag("sinusoidal?%6cength=10&dim=8&format=npy"),
            self.tag("sinusoidal?length=10&dim=8", {"Accept": "application/x-npy"}),
        }
        self.assertEqual(len(tags), 1)

    def test_tags_are_equal_on_every_server_and_after_a_restart(self):
        other = self.start("--cache-bytes", "1MiB", "--threads", "1")
        for name in FORMATS:
            reply = other.request("GET", f"{TARGET}&format={name}")
            here = self.get(f"{TARGET}&format={name}")
            self.assertEqual(reply.header("ETag"), here.header("ETag"))

    def test_a_known_tag_is_answered_304_without_computing(self):
        for name in FORMATS:
            with self.subTest(name):
                whole = self.get(f"{TARGET}&format={name}")
                before = self.server.computed()
                condition = {"If-None-Match": whole.header("ETag")}
                reply = self.get(f"{TARGET}&format={name}", condition)
                self.check_not_modified(reply, whole)
                self.assertEqual(self.server.computed(), before)

    def check_not_modified(self, reply, whole):
        """`whole` is the 200 that the 304 stands for."""
        self.assertEqual((reply.status, reply.body), (304, b""))
        for field in CACHE_FIELDS:
            self.assertEqual(reply.header(field), whole.header(field), field)
        # RFC 9110, section 8.6: the length of the 200, or no field
        self.assertIn(reply.header("Content-Length"), (None, str(len(whole.body))))
        self.assertIsNone(reply.header("Server-Timing"))
        self.assert_open_to_browsers(reply)

    def test_a_known_tag_is_answered_304_by_a_server_that_has_computed_nothing(self):
        fresh = self.start()
        for name in FORMATS:
            whole = self.get(f"{TARGET}&format={name}")
            condition = {"If-None-Match": whole.header("ETag")}
            reply = fresh.request("GET", f"{TARGET}&format={name}", condition)
            self.check_not_modified(reply, whole)
        self.assertEqual(fresh.computed(), 0)
        self.assertEqual(fresh.metrics()["posenc_cache_misses_total"], 0)

    def test_304_leaves_the_connection_in_step(self):
        for name in BINARY_FORMATS:
            whole = self.get(f"{TARGET}&format={name}")
            condition = {"If-None-Match": whole.header("ETag")}
            with self.subTest(name), self.server.wire() as wire:
                for method in ("GET", "HEAD", "GET"):
                    reply = wire.exchange(method, f"{TARGET}&format={name}", condition)
                    self.check_not_modified(reply, whole)
                self.assert_ok(wire.exchange("GET", f"{TARGET}&format={name}"))
                self.assertEqual(wire.pending, b"")

    def test_nothing_follows_a_304_of_json(self):
        whole = self.get(TARGET)
        for method in ("GET", "HEAD"):
            with self.subTest(method), self.server.wire() as wire:
                condition = {"If-None-Match": whole.header("ETag")}
                reply = wire.exchange(method, TARGET, condition)
                self.check_not_modified(reply, whole)
                self.assert_in_step(wire, reply)

    def test_a_negotiated_304_varies_like_its_200(self):
        whole = self.get(TARGET)
        self.assertEqual(whole.header("Vary"), "Accept, Accept-Encoding")
        condition = {"If-None-Match": whole.header("ETag")}
        self.check_not_modified(self.get(TARGET, condition), whole)

    def test_if_none_match_takes_lists_weak_tags_and_a_star(self):
        whole = self.get(TARGET)
        tag = whole.header("ETag")
        matching = ["*", tag, f"W/{tag}", f'"a", {tag}', f'{tag},"b"']
        matching.append(f'"a" , W/{tag} ,W/"b,c"')
        matching.append(f'"a, \\", {tag}')
        different = ['"a"', tag.strip('"'), f'"{tag[1:-2]}"', f'"x{tag[1:]}', '"', "", ",,"]
        different.append('"*"')
        for value in matching:
            with self.subTest(value):
                self.check_not_modified(self.get(TARGET, {"If-None-Match": value}), whole)
        for value in different:
            with self.subTest(value):
                self.assert_ok(self.get(TARGET, {"If-None-Match": value}))

    def test_if_none_match_in_two_header_lines_is_one_list(self):
        tag = self.get(TARGET).header("ETag").encode()
        for first, second in ((b'"a"', tag), (tag, b'"a"')):
            with self.server.wire() as wire:
                value = first + b"\r\nIf-None-Match: " + second
                reply = wire.exchange("GET", TARGET, {"If-None-Match": value})
                self.assertEqual(reply.status, 304)

    def test_the_tag_of_another_format_does_not_match(self):
        tag = self.get(f"{TARGET}&format=npy").header("ETag")
        self.assert_ok(self.get(f"{TARGET}&format=raw", {"If-None-Match": tag}))
        accept = {"Accept": "application/octet-stream", "If-None-Match": tag}
        self.assert_ok(self.get(TARGET, accept))

    def test_a_condition_does_not_hide_a_mistake(self):
        for query in ("length=4", "length=4&dim=7", "length=4&dim=8&colour=red"):
            reply = self.get(f"/v1/encodings/sinusoidal?{query}", {"If-None-Match": "*"})
            self.assertIn(reply.status, (400, 422))


class DryRun(ServerCase):
    def test_head_has_the_fields_of_get_and_computes_nothing(self):
        for name in FORMATS:
            with self.subTest(name):
                head = self.start().request("HEAD", f"{TARGET}&format={name}")
                get = self.get(f"{TARGET}&format={name}")
                self.assert_ok(head, get.header("Content-Type"))
                self.assertEqual(head.body, b"")
                for field in (*TENSOR_FIELDS, *CACHE_FIELDS, "Content-Disposition"):
                    self.assertEqual(head.header(field), get.header(field), field)
                if name == "json":
                    self.assertIn(head.header("Content-Length"), (None, str(len(get.body))))
                else:
                    self.assertEqual(head.header("Content-Length"), str(len(get.body)))
                self.assertIsNone(head.header("Server-Timing"))

    def test_head_does_not_move_the_counters(self):
        server = self.start()
        for name in FORMATS:
            server.request("HEAD", f"{TARGET}&format={name}")
        metrics = server.metrics()
        self.assertEqual(metrics["posenc_computed_total"], 0)
        self.assertEqual(metrics["posenc_cache_misses_total"], 0)
        self.assertEqual(metrics["posenc_cache_entries"], 0)

    def test_head_leaves_the_connection_usable(self):
        for name in BINARY_FORMATS:
            with self.subTest(name), self.server.wire() as wire:
                for method in ("HEAD", "HEAD", "GET", "HEAD", "GET"):
                    self.assert_ok(wire.exchange(method, f"{TARGET}&format={name}"))
                self.assertEqual(wire.pending, b"")

    def test_nothing_follows_the_head_of_json_whose_length_is_unknown(self):
        for target in (f"{TARGET}&format=json", TARGET, "/v1/encodings/integer?length=54321"):
            with self.subTest(target), self.server.wire() as wire:
                reply = self.assert_ok(wire.exchange("HEAD", target))
                self.assert_in_step(wire, reply)

    def test_head_refuses_what_get_refuses(self):
        refused = {"length=4": 400, "length=4&dim=7": 422, "length=1e15&dim=8": 422}
        for query, status in refused.items():
            target = f"/v1/encodings/sinusoidal?{query}"
            head, get = self.head(target), self.get(target)
            self.assertEqual((head.status, head.body, get.status), (status, b"", status))
            self.assertEqual(head.header("Content-Type"), "application/problem+json")


class WhatCachesAreTold(ServerCase):
    def test_encodings_are_cacheable_for_a_day(self):
        for name in FORMATS:
            reply = self.get(f"{TARGET}&format={name}")
            self.assertEqual(reply.header("Cache-Control"), CACHEABLE)

    def test_vary_is_said_only_where_accept_was_consulted(self):
        text, npy = "Accept, Accept-Encoding", {"Accept": "application/x-npy"}
        for headers, vary in (({}, text), ({"Accept": "*/*"}, text), (npy, "Accept")):
            for _ in range(2):  # computed, then a hit
                self.assertEqual(self.get(TARGET, headers).header("Vary"), vary)
                self.assertIsNone(self.get(f"{TARGET}&format=npy", headers).header("Vary"))
                named = self.get(f"{TARGET}&format=json", headers).header("Vary")
                self.assertEqual(named, "Accept-Encoding")

    def test_hits_of_one_target_follow_accept_and_validators(self):
        target = "/v1/encodings/sinusoidal?length=6&dim=14"
        kinds = ("application/json", "application/x-npy", "application/octet-stream")
        tags = {}
        for _ in range(4):
            for kind in kinds:
                reply = self.get(target, {"Accept": kind})
                self.assertEqual((reply.status, reply.header("Content-Type")), (200, kind))
                self.assertEqual(
                    tags.setdefault(kind, reply.header("ETag")), reply.header("ETag")
                )
                again = self.get(target, {"Accept": kind, "If-None-Match": tags[kind]})
                self.assertEqual((again.status, again.body), (304, b""))
            self.assertEqual(self.get(target, {"Accept": "text/html"}).status, 406)
            self.assertEqual(self.get(f"{target}&x=1").status, 400)
            self.assertEqual(self.head(target, {"Accept": kinds[1]}).body, b"")
        self.assertEqual(len(set(tags.values())), len(kinds))

    def test_cache_status_says_miss_then_hit(self):
        target = "/v1/encodings/sinusoidal?length=5&dim=12"
        first = self.get(f"{target}&format=npy").header("Cache-Status")
        self.assertRegex(first, r"\Aposenc; fwd=miss(;|\Z)")
        for name in FORMATS:  # the table is kept, whatever its representation
            for _ in range(2):
                status = self.get(f"{target}&format={name}").header("Cache-Status")
                self.assertRegex(status, r"\Aposenc; hit(;|\Z)")

    def test_server_timing_is_on_computed_answers_only(self):
        target = "/v1/encodings/sinusoidal?length=6&dim=12"
        timing = self.get(target).header("Server-Timing")
        for metric in timing.split(","):
            self.assertRegex(metric.strip(), r"\A[a-z]+;dur=\d+(\.\d+)?\Z")
        for name in FORMATS:
            self.assertIsNone(self.get(f"{target}&format={name}").header("Server-Timing"))

    def test_equal_requests_share_one_computation_however_they_are_written(self):
        before = self.server.metrics()
        queries = ["length=30&dim=6", "dim=6&length=3e1", "length=30.0&dim=6&base=1e4"]
        for query in queries:
            self.assert_ok(self.get(f"/v1/encodings/sinusoidal?{query}"))
        after = self.server.metrics()
        for counter, change in {"computed": 1, "cache_misses": 1, "cache_hits": 2}.items():
            name = f"posenc_{counter}_total"
            self.assertEqual(after[name] - before[name], change, name)


# requests with several large tensors
SEVERAL = (
    "rope?length=400&dim=128",
    "rope?length=400&dim=128&temperature=llama4",
    "axial_rope?sizes=20,20&dim=128&table=full",
    "mrope?text=300,0&grids=1,20,20&dim=128",
    "xpos?length=400&dim=128",
    "deberta?length=150&dim=64",
    "shaw?length=60&dim=32&max_distance=200",
    "transformer_xl?length=60&dim=64&heads=4",
    "retnet?length=100&heads=4&dim=64",
    "complex_order?length=200&dim=64&vocab=9",
    "hierarchical?length=400&base_length=300&dim=64",
)
ENTRY = 8192  # bytes of an entry besides its table, at most


class OneTensor(ServerCase):
    def ask(self, server, query, tensor, outcome):
        target = f"/v1/encodings/{query}&format=raw&tensor={tensor}"
        reply = self.assert_ok(server.request("GET", target))
        self.assertRegex(reply.header("Cache-Status"), rf"\Aposenc; {outcome}(;|\Z)")
        self.assertEqual(reply.header("Tensor-Name"), tensor)
        return reply

    def names(self, query):
        reply = self.head(f"/v1/encodings/{query}&format=raw")
        return reply.header("Tensor-Names").split(", ")

    def grow(self, server, query, tensor):
        """The bytes of a tensor that is computed, and those that the cache has gained."""
        before = server.metrics()
        size = len(self.ask(server, query, tensor, "fwd=miss").body)
        after = server.metrics()
        self.assertEqual(after["posenc_computed_total"] - before["posenc_computed_total"], 1)
        return size, after["posenc_cache_bytes"] - before["posenc_cache_bytes"]

    def test_one_tensor_is_computed_and_kept_alone(self):
        server = self.start()
        for query in SEVERAL:
            sizes = []
            for name in self.names(query):
                with self.subTest(query, tensor=name):
                    size, gained = self.grow(server, query, name)
                    self.assertGreater(gained, size)
                    self.assertLess(gained, size + ENTRY)
                    self.ask(server, query, name, "hit")
                    sizes.append(size)
            self.assertGreater(sorted(sizes)[-2], ENTRY, query)

    def test_a_whole_table_serves_requests_for_one_tensor_with_the_same_bytes(self):
        whole, alone = self.start(), self.start()
        for query in SEVERAL:
            whole.request("GET", f"/v1/encodings/{query}&format=safetensors")
            for name in self.names(query):
                with self.subTest(query, tensor=name):
                    reply = self.ask(whole, query, name, "hit")
                    other = self.ask(alone, query, name, "fwd=miss")
                    self.assertEqual(reply.body, other.body)
                    for field in ("ETag", "Content-Disposition"):
                        self.assertEqual(reply.header(field), other.header(field))

    def test_a_form_of_one_tensor_computes_the_first_one(self):
        query = "rope?length=500&dim=128"
        self.get(f"/v1/encodings/{query}", {"Accept": "application/x-npy"})
        self.ask(self.server, query, "cos", "hit")
        self.ask(self.server, query, "sin", "fwd=miss")

    def test_a_batch_computes_the_tensors_that_it_has(self):
        query, part = "rope?length=600&dim=128", {"scheme": "rope", "length": 600, "dim": 128}
        parts = [dict(part, name=name, tensor=name) for name in ("cos", "sin")]
        before = self.server.computed()
        self.assert_ok(self.post("/v1/batch", {"requests": parts}))
        self.assertEqual(self.server.computed() - before, 2)
        for name, outcome in (("cos", "hit"), ("sin", "hit"), ("inv_freq", "fwd=miss")):
            self.ask(self.server, query, name, outcome)


if __name__ == "__main__":
    unittest.main()
