"""Makes the rotary tables of one runtime with its own code, from a folder of its source:
runtime_code.py RUNTIME FOLDER TRANSFORMERS OUT. Reads lines of JSON, the entries of
runtimes.json with "runs": {context: [positions]} and the "parts" of posenc's plan; writes the
tables to OUT, and a line for each.

transformers: the class of a model's rotary embedding is made from the config and called.
vLLM and SGLang: the class of a model's layer is made from the config, with stand-ins for all
but the modules of models and of rotary embeddings, so that it is their code that says what
get_rope is told; the tables are read by turning vectors of ones. llama.cpp: its converter
writes the keys and the tensors of factors; what its C code then computes is restated here, in
the same order in float32. Megatron-core: its classes, with options from posenc's plan."""

import importlib
import importlib.machinery
import importlib.metadata
import importlib.util
import inspect
import json
import math
import re
import sys
import types
from pathlib import Path

import numpy as np
import stand_ins
import torch

ROWS = 1_100_000  # rows of a table that is kept: Llama 4's has 10 million
FLAG = re.compile(r"_?(is|has|use|cpu_has|enable|support(?!_torch))(_|$)|enabled$|get_bool")


class Off(int):
    """A flag that is not set, and a function that says so."""

    def __call__(self, *args, **named):
        return self

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return self


class One(int):
    """In place of what a layer consists of: the number 1 that is called, and that has all
    attributes and items."""

    def __new__(cls, *args, **named):
        return int.__new__(cls, 1)

    def __init__(self, *args, **named):
        pass

    def __call__(self, *args, **named):
        single = (
            len(args) == 1 and not named and (inspect.isclass(args[0]) or callable(args[0]))
        )
        return args[0] if single else One()  # a decorator

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return Off(0) if FLAG.match(name) or name.isupper() else One()

    def __getitem__(self, index):
        return One()

    def __setitem__(self, index, value):
        pass

    def __enter__(self):
        return self

    def __exit__(self, *failure):
        pass


class Kind(type):
    """The class of classes that have all attributes."""

    def __getattr__(cls, name):
        if name.startswith("_"):
            raise AttributeError(name)
        return Off(0) if FLAG.match(name) else One()


class Layer(metaclass=Kind):
    """In place of a class of layers, or of what classes of them inherit."""

    def __init__(self, *args, **named):
        super().__init__()

    def __class_getitem__(cls, item):
        return cls

    def __call__(self, *args, **named):
        return One()

    def __getattr__(self, name):
        if name.startswith("_"):
            raise AttributeError(name)
        return Off(0) if FLAG.match(name) else One()


class Operation(torch.nn.Module):
    """In place of the class that rotary embeddings inherit."""

    def __init__(self, *args, **named):
        super().__init__()

    @classmethod
    def register(cls, name):
        del name
        return lambda registered: registered

    @classmethod
    def enabled(cls):
        return False


class StandIn(types.ModuleType):
    __path__ = []

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        if name in GIVEN:
            value = GIVEN[name]
        elif FLAG.match(name) or name.isupper() and self.__name__.endswith("envs"):
            value = Off(0)
        elif name[0].isupper() and not name.isupper():
            value = Kind(name, (Layer,), {})
        else:
            value = One()
        setattr(self, name, value)
        return value


HYBRID = ("qwen3_next", "qwen3next")  # whose other layers have no attention
GIVEN = {}  # what a stand-in has under a name, where One or Layer will not do


class Finder:
    """Finds a stand-in for each module of `packages` that `real` does not match."""

    def __init__(self, packages, real):
        self.packages, self.real = packages, re.compile(real)

    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in self.packages and not self.real.match(name):
            return importlib.machinery.ModuleSpec(name, self, is_package=True)
        return None

    def create_module(self, spec):
        return StandIn(spec.name)

    def exec_module(self, module):
        pass


def package(name, folder):
    """A package whose own code does not run, but whose modules are found."""
    made = StandIn(name)
    made.__path__ = [str(folder)]
    sys.modules[name] = made
    above, _, last = name.rpartition(".")
    if above:
        setattr(sys.modules[above], last, made)


