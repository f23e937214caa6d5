"""The README's own lines that bring encodings into a model, run and checked by other means."""

import contextlib
import importlib.util
import io
import unittest

import numpy as np

from service import ServiceTest
from test_trained_example import section

TORCH = importlib.util.find_spec("torch") is not None


def softmax(scores):
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    return weights / weights.sum(-1, keepdims=True)


class IntoAModel(ServiceTest):
    def run_blocks(self, count):
        """The names that the first blocks of the section define, and what they print."""
        blocks = section("Into a model")
        self.assertEqual([language for language, _ in blocks], ["python"] * 4)
        names, printed = {}, io.StringIO()
        text = "\n".join(text for _, text in blocks[:count])
        with contextlib.redirect_stdout(printed):
            exec(text.replace("http://127.0.0.1:8080", self.server.url), names)
        return names, printed.getvalue()

    def test_a_sinusoidal_table_is_added_to_the_words(self):
        names, _ = self.run_blocks(1)
        angle = np.arange(4)[:, None] * 10000.0 ** (-np.arange(0, 64, 2) / 64)
        table = np.stack([np.sin(angle), np.cos(angle)], axis=-1).reshape(4, 64)
        want = names["words"][names["tokens"]] * 8 + table
        self.assertEqual(names["embedded"].shape, (2, 4, 64))
        np.testing.assert_allclose(names["embedded"], want, atol=1e-6)

    def test_rotated_queries_and_keys_know_their_distance_alone(self):
        names, _ = self.run_blocks(2)
        query, key = (names[name][..., :16] + 1j * names[name][..., 16:]
                      for name in ("query", "key"))
        turn = np.exp(1j * np.arange(16)[:, None] * 10000.0 ** (-np.arange(0, 32, 2) / 32))
        want = np.einsum("bhid,bhjd,id,jd->bhij", query, key.conj(), turn, turn.conj()).real
        np.testing.assert_allclose(names["scores"], want / 32**0.5, atol=1e-5)
        rotated = names["rotate"](np.broadcast_to(names["query"][:, :, :1], (2, 8, 16, 32)))
        products = rotated @ rotated.swapaxes(-1, -2)
        np.testing.assert_allclose(products[..., 1:, 1:], products[..., :-1, :-1], atol=1e-4)

    def test_biases_are_added_to_the_scores(self):
        names, _ = self.run_blocks(3)
        query, key, value = names["query"], names["key"], names["value"]
        scores = query @ key.swapaxes(-1, -2) / 32**0.5
        distance = np.arange(16)[None, :] - np.arange(16)[:, None]
        bias = 2.0 ** -np.arange(1, 9)[:, None, None] * distance
        want = softmax(np.where(distance > 0, -np.inf, scores + bias)) @ value
        np.testing.assert_allclose(names["causal"], want, atol=1e-9)
        np.testing.assert_allclose(names["last"], want[:, :, -1:], atol=1e-9)
        table = names["fetch"]("learned?length=32&dim=8&seed=1")  # what t5 draws
        bucket = names["fetch"]("t5?length=16&heads=8&tensor=bucket")
        want = softmax(scores + table[bucket].transpose(2, 0, 1)) @ value
        np.testing.assert_allclose(names["bucketed"], want, atol=1e-9)

    @unittest.skipUnless(TORCH, "torch is not installed: the README's modules are not run")
    def test_torch_modules_take_the_same_tables(self):
        import torch

        torch.manual_seed(0)
        names, printed = self.run_blocks(4)
        self.assertEqual(printed, "torch.Size([2, 16, 64])\n")
        embedding = names["Embedding"](100, 16, 64)
        tokens = torch.arange(20).view(2, 10)
        added = embedding(tokens) - embedding.words(tokens)
        want = names["fetch"]("sinusoidal?length=10&dim=64")
        np.testing.assert_allclose(added.detach().numpy(), np.stack([want] * 2), atol=1e-6)
        attention = names["Attention"](16, 64, 8)
        x = torch.randn(2, 16, 64)
        before = attention(x).detach().numpy()
        changed = x.clone()
        changed[:, 9:] += 1  # what comes later changes nothing before it
        after = attention(changed).detach().numpy()
        np.testing.assert_array_equal(after[:, :9], before[:, :9])
        self.assertGreater(np.abs(after[:, 9:] - before[:, 9:]).min(), 0)
        self.assertEqual(dict(attention.named_parameters()).keys(),
                         {"project.weight", "project.bias"})


if __name__ == "__main__":
    unittest.main()
