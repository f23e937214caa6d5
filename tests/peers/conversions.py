"""/v1/convert against the converters of other libraries, run as their sources have them:
conversions.py torchtune=CHECKOUT llama.cpp=CHECKOUT transformers=FILE, where FILE is
convert_llama_weights_to_hf.py. Needs torch. Checkpoints and adapters are drawn (SEED=1,
DRAWS=20), converted by both, and compared byte by byte, tensor by tensor; torchtune's functions
return their tensors in the order of the input, the others are called tensor by tensor."""

import ast
import importlib
import json
import os
import pathlib
import random
import re
import struct
import sys
import types
from urllib.parse import quote

import numpy
import torch

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "http"))
from server import Server  # noqa: E402

SAFETENSORS = "application/vnd.safetensors"


def definitions(path, *names, **known):
    """Functions and classes of a file by name, however deep, without decorators and bases."""
    found = {}
    for node in ast.walk(ast.parse(pathlib.Path(path).read_text())):
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)) and node.name in names:
            found.setdefault(node.name, node)
    known = {"torch": torch, "Tensor": torch.Tensor, **known}
    for node in found.values():
        node.decorator_list = []
        if isinstance(node, ast.ClassDef):
            node.bases = []
            node.body = [
                each for each in node.body if not isinstance(each, (ast.Assign, ast.AnnAssign))
            ]
        module = ast.Module(
            [ast.ImportFrom("__future__", [ast.alias("annotations")], 0), node], []
        )
        exec(compile(ast.fix_missing_locations(module), str(path), "exec"), known)
    return types.SimpleNamespace(**known)


# ---- the service ----


def file_of(tensors):
    header, data = {}, b""
    for name, tensor in tensors.items():
        content = tensor.contiguous().numpy().tobytes()
        header[name] = {
            "dtype": "F32",
            "shape": list(tensor.shape),
            "data_offsets": [len(data), len(data) + len(content)],
        }
        data += content
    text = json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + data


def tensors_of(file):
    (size,) = struct.unpack("<Q", file[:8])
    found = {}
    for name, entry in json.loads(file[8 : 8 + size]).items():
        begin, end = (8 + size + offset for offset in entry["data_offsets"])
        array = numpy.frombuffer(file[begin:end], "<f4").reshape(entry["shape"])
        found[name] = torch.from_numpy(array.copy())
    return found


def convert(server, tensors, query, config=None):
    if config:
        query += "&config=" + quote(json.dumps(config))
    head = {"Content-Type": SAFETENSORS}
    reply = server.request("POST", f"/v1/convert/rope?{query}", head, file_of(tensors))
    if reply.status != 200:
        return reply.json()["detail"]
    return tensors_of(reply.body)


# ---- what is drawn ----


class Drawn:
    """A decoder of two layers with grouped heads, or with as many keys as queries."""

    model_type, qkv = "llama", ""

    def __init__(self, draw, wide=False):
        self.kv = draw.choice((1, 2, 3, 4))
        self.heads = self.kv * draw.choice((1, 2, 4))
        self.head = draw.choice((4, 8, 16))
        self.dim = self.heads * self.head + (draw.choice((8, 24)) if wide else 0)
        self.rank = draw.choice((1, 2, 8))
        self.seed = draw.randrange(1 << 30)

    def fill(self, shapes):
        torch.manual_seed(self.seed)
        return {name: torch.randn(shape) for name, shape in shapes.items()}

    def rows(self, module):
        heads = {"q": self.heads, "k": self.kv, "v": self.kv}
        return heads.get(re.sub("[wW]|_proj|attn_", "", module), 0) * self.head or self.dim

    def weights(self, pattern, modules, bias=None):
        shapes = {}
        for layer in range(2):
            for module in modules:
                name = pattern.format(layer, module)
                inputs = self.heads * self.head if module[0] in "o" else self.dim
                shapes[f"{name}.weight"] = (self.rows(module), inputs)
                if bias:
                    shapes[f"{name}.bias"] = (self.rows(module),)
        return self.fill(shapes)

    def adapter(self, pattern, modules, ends, magnitude=None):
        shapes = {}
        for layer in range(2):
            for module in modules:
                name = pattern.format(layer, module)
                inputs = self.heads * self.head if module[0] in "o" else self.dim
                shapes[f"{name}.{ends[0]}"] = (self.rank, inputs)
                shapes[f"{name}.{ends[1]}"] = (self.rows(module), self.rank)
                if magnitude:
                    shapes[f"{name}.{magnitude}"] = (self.rows(module),)
        return self.fill(shapes)

    def by_heads(self):
        return f"&heads={self.heads}&kv_heads={self.kv}{self.qkv}", None

    def by_config(self):
        return "", {
            "model_type": self.model_type,
            "hidden_size": self.dim,
            "num_attention_heads": self.heads,
            "num_key_value_heads": self.kv,
            "head_dim": self.head,
            "num_hidden_layers": 2,
        }

    def torchtune(self):
        return {
            "num_heads": self.heads,
            "num_kv_heads": self.kv,
            "dim": self.dim,
            "head_dim": self.head,
        }