def load_transformers(checkout):
    """Import a release of transformers; the same stand-ins as transformers_peer.py's."""
    folder = Path(checkout) / "src"
    sys.path.insert(0, str(folder))
    text = (folder / "transformers/__init__.py").read_text()
    distributions = importlib.metadata.packages_distributions()
    distributions.update({name: [name] for name in stand_ins.PACKAGES})
    importlib.metadata.packages_distributions = lambda: distributions
    stand_ins.install(int(re.search(r'__version__ = "(\d+)', text)[1]) < 5)
    import transformers

    stand_ins.let_packages_be_missing(transformers)
    configs = importlib.import_module("transformers.configuration_utils")
    if hasattr(configs, "wrap_init_to_accept_kwargs"):  # as huggingface_hub's strict does
        configs.wrap_init_to_accept_kwargs(configs.PretrainedConfig)
    known = importlib.metadata.version
    release = {"transformers": transformers.__version__, "torch": torch.__version__}
    importlib.metadata.version = lambda name: release.get(name) or known(name)
    return transformers


def config_of(asked, own=()):
    """A config as transformers reads it, or one of a runtime's `own` classes; of a type that
    neither knows, as the classes beside a model's weights do it."""
    from transformers import PretrainedConfig
    from transformers.models.auto.configuration_auto import CONFIG_MAPPING

    config = json.loads(json.dumps({**asked["config"], **asked.get("also", {})}))
    for made in own:
        if made.model_type == config["model_type"]:
            return made(
                **{name: value for name, value in config.items() if name != "model_type"}
            )
    if config["model_type"] in CONFIG_MAPPING.keys():
        return CONFIG_MAPPING[config["model_type"]].from_dict(config)
    made = PretrainedConfig()
    for name, value in config.items():
        setattr(made, name, value)
    if hasattr(made, "convert_rope_params_to_dict") and hasattr(made, "rope_parameters"):
        made.convert_rope_params_to_dict()
    return made


def classes_of_configs(folder, register):
    """The classes of configs in a folder, as far as a pattern of a runtime's register, with
    their model_type and name, is found."""
    found = []
    for path in sorted(folder.glob("*.py")):
        if 'model_type = "' not in path.read_text() or path.stem == "__init__":
            continue
        spec = importlib.util.spec_from_file_location(f"own_{path.stem}", path)
        module = importlib.util.module_from_spec(spec)
        try:
            spec.loader.exec_module(module)
        except Exception:  # one that wants more than stand-ins
            continue
        found += [
            made
            for name, made in vars(module).items()
            if inspect.isclass(made) and made.__module__ == module.__name__
            if isinstance(vars(made).get("model_type"), str)
            if register(made.model_type, name)
        ]
    return found


def text_of(config):
    return config.get_text_config() if hasattr(config, "get_text_config") else config


# ---- transformers ----


def halves(table, count):
    """A table of half the columns, of one that repeats them in halves or side by side."""
    table = table.reshape(count, -1) if table.shape[0] != count else table
    half = (
        table.shape[-1] // 2
    )  # copies may differ in the last bit: cos of vectors, and of rests
    for first, second in (
        (table[:, :half], table[:, half:]),
        (table[:, 0::2], table[:, 1::2]),
    ):
        if first.shape == second.shape and torch.allclose(first, second, rtol=0, atol=1e-5):
            return first
    return table


