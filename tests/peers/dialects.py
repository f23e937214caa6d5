"""Which keys of other libraries look like positions and stand in no row of
api/models/dialects.def: dialects.py megatron=CHECKOUT litgpt=CHECKOUT …

The libraries' own lists of arguments are read from the checkouts, work trees or bare ones, so
that a key which a new release adds is seen."""

import ast
import pathlib
import re
import subprocess
import sys
from fnmatch import fnmatch

MODELS = pathlib.Path(__file__).resolve().parents[2] / "api/models"


def option_names(text):
    """Names of options of argparse, as attributes."""
    names = re.findall(r"add_argument\(\s*['\"]--([a-z0-9-]+)", text)
    return {name.replace("-", "_") for name in names}


def fields_of(*classes):
    """Reads the fields of dataclasses; without names, of all."""

    def read(text):
        return {
            field.target.id
            for node in ast.walk(ast.parse(text))
            if isinstance(node, ast.ClassDef) and (not classes or node.name in classes)
            for field in node.body
            if isinstance(field, ast.AnnAssign)
        }

    return read


def yaml_names(text):
    return set(re.findall(r"^([a-z_0-9]+):", text, re.MULTILINE))


def gguf_names(text):
    """Keys after the architecture's name, of llama.cpp's own package for Python."""
    return set(re.findall(r'"\{arch\}\.([a-z_0-9.]+)"', text))


def foundry_names(text):
    """Arguments of MPTConfig, and the members of attn_config with their defaults."""
    tree = ast.parse(text)
    names = set()

    def add_members(node, path):
        for key, value in zip(node.keys, node.values):
            inner = f"{path}.{key.value}"
            if isinstance(value, ast.Dict):
                add_members(value, inner)
            else:
                names.add(inner)

    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef) and node.name == "__init__":
            names |= {each.arg for each in node.args.args}
        if isinstance(node, ast.AnnAssign) and node.target.id == "attn_config_defaults":
            add_members(node.value, "attn_config")
    return names


# a library: the dialects that read its files, and where it lists its keys
LIBRARIES = {
    "megatron": (
        ("megatron", "megatron_mla"),
        [
            ("megatron/training/arguments.py", option_names),
            (
                "megatron/core/transformer/transformer_config.py",
                fields_of("TransformerConfig", "MLATransformerConfig"),
            ),
        ],
    ),
    "gpt-neox": (
        ("gpt_neox_original",),
        [("megatron/neox_arguments/neox_args.py", fields_of())],
    ),
    "litgpt": (("litgpt",), [("litgpt/config.py", fields_of("Config"))]),
    "olmo": (("olmo_original",), [("olmo/config.py", fields_of("ModelConfig"))]),
    "llm-foundry": (
        ("mpt_original",),
        [
            ("llmfoundry/models/mpt/configuration_mpt.py", foundry_names),
            ("llmfoundry/models/utils/config_defaults.py", foundry_names),
        ],
    ),
    "open_lm": (("open_lm",), [("open_lm/model.py", fields_of("Params"))]),
    "maxtext": (("maxtext",), [("src/maxtext/configs/base.yml", yaml_names)]),
    "llama.cpp": (("gguf",), [("gguf-py/gguf/constants.py", gguf_names)]),
    "mlx-lm": (("mlx",), [("mlx_lm/models/*.py", fields_of())]),
}


OF_OTHER_MODELS = (
    "global_partial_rotary_factor indexer_rope_interleave mla_use_nope partial_rotary_factors "
    "rope_embedding_base rope_freq_constant rope_position_scale swa_rope_theta yarn_only_types"
)


def position_pieces():
    """What the service takes for a name of positions."""
    text = (MODELS / "left_out.c").read_text()
    return re.findall(r'"([a-z_]+)"', text.split("PIECES[] = {")[1].split("}")[0])


def known_keys():
    """The keys that stand in rows, by dialects."""
    text = (MODELS / "dialects.def").read_text()
    shared = " ".join(
        re.findall(r'"([^"]*)"', text.split("#define MEGATRON ")[1].split("#define")[0])
    )
    keys = {}
    for part in text.split("\nDIALECT(")[1:]:
        words = re.findall(r'"([^"]*)"', part)
        joined = " ".join(words) + (" " + shared if "MEGATRON" in part else "")
        name = words[0]
        keys.setdefault(name, set()).update(re.findall(r"[a-z_0-9.]+", joined))
    # MLX's configs are those of Hugging Face, which the rows of model types read; what is in no
    # row a plan lists as not used, and a type without a row is refused
    texts = (
        path.read_text() for path in MODELS.glob("*") if path.suffix in (".def", ".c", ".h")
    )
    keys["mlx"] = {name for text in texts for name in re.findall(r"\b[a-z_0-9]{4,}\b", text)}
    keys["mlx"].update(OF_OTHER_MODELS.split())
    return keys


def git(checkout, *arguments):
    return subprocess.run(
        ["git", "-C", checkout, *arguments], capture_output=True, text=True, check=True
    ).stdout


def read_names(checkout, pattern, read):
    """The names that files of a path or a pattern hold."""
    paths = git(checkout, "ls-tree", "-r", "--name-only", "HEAD").split()
    texts = (git(checkout, "show", f"HEAD:{path}") for path in paths if fnmatch(path, pattern))
    return set().union(*map(read, texts))


def main():
    pieces, known, missing = position_pieces(), known_keys(), 0
    for argument in sys.argv[1:]:
        library, checkout = argument.split("=", 1)
        dialects, sources = LIBRARIES[library]
        names = set().union(*(read_names(checkout, *source) for source in sources))
        about = {name for name in names if any(piece in name for piece in pieces)}
        for dialect in dialects:
            unknown = sorted(
                name
                for name in about - known[dialect]
                if not any(key.startswith(f"{name}.") for key in known[dialect])
            )
            missing += len(unknown)
            print(
                f"{dialect}: {len(names)} keys, {len(about)} look like positions, "
                f"{len(unknown)} in no row: {' '.join(unknown)}"
            )
    sys.exit(1 if missing else 0)


if __name__ == "__main__":
    main()