HF = ("q_proj", "k_proj", "v_proj", "o_proj")
TUNE = ("q_proj", "k_proj", "v_proj", "output_proj")
HF_LAYER = "model.layers.{}.self_attn.{}"
PEFT = ("lora_A.weight", "lora_B.weight")
INTERLEAVE, HALVE = "from=half&to=interleaved", "from=interleaved&to=half"

# ---- the libraries: each yields (what, tensors, how, drawn, theirs: {our name: tensor}) ----


def in_order(tensors, theirs):
    return dict(zip(tensors, theirs.values(), strict=True))


def torchtune(checkout, draw):
    for name in ("torchtune", "torchtune.models", "torchtune.models.gemma2"):
        package = sys.modules.setdefault(name, types.ModuleType(name))
        package.__path__ = [f"{checkout}/{name.replace('.', '/')}"]
    base = importlib.import_module("torchtune.models.convert_weights")
    gemma = importlib.import_module("torchtune.models.gemma2._convert_weights")
    for wide, prefix, library in ((False, "", base), (True, "gemma2_", gemma)):
        drawn = Drawn(draw, wide)
        how = drawn.torchtune()
        tensors = drawn.weights(HF_LAYER, HF[:3])
        theirs = getattr(library, f"{prefix}hf_to_tune")(tensors, **how)
        yield f"{prefix}hf_to_tune", tensors, INTERLEAVE, drawn, in_order(tensors, theirs)
        tensors = drawn.weights("layers.{}.attn.{}", TUNE[:3])
        theirs = getattr(library, f"{prefix}tune_to_hf")(tensors, **how)
        yield f"{prefix}tune_to_hf", tensors, HALVE, drawn, in_order(tensors, theirs)
    drawn = Drawn(draw)
    ends = ("lora_a.weight", "lora_b.weight")
    for magnitude in (None, "magnitude"):
        tensors = drawn.adapter("layers.{}.attn.{}", TUNE, ends, magnitude)
        theirs = base.tune_to_peft_adapter_weights(tensors, **drawn.torchtune())
        what = "tune_to_peft_adapter_weights" + (", DoRA" if magnitude else "")
        yield what, tensors, HALVE, drawn, in_order(tensors, theirs)