class Transformers:
    """One release of transformers: the class of a model's rotary embedding."""

    def __init__(self, folder, transformers):
        del folder, transformers

    def embeddings(self, config):
        """(layer type, or none; embedding) of each that the model has."""
        beside = type(config).__module__.replace("configuration_", "modeling_")
        module = importlib.import_module(beside)
        found = [
            made
            for name, made in vars(module).items()
            if re.search(r"Rotary\w*Embedding$", name) and "Vision" not in name
            if "config" in inspect.signature(made.__init__).parameters
        ]
        if not found:
            return []
        takes = inspect.signature(found[0].__init__).parameters
        kinds = sorted(set(getattr(config, "layer_types", None) or []))
        if "layer_type" in inspect.signature(found[0].forward).parameters:
            made = found[0](config)
            return [(kind, lambda *x, k=kind: made(*x, layer_type=k)) for kind in kinds]
        if "rope_type" in takes:  # OLMo 3 of transformers 4
            full, local = found[0](config), found[0](config, rope_type="default")
            return [("full_attention", full), ("sliding_attention", local)]
        if getattr(config, "rope_local_base_freq", None):  # Gemma 3 of transformers 4
            local = json.loads(json.dumps(config.to_dict()))
            local.update(rope_theta=config.rope_local_base_freq)
            local.update(rope_scaling={"rope_type": "default"})
            local = type(config).from_dict(local)
            return [
                ("full_attention", found[0](config)),
                ("sliding_attention", found[0](local)),
            ]
        return [(None, found[0](config))]

    def tables(self, asked, context, positions):
        config = text_of(config_of(asked))
        ids = torch.tensor(positions)
        if config.model_type == "gptj":
            module = importlib.import_module("transformers.models.gptj.modeling_gptj")
            rows = config.max_position_embeddings
            table = module.create_sinusoidal_positions(rows, config.rotary_dim)
            sin, cos = table[ids[ids < rows]].chunk(2, dim=-1)
            return [table_of(None, cos, sin, "create_sinusoidal_positions")]
        made = self.embeddings(config)
        if not made:
            raise LookupError("no class of rotary embeddings that takes a config")
        tables = []
        for kind, embedding in made:
            x = torch.zeros(1, 1, dtype=torch.get_default_dtype())
            is_multiple = "mrope_section" in str(getattr(config, "rope_parameters", None)) or (
                "mrope_section" in str(getattr(config, "rope_scaling", None))
            )
            asked_ids = ids[None].expand(3, 1, -1) if is_multiple else ids[None]
            given = embedding(x, asked_ids)
            if torch.is_tensor(given):  # complex
                cos, sin = given.real[0], given.imag[0]
            else:
                cos, sin = (halves(t.reshape(-1, *t.shape[-2:])[0], len(ids)) for t in given)
            tables.append(table_of(kind, cos, sin, type(config).__name__))
        return tables

    def bias(self, asked):
        """ALiBi's slopes, or T5's buckets of the distances 0 to 1024 of a decoder."""
        kind, config = asked["config"]["model_type"], config_of(asked)
        module = importlib.import_module(f"transformers.models.{kind}.modeling_{kind}")
        if kind == "bloom":
            table = module.build_alibi_tensor(torch.ones(1, 2), config.n_head, torch.float32)
            return table[:, 0, 1]
        if kind == "mpt":
            heads, most = config.n_heads, config.attn_config.alibi_bias_max
            return -module.build_mpt_alibi_tensor(heads, 2, most)[:, 0, 0]
        buckets = module.T5Attention._relative_position_bucket
        distances = -torch.arange(1025)
        count, longest = (
            getattr(config, f"relative_attention_{name}")
            for name in ("num_buckets", "max_distance")
        )
        return buckets(distances, bidirectional=False, num_buckets=count, max_distance=longest)


def table_of(kind, cos, sin, how, layers=None, style=None, rows=None):
    if torch.is_tensor(cos):
        cos, sin = cos.detach().float().numpy(), sin.detach().float().numpy()
    return {
        "kind": kind, "cos": cos, "sin": sin, "how": how, "layers": layers, "style": style,
        "rows": rows,
    }  # fmt: skip


# ---- vLLM and SGLang ----