def llama_cpp(checkout, draw):
    lora = definitions(
        f"{checkout}/convert_lora_to_gguf.py",
        "LoraTorchTensor",
        prod=__import__("math").prod,
        Sequence=list,
        SupportsIndex=int,
        cast=lambda _, value: value,
    ).LoraTorchTensor
    names = types.SimpleNamespace(
        MODEL_TENSOR=types.SimpleNamespace(ATTN_Q=0, ATTN_K=1, ATTN_V=2)
    )
    models = definitions(
        f"{checkout}/convert_hf_to_gguf.py",
        "LlamaModel",
        "InternLM2Model",
        "BaichuanModel",
        gguf=names,
        logger=types.SimpleNamespace(info=lambda *_: None),
    )
    models.LlamaModel.permute = staticmethod(models.LlamaModel.permute)

    def modify(kind, drawn, name, tensor):
        """The tensors that its class makes of one, one after another."""
        model = kind.__new__(kind)
        model.map_tensor_name = lambda name: name
        model.format_tensor_name = lambda part, _: part
        model.hparams = drawn.by_config()[1]
        return [
            made
            for _, made in kind.modify_tensors(model, tensor, name, int(name.split(".")[2]))
        ]

    def adapters(kind, drawn, tensors):
        theirs = {}
        for name in tensors:
            if name.endswith(PEFT[0]):
                other, whole = name.replace(*PEFT), name.replace(PEFT[0], "weight")
                pair = lora(tensors[name], tensors[other])
                made = [each.get_lora_A_B() for each in modify(kind, drawn, whole, pair)]
                theirs[name] = made[0][0]
                theirs[other] = torch.cat([each[1] for each in made])
        return theirs

    def weights(kind, drawn, tensors):
        return {
            name: torch.cat([*modify(kind, drawn, name, tensor)])
            for name, tensor in tensors.items()
        }

    drawn = Drawn(draw)
    tensors = drawn.weights(HF_LAYER, HF, bias=True)
    kind = models.LlamaModel
    yield "LlamaModel", tensors, INTERLEAVE, drawn, weights(kind, drawn, tensors)
    tensors = drawn.adapter(HF_LAYER, HF, PEFT)
    yield "LlamaModel, LoRA", tensors, INTERLEAVE, drawn, adapters(kind, drawn, tensors)

    # fused: theirs come apart, as queries, keys and values one after another
    def fused(drawn, name, kind, apart):
        rows = (drawn.heads + 2 * drawn.kv) * drawn.head
        shapes = {f"{name}.weight": (rows, drawn.dim)}
        tensors = drawn.fill(shapes)
        theirs = weights(kind, drawn, tensors)
        yield kind.__name__, tensors, INTERLEAVE, drawn, theirs, apart
        shapes = {
            f"{name}.{PEFT[0]}": (drawn.rank, drawn.dim),
            f"{name}.{PEFT[1]}": (rows, drawn.rank),
        }
        tensors = drawn.fill(shapes)
        theirs = adapters(kind, drawn, tensors)
        yield f"{kind.__name__}, LoRA", tensors, INTERLEAVE, drawn, theirs, apart

    def ungroup(tensor):
        groups = tensor.reshape(drawn.kv, -1, drawn.head, tensor.shape[-1])
        parts = groups[:, :-2], groups[:, -2], groups[:, -1]
        return torch.cat([part.reshape(-1, tensor.shape[-1]) for part in parts])

    def stay(tensor):
        return tensor

    drawn = Drawn(draw)
    drawn.model_type, drawn.qkv = "internlm2", "&qkv=grouped"
    yield from fused(drawn, "model.layers.0.attention.wqkv", models.InternLM2Model, ungroup)
    drawn = Drawn(draw)
    drawn.model_type, drawn.qkv, drawn.kv = None, "&qkv=stacked", drawn.heads
    yield from fused(drawn, "model.layers.0.self_attn.W_pack", models.BaichuanModel, stay)


def transformers(path, draw):
    drawn = Drawn(draw)
    permute = definitions(path, "permute", dim=drawn.dim).permute
    tensors = drawn.weights("layers.{}.attention.{}", ("wq", "wk", "wv"))
    theirs = dict(tensors)
    for name in tensors:
        heads = {"wq": drawn.heads, "wk": drawn.kv}.get(name.split(".")[-2])
        if heads:
            theirs[name] = permute(tensors[name], heads, dim1=heads * drawn.head)
    yield "permute", tensors, HALVE, drawn, theirs


LIBRARIES = {"torchtune": torchtune, "llama.cpp": llama_cpp, "transformers": transformers}


def unlike(ours, theirs, apart=lambda tensor: tensor):
    """Names of tensors whose bytes differ."""
    if isinstance(ours, str):
        return [ours]
    return [
        name
        for name, tensor in ours.items()
        if not torch.equal(apart(tensor) if "lora_A" not in name else tensor, theirs[name])
    ]


def main():
    given = dict(argument.split("=", 1) for argument in sys.argv[1:])
    draws = int(os.environ.get("DRAWS", "20"))
    counts, differences = {}, {}
    server = Server()
    for library, place in given.items():
        for number in range(draws):
            draw = random.Random(f"{os.environ.get('SEED', '1')} {library} {number}")
            for what, tensors, how, drawn, theirs, *apart in LIBRARIES[library](place, draw):
                by_config = number % 2 == 1 and drawn.model_type
                more, config = drawn.by_config() if by_config else drawn.by_heads()
                ours = convert(server, tensors, how + more, config)
                found = unlike(ours, theirs, *apart)
                counted = counts.setdefault((library, what), [0, 0, 0])
                counted[0] += 1
                counted[1] += len(tensors)
                counted[2] += len(found)
                differences.setdefault((library, what), set()).update(
                    name.split(".", 3)[-1] for name in found
                )
    server.stop()
    print("| library | what | files | tensors | unlike | which |\n|---|---|---|---|---|---|")
    for (library, what), row in counts.items():
        which = "; ".join(sorted(differences[library, what]))
        print(f"| {library} | {what} | {row[0]} | {row[1]} | {row[2]} | {which} |")


if __name__ == "__main__":
    main()