class Served:
    """What vLLM and SGLang have in common: layers that call get_rope."""

    def __init__(self, folder, transformers):
        del transformers
        self.install(Path(folder))
        self.rotary = importlib.import_module(self.ROTARY)
        self.made, self.real, self.current = [], self.rotary.get_rope, None
        self.factory = sys.modules[self.real.__module__]
        self.factory.get_rope = self.rotary.get_rope = self.get_rope

    def get_rope(self, *args, **named):
        bound = inspect.signature(self.real).bind(*args, **named)
        bound.arguments["max_position"] = min(bound.arguments["max_position"], ROWS)
        made = self.real(*bound.args, **bound.kwargs)
        told = {k: v for k, v in bound.arguments.items() if k not in ("dtype",)}
        self.made.append((made, told))
        return made

    def layer_classes(self, architecture):
        """Classes of layers beside a model's class, or beside the class that it inherits."""
        name = self.file_of(architecture)
        module = importlib.import_module(self.MODELS + name)
        made = getattr(module, architecture, None)
        for above in [
            module.__name__,
            *(base.__module__ for base in inspect.getmro(made or int)),
        ]:
            found = [
                value
                for name, value in vars(sys.modules[above]).items()
                if inspect.isclass(value) and value.__module__ == above
                if re.search(r"(Layer|Block|Attention)$", name) and "Vision" not in name
            ]
            if found and above.startswith(self.MODELS):
                return sorted(found, key=lambda value: "Attention" in value.__name__)
        return []

    def arguments(self, made, config, index):
        """What the class of a layer is called with: the config, and a layer's number."""
        prefix, kinds = f"model.layers.{index}", getattr(config, "layer_types", None)
        whole = One()
        known = {
            "config": config, "model_config": One(), "vllm_config": VllmConfig(config),
            "prefix": prefix, "layer_id": index, "layer_idx": index, "layer_number": index,
            "hidden_size": getattr(config, "hidden_size", None),
            "num_heads": getattr(config, "num_attention_heads", None),
            "layer_type": kinds[index] if kinds else "full_attention",
            "num_kv_heads": getattr(config, "num_key_value_heads", None),
            "quant_config": None, "cache_config": None,
        }  # fmt: skip
        chosen = {}
        for name, parameter in list(inspect.signature(made.__init__).parameters.items())[1:]:
            if name in known and known[name] is not None:
                chosen[name] = known[name]
            elif parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
                continue
            elif parameter.default is parameter.empty:
                chosen[name] = None if name in known else whole
        return chosen

    def embedding_of_layer(self, classes, config, index):
        """The rotary embedding that a layer makes, and what get_rope was told; None if the
        layer is made without one."""
        failure = None
        for made in classes:
            self.made.clear()
            try:
                layer = made(**self.arguments(made, config, index))
                failure = None
            except Exception as error:  # whatever a stand-in did not do
                layer, failure = None, failure or error
            if self.made:
                rotary, told = self.made[-1]
                return (rotary, told) if self.turns(layer, config) else None
            if layer is not None and (self.has_attention(layer) or "linear_attn" in dir(layer)):
                return None
        if failure:
            raise failure
        return None

    def has_attention(self, layer):
        return any("ttn" in name or "ttention" in name for name, _ in layer.named_children())

    def turns(self, layer, config):
        """Whether the layer's attention applies what it made."""
        for part in layer.modules() if layer is not None else ():
            flags = vars(part)
            if "apply_rope_all_layers" in flags:  # EXAONE 4
                return bool(flags.get("sliding_window")) or bool(flags["apply_rope_all_layers"])
            if "sliding_window_pattern" in flags and "is_sliding" in flags:  # SGLang's EXAONE 4
                return not flags["sliding_window_pattern"] or bool(flags["is_sliding"])
            if "v1" in flags and "sliding_window_size" in flags:  # SGLang's Command R7B
                return flags["v1"] or flags["sliding_window_size"] > 0
            if "v1" in flags and "sliding_window" in flags:  # Command R7B
                return flags["v1"] or bool(flags["sliding_window"])
        return True

    def tables(self, asked, context, positions):
        config = self.config(asked)
        self.current = VllmConfig(config)
        self.factory._ROPE_DICT.clear()
        classes = self.layer_classes(asked["architecture"])
        by_rotary = {}
        for index in range(config.num_hidden_layers):
            found = self.embedding_of_layer(classes, config, index)
            if found:
                by_rotary.setdefault(id(found[0]), (*found, []))[2].append(index)
        if not by_rotary:
            raise LookupError("no layer calls get_rope")
        if config.model_type in HYBRID:
            by_rotary = {key: (*found[:2], None) for key, found in by_rotary.items()}
        return [self.read(*found, context, positions) for found in by_rotary.values()]

    def bias(self, asked):
        kind, config = asked["config"]["model_type"], config_of(asked)
        module = importlib.import_module(self.MODELS + self.file_of(asked["architecture"]))
        if kind == "mpt":
            return module._get_alibi_slopes(config.n_heads, config.attn_config.alibi_bias_max)
        return module._get_alibi_slopes(config.n_head)

    def read(self, rotary, told, layers, context, positions):
        """The table of an embedding, by turning (1, 0) at each position."""
        if hasattr(rotary, "_ensure_cos_sin_cache_length"):  # as for a server's longer context
            rotary._ensure_cos_sin_cache_length(positions[-1])
        caches = {name: len(t) for name, t in rotary.named_buffers() if t.dim() == 2}
        rows = max(caches.values())
        if "long_short_cos_sin_cache" in caches:
            rows = rotary.max_position_embeddings
        kept = torch.tensor([p for p in positions if p < rows])
        head, width = rotary.head_size, rotary.rotary_dim
        ones = torch.zeros(len(kept), head, dtype=torch.float32)
        is_half = getattr(rotary, "is_neox_style", True)
        first = slice(0, width // 2) if is_half else slice(0, width, 2)
        second = slice(width // 2, width) if is_half else slice(1, width, 2)
        ones[:, first] = 1
        if type(rotary).__name__ == "DualChunkRotaryEmbedding":
            cache = rotary.cos_sin_q_cache
            cos, sin = cache[kept % len(cache)].chunk(2, dim=-1)
        elif self.is_split(rotary):
            cos, sin = rotary.cos_sin_cache[kept].chunk(2, dim=-1)
        else:
            turn = getattr(rotary, "forward_native", rotary.forward)
            turned = turn(kept, ones, ones.clone())[0].reshape(len(kept), head)
            cos, sin = turned[:, first], turned[:, second]
        told = {k: v for k, v in told.items() if "config" not in k or v}
        how = f"{type(rotary).__name__}: {json.dumps(told, default=str)[:300]}"
        return table_of(None, cos, sin, how, layers, "half" if is_half else "interleaved", rows)

    def is_split(self, rotary):
        """Whether turning takes what only a device has: the cache is read then."""
        return "MRotary" in type(rotary).__name__ or "Deepseek" in type(rotary).__name__


class VllmConfig(One):
    """The config of a server: a model's config, and a length that the model has."""

    def __new__(cls, config):
        return int.__new__(cls, 1)

    def __init__(self, config):
        self.model_config = One()
        self.model_config.hf_config = config
        self.model_config.hf_text_config = config
        self.model_config.max_model_len = getattr(config, "max_position_embeddings", 2048)
        self.cache_config = self.quant_config = None


class Arguments(types.SimpleNamespace):
    """The options of a server, which are not set."""

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return Off(0)


class Vllm(Served):
    ROTARY = "vllm.model_executor.layers.rotary_embedding"
    MODELS = "vllm.model_executor.models."
    REAL = (
        r"vllm\.model_executor\.(layers\.rotary_embedding|models\.)"
        r"|vllm\.transformers_utils\.config$"
    )

    def install(self, folder):
        self.folder = folder
        sys.meta_path.insert(0, Finder(("vllm", "triton", "flashinfer", "einops"), self.REAL))
        GIVEN.update(CustomOp=Operation, get_current_vllm_config=lambda: self.current)
        for name in ("vllm", "vllm.model_executor", "vllm.model_executor.models"):
            package(name, folder / name.replace(".", "/"))
        for name in ("vllm.model_executor.layers", "vllm.transformers_utils"):
            package(name, folder / name.replace(".", "/"))
        self.registry = (folder / "vllm/model_executor/models/registry.py").read_text()
        GIVEN["getattr_iter"] = function_of(folder / "vllm/config/utils.py", "getattr_iter")
        configs = folder / "vllm/transformers_utils"
        text = (configs / "config.py").read_text()
        self.own = classes_of_configs(
            configs / "configs", lambda kind, name: re.search(rf'\b{kind}="{name}"', text)
        )

    def file_of(self, architecture):
        found = re.search(rf'"{architecture}": \(\s*"(\w+)"', self.registry)
        if not found:
            raise LookupError(f"its list of models has no {architecture}")
        return found[1]

    def config(self, asked):
        utilities = importlib.import_module("vllm.transformers_utils.config")
        config = text_of(config_of(asked, self.own))
        utilities.patch_rope_parameters(config)
        return config


class Sglang(Served):
    ROTARY = "sglang.srt.layers.rotary_embedding"
    MODELS = "sglang.srt.models."
    REAL = r"sglang\.srt\.(layers\.rotary_embedding|models\.|utils\.hf_transformers\.common)"

    def install(self, folder):
        self.folder = folder = folder / "python"
        finder = Finder(
            ("sglang", "triton", "flashinfer", "einops", "vllm", "sgl_kernel"), self.REAL
        )
        sys.meta_path.insert(0, finder)
        arguments = Arguments(rl_on_policy_target=None)
        align = types.SimpleNamespace(get=lambda: 128)  # its default
        GIVEN["envs"] = Arguments(SGLANG_ROPE_CACHE_ALIGN=align)
        GIVEN.update(
            MultiPlatformOp=Operation, get_server_args=lambda: arguments,
            get_device=lambda: "cpu", is_cuda=lambda: True,
            get_compiler_backend=lambda: "eager",
        )  # fmt: skip
        for name in ("sglang", "sglang.srt", "sglang.srt.models", "sglang.srt.layers"):
            package(name, folder / name.replace(".", "/"))
        common = folder / "sglang/srt/utils/hf_transformers/common.py"
        GIVEN["get_rope_config"] = function_of(common, "get_rope_config")
        text = common.read_text()
        self.own = classes_of_configs(
            folder / "sglang/srt/configs", lambda kind, name: re.search(rf"\b{name}\b", text)
        )

    def file_of(self, architecture):
        for path in sorted((self.folder / "sglang/srt/models").glob("*.py")):
            if re.search(rf"^class {architecture}\(", path.read_text(), re.M):
                return path.stem
        raise LookupError(f"its models have no {architecture}")

    def config(self, asked):
        return text_of(config_of(asked, self.own))


def function_of(path, name):
    """A module's function, without the module's imports."""
    text = re.search(rf"^def {name}\(.*?(?=\n\n\n|\Z)", path.read_text(), re.M | re.S)[0]
    made = {"logger": One()}
    exec(compile("from __future__ import annotations\n" + text, str(path), "exec"), made)
    return made[name]


# ---- llama.cpp ----


class Writer:
    """What llama.cpp's converter would write: its keys."""

    def __init__(self, *args, **named):
        self.keys = {}

    def __getattr__(self, name):
        if not name.startswith("add_"):
            raise AttributeError(name)

        def add(value=None, *args, **named):
            self.keys[name.removeprefix("add_")] = value

        return add


# What src/llama-model.cpp and src/models say of an architecture with two kinds of layers: of
# the layers with a window, whether theta and the factor are those of the model, whether they
# alone turn; and of which layers every n-th does not turn
WINDOWED = {
    "gemma3": {"pattern": 6, "base": 10000.0, "scaled": False},
    "olmo2": {"pattern": 4, "base": None, "scaled": False},
    "cohere2": {"pattern": 4, "base": None, "scaled": True, "alone": True},
    "exaone4": {"pattern": 4, "base": None, "scaled": True, "alone": True},
}
STEPS = {"llama4": 4, "smollm3": 4}


class Llama:
    """llama.cpp: its converter runs, its C code is restated."""

    def __init__(self, folder, transformers):
        del transformers
        sys.path.insert(0, str(Path(folder) / "gguf-py"))
        sys.path.insert(0, str(folder))
        self.code = importlib.import_module("convert_hf_to_gguf")
        self.code.gguf.GGUFWriter = Writer
        self.code.ModelBase.index_tensors = lambda self, **named: {}
        self.code.ModelBase.load_hparams = lambda *args, **named: json.loads(
            json.dumps(self.config)
        )
        self.config = None

    def converted(self, asked):
        """The architecture, the keys and the tensors of factors of a config: as transformers
        gives it, or where the converter misses keys then, with what is written beside."""
        from transformers.models.auto.configuration_auto import CONFIG_MAPPING

        read = written = json.loads(json.dumps({**asked["config"], **asked.get("also", {})}))
        if written["model_type"] in CONFIG_MAPPING.keys():  # else as the converter does
            read = json.loads(json.dumps(config_of(asked).to_dict(), default=str))
        try:
            return self.convert(asked, read)
        except KeyError:
            return self.convert(asked, {**read, **written})

    def convert(self, asked, config):
        architecture = asked.get("whole") or asked["architecture"]
        made = self.code.ModelBase.from_model_architecture(architecture)
        self.config = {**config, "architectures": [architecture]}
        model = made(Path("."), self.code.gguf.LlamaFileType.ALL_F32, Path("."), eager=True)
        model = getattr(model, "impl", model)
        model.set_gguf_parameters()
        tensors = {
            name.removesuffix(".weight"): tensor.float().numpy()
            for name, tensor in model.generate_extra_tensors()
        }
        name = self.code.gguf.MODEL_ARCH_NAMES[model.model_arch]
        return name, model.gguf_writer.keys, tensors

    def tables(self, asked, context, positions):
        name, keys, tensors = self.converted(asked)
        count = keys["block_count"]
        pattern = keys.get("sliding_window_pattern")
        windowed = WINDOWED.get(name) if keys.get("sliding_window") else None
        step = STEPS.get(name)
        kinds = {}
        for layer in range(count):
            is_window = bool(windowed) and (
                bool(pattern[layer])
                if isinstance(pattern, list)
                else (layer + 1) % (pattern or windowed["pattern"]) != 0
            )
            is_still = step and (layer + 1) % step == 0
            if not is_still and (is_window or not (windowed or {}).get("alone")):
                kinds.setdefault(is_window, []).append(layer)
        return [
            self.read(name, keys, tensors, windowed if is_window else None, layers, positions)
            for is_window, layers in kinds.items()
        ]

    def bias(self, asked):
        """What ggml_compute_forward_soft_max and llama_relative_position_bucket compute,
        restated."""
        f32, config = np.float32, asked["config"]
        if config["model_type"] == "t5":
            exact = config["relative_attention_num_buckets"] // 2
            distances = np.arange(1025)
            spread = np.log(np.maximum(distances, 1) / exact) * exact / math.log(128 / exact)
            far = np.minimum(np.floor((exact + spread).astype(f32)), 2 * exact - 1)
            return np.where(distances < exact, distances, far)
        heads = self.converted(asked)[1]["head_count"]
        power = 2 ** int(math.log2(heads))
        first, other = (np.power(f32(2), f32(-most / power)) for most in (8, 4))
        return [
            first ** f32(h + 1) if h < power else other ** f32(2 * (h - power) + 1)
            for h in range(heads)
        ]

    def read(self, name, keys, tensors, windowed, layers, positions):
        kept = {k: v for k, v in keys.items() if "rope" in k or k in ("context_length",)}
        cos, sin = ggml_rope(name, keys, tensors, windowed, np.array(positions))
        how = f"{name}, restated: {json.dumps(kept, default=str)}, {sorted(tensors)}"
        layers = None if name in HYBRID else layers
        return table_of(None, cos, sin, how, layers)


def ggml_rope(name, keys, tensors, windowed, positions):
    """ggml_rope_cache_init, rope_yarn and what sets their arguments in llama-context.cpp and
    llama-model.cpp, restated; all numbers float32, angles by repeated multiplication."""
    f32 = np.float32
    head = keys.get("key_length") or keys["embedding_length"] // keys["head_count"]
    width = keys.get("rope_dimension_count") or head
    base = f32(keys.get("rope_freq_base", 10000.0))
    kind = getattr(keys.get("rope_scaling_type"), "value", keys.get("rope_scaling_type"))
    factor = f32(keys.get("rope_scaling_factor") or 1)
    scale = f32(1) / factor if kind != "none" else f32(1)
    extrapolation = f32(1 if kind == "yarn" else 0)
    original = keys.get("rope_scaling_orig_ctx_len", keys.get("context_length"))
    fast, slow = f32(32), f32(1)
    if name in ("grok", "mistral3"):  # which alone read these keys
        fast = f32(keys.get("rope_scaling_yarn_beta_fast", 32))
        slow = f32(keys.get("rope_scaling_yarn_beta_slow", 1))
    attention = f32(1)
    if extrapolation:
        log_mul = f32(keys.get("rope_scaling_yarn_log_mul", 0))
        log_mul = log_mul / f32(0.1) if name == "deepseek2" else log_mul

        def get_mscale(scale, mscale):
            return f32(1) if scale <= 1 else f32(0.1) * mscale * np.log(scale) + f32(1)

        if log_mul:
            mscale = log_mul if name == "deepseek2" and log_mul != 1 else f32(1)
            attention = get_mscale(factor, mscale) / get_mscale(factor, log_mul)
        else:
            attention = get_mscale(factor, f32(1))
        attention *= f32(1) / (f32(1) + f32(0.1) * np.log(factor))
    attention *= f32(keys.get("rope_scaling_attn_factors", 1))
    if windowed:
        base = f32(keys.get("rope_freq_base_swa") or windowed["base"] or base)
        if not windowed["scaled"]:
            scale, extrapolation, attention = f32(1), f32(0), f32(1)

    def corner(rotations, rounded):
        turned = f32(original) / (rotations * f32(2) * f32(math.pi))
        return rounded(f32(width) * np.log(turned) / (f32(2) * np.log(base)))

    low = max(f32(0), corner(fast, np.floor))
    high = min(f32(width - 1), corner(slow, np.ceil))
    factors = tensors.get("rope_freqs")
    if factors is None:
        long = keys.get("context_length", 0) > (original or 0)
        factors = tensors.get("rope_factors_long" if long else "rope_factors_short")
    step = np.power(base, f32(-2) / f32(width))
    theta = positions.astype(f32)
    magnitude = attention
    if extrapolation:
        magnitude = attention * (f32(1) + f32(0.1) * np.log(f32(1) / scale))
    cos, sin = [], []
    for index in range(width // 2):
        extended = theta / (factors[index] if factors is not None else f32(1))
        angle = scale * extended
        if extrapolation:
            ramp = f32(1) - min(
                f32(1), max(f32(0), (f32(index) - low) / max(f32(0.001), high - low))
            )
            angle = angle * (f32(1) - ramp * extrapolation) + extended * (ramp * extrapolation)
        cos.append(np.cos(angle) * magnitude)
        sin.append(np.sin(angle) * magnitude)
        theta = theta * step
    return np.stack(cos, -1), np.stack(sin, -1)


# ---- Megatron-core ----


class Megatron:
    """Megatron-core's classes of rotary embeddings. It has no reader of a config: what its
    options are told are the facts of posenc's plan."""

    def __init__(self, folder, transformers):
        del transformers
        folder = Path(folder)
        real = r"megatron\.core\.models\.common\.embeddings"
        sys.meta_path.insert(0, Finder(("megatron", "transformer_engine", "flashinfer"), real))
        GIVEN["internal_api"] = lambda made: made
        names = ["megatron", "megatron.core", "megatron.core.models"]
        for name in [*names, "megatron.core.models.common"]:
            package(name, folder / name.replace(".", "/"))
        package(real.replace("\\", ""), folder / real.replace("\\.", "/"))
        torch.cuda.current_device = lambda: "cpu"
        self.plain = importlib.import_module(real.replace("\\", "") + ".rotary_pos_embedding")
        self.yarn = importlib.import_module(
            real.replace("\\", "") + ".yarn_rotary_pos_embedding"
        )

    def tables(self, asked, context, positions):
        return [self.read(part, positions) for part in asked["parts"]]

    def bias(self, asked):
        raise LookupError(f"it has no reader of {asked['config']['model_type']}")

    def read(self, part, positions):
        facts = part["facts"]
        kind = facts.get("rope_type", "default")
        width, head = facts["rotary_dim"], facts["head_dim"]
        named = {
            "kv_channels": head, "rotary_percent": width / head,
            "rotary_base": facts["rope_theta"], "use_cpu_initialization": True,
            "cp_group": types.SimpleNamespace(size=lambda: 1),
        }  # fmt: skip
        made, mscale = self.plain.RotaryEmbedding, 1.0
        if kind == "yarn":
            made = self.yarn.YarnRotaryEmbedding
            keys = "original_max_position_embeddings beta_fast beta_slow mscale mscale_all_dim"
            named |= {k: float(facts[k]) for k in keys.split()[1:] if k in facts}
            named |= {"original_max_position_embeddings": facts[keys.split()[0]]}
            named |= {"scaling_factor": float(facts["factor"])}
            named |= {"correction_range_round_to_int": facts.get("truncate", True)}
        elif kind == "linear":
            named["seq_len_interpolation_factor"] = facts["factor"]
        elif kind == "llama3":
            named |= {"rope_scaling": True, "rope_scaling_factor": facts["factor"]}
        elif kind != "default":
            raise LookupError(f"it has no rope_type {kind}")
        embedding = made(**named)
        made.forward.cache_clear()
        given = [embedding(1, offset=position) for position in positions]
        made.forward.cache_clear()
        if isinstance(given[0], tuple):
            given, mscale = [rows for rows, _ in given], given[0][1]
        angles = torch.cat([rows.reshape(1, -1) for rows in given])
        angles = angles[:, : angles.shape[1] // 2]
        del named["cp_group"]
        how = f"{made.__name__}: {json.dumps(named)}"
        cos, sin = torch.cos(angles) * mscale, torch.sin(angles) * mscale
        return table_of(None, cos, sin, how, part["layers"], None)


# ---- run ----

RUNTIMES = {
    "transformers": Transformers,
    "vllm": Vllm,
    "sglang": Sglang,
    "llama.cpp": Llama,
    "megatron": Megatron,
}


def keep_on_processor():
    """Let tables that are made for a device stay here."""
    move = torch.Tensor.to

    def to(self, *args, **named):
        args = [x for x in args if not (isinstance(x, torch.device) and x.type == "cuda")]
        if "cuda" in str(named.get("device", "")):
            named.pop("device")
        return move(self, *args, **named) if args or named else self

    torch.Tensor.to = to
    torch.accelerator.current_device_index = torch.cuda.current_device = lambda: 0


def main():
    name, folder, checkout, out = sys.argv[1:5]
    torch.compile = lambda *args, **named: args[0] if args else (lambda made: made)
    transformers = load_transformers(checkout)
    keep_on_processor()
    runtime = RUNTIMES[name](folder, transformers)
    arrays = {}
    for line in sys.stdin:
        asked = json.loads(line)
        for context, positions in asked["runs"].items():
            said = {"name": asked["name"], "context": context}
            try:
                torch.set_default_dtype(getattr(torch, asked.get("dtype", "float32")))
                if positions is None:
                    found = np.array(runtime.bias(asked), float)
                    found = [table_of(None, found, found, "")]
                else:
                    found = runtime.tables(asked, int(context), positions)
                for index, table in enumerate(found):
                    key = f"{asked['name']}/{context}/{index}"
                    arrays[key + "/cos"], arrays[key + "/sin"] = table.pop("cos"), table.pop(
                        "sin"
                    )
                said["tables"] = found
            except Exception as error:  # whatever the code raises
                if "-v" in sys.argv:
                    import traceback

                    traceback.print_exc()
                said["failure"] = f"{type(error).__name__}: {error}"[:300]
            print(json.dumps(said), flush=True)
    np.savez(out, **arrays)


if __name__ == "__main__":
    torch.manual_seed(0)
    torch.set_grad_enabled(False)
    main()
