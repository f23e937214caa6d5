"""Variations of a config that a library's class has by default: each spelling of rotary
parameters, every rope_type, other widths, layers of other types, tables of other sizes."""

import copy

from published import PUBLISHED

LAYERS = 8  # of a model that is run
# keys whose values depend on the number of layers
WHOLE = {
    "num_layers",
    "per_layer_config",
    "num_kv_shared_layers",
    "attention_window",
    "num_layers_per_stack",
}
ORIGINAL = "original_max_position_embeddings"


def text_of(config):
    """The object that holds what text needs."""
    for name in ("text_config", "decoder_config"):
        if isinstance(config.get(name), dict):
            return config[name]
    return config.get("thinker_config", {}).get("text_config") or config


def shrink(config):
    """The same with few layers."""
    config = copy.deepcopy(config)
    text = text_of(config)
    count = text.get("num_hidden_layers")
    if isinstance(count, int) and count > LAYERS and not WHOLE & set(text):
        text["num_hidden_layers"] = LAYERS
        for name, value in text.items():
            if isinstance(value, list) and len(value) == count:
                text[name] = value[:LAYERS]
    return config


def published(model_type, config):
    """The same with what published files of its type have."""
    return changed(config, PUBLISHED.get(model_type, {}))


def bare(model_type, config):
    """A config that says as little as it can: what the class does by itself."""
    known = changed({"model_type": model_type}, PUBLISHED.get(model_type, {}))
    count = config.get("num_hidden_layers")
    if count == LAYERS:
        known["num_hidden_layers"] = LAYERS
    return known


# ---- rotary parameters ----

YARN = {"type": "yarn", "factor": 4.0, ORIGINAL: 4096}
LLAMA3 = {"low_freq_factor": 1.0, "high_freq_factor": 4.0, ORIGINAL: 1024}
MSCALE = {"mscale": 1.0, "mscale_all_dim": 0.7, "beta_fast": 20, "beta_slow": 2}
# in the old spelling: rope_theta, what rope_scaling holds, and other keys
OLD = {
    "old plain": (123456.0, None, {}),
    "old linear": (500000.0, {"type": "linear", "factor": 4.0}, {}),
    "old yarn": (None, YARN, {}),
    "old default": (None, {"rope_type": "default"}, {}),
    "old llama3": (
        500000.0,
        {"rope_type": "llama3", "factor": 8.0, **LLAMA3},
        {"max_position_embeddings": 8192},
    ),
}
# in the new one: what rope_parameters holds, and other keys
NEW = {
    "new linear": ({"rope_type": "linear", "factor": 2.5, "rope_theta": 77777.0}, {}),
    "new dynamic": (
        {"rope_type": "dynamic", "factor": 3.0, "rope_theta": 10000.0},
        {"max_position_embeddings": 4},
    ),
    "new yarn, mscale": (
        {"rope_type": "yarn", "factor": 40.0, "rope_theta": 1e5, ORIGINAL: 4096, **MSCALE},
        {},
    ),
    "new yarn, attention": (
        {
            "rope_type": "yarn",
            "factor": 8.0,
            ORIGINAL: 1024,
            "attention_factor": 1.3,
            "truncate": False,
            "rope_theta": 1e6,
        },
        {},
    ),
    "yarn without its original": (
        {"rope_type": "yarn", "factor": 4.0, "rope_theta": 1e4},
        {},
    ),
    "proportional": (
        {"rope_type": "proportional", "partial_rotary_factor": 0.25, "rope_theta": 1e4},
        {},
    ),
    "partial": (
        {"rope_type": "default", "rope_theta": 1e4, "partial_rotary_factor": 0.5},
        {},
    ),
    "partial linear": (
        {
            "rope_type": "linear",
            "factor": 2.0,
            "rope_theta": 1e4,
            "partial_rotary_factor": 0.5,
        },
        {},
    ),
    "without a type": ({"rope_theta": 2e4}, {}),
    "original on top": (
        {"rope_type": "yarn", "factor": 4.0, ORIGINAL: 4096, "rope_theta": 1e4},
        {ORIGINAL: 2048},
    ),
    "both dictionaries": (
        {"rope_type": "default", "rope_theta": 5000.0},
        {"rope_scaling": {"rope_type": "linear", "factor": 3.0}},
    ),
}


def put_more(text, more):
    """Set other keys, the length by the spelling that the class has."""
    for name, value in more.items():
        is_length = name == "max_position_embeddings" and "n_positions" in text
        text["n_positions" if is_length else name] = value


def put_old(text, theta, scaling, more):
    text.pop("rope_parameters", None)
    if theta is not None:
        text["rope_theta"] = theta
    text.update(rope_scaling=copy.deepcopy(scaling))
    put_more(text, more)


def put_new(text, parameters, more):
    text.pop("rope_scaling", None)
    text.update(rope_parameters=copy.deepcopy(parameters))
    put_more(text, more)


def put_longrope(text, pairs, original, factor=None):
    parameters = {
        "rope_type": "longrope",
        "short_factor": [1 + i / 100 for i in range(pairs)],
        "long_factor": [1.5 + i / 4 for i in range(pairs)],
        ORIGINAL: original,
        "rope_theta": 1e4,
    }
    text.pop(ORIGINAL, None)
    put_new(text, parameters, {"max_position_embeddings": 64})
    if factor:
        text["rope_parameters"]["factor"] = factor


# ---- layers and widths: each changes the text's object, False where it has no such key ----


def put_head(text):
    text["head_dim"] = 96 if text.get("head_dim") != 96 else 64


def put_no_head(text):
    text["head_dim"] = None


def put_partial(text):
    theta = (text.get("rope_parameters") or {}).get("rope_theta")
    put_old(text, theta, None, {"partial_rotary_factor": 0.5})


def reverse_layers(text):
    if not isinstance(text.get("layer_types"), list):
        return False
    text["layer_types"].reverse()
    return True


def drop_layers(text):
    return text.pop("layer_types", None) is not None


def nest(text, scaled):
    """A dictionary of rotary parameters for each type of layers."""
    if not isinstance(text.get("layer_types"), list):
        return False
    by_type = {
        name: {"rope_type": "default", "rope_theta": 1000.0 * (i + 2)}
        for i, name in enumerate(sorted(set(text["layer_types"])))
    }
    if scaled:
        first = min(by_type)
        by_type[first] = {"rope_type": "yarn", "factor": 8.0, ORIGINAL: 512, "rope_theta": 5e5}
    put_new(text, by_type, {})
    return True


def toggle_window(text):
    if "sliding_window" not in text:
        return False
    text["sliding_window"] = None if text["sliding_window"] else 4096
    text.pop("layer_types", None)
    return True


def put_still_layers(text, keep_types):
    if "no_rope_layers" not in text:
        return False
    count = len(text["no_rope_layers"] or []) or LAYERS
    text["no_rope_layers"] = ([1, 0, 0, 1, 1, 1, 0, 1] * count)[:count]
    if not keep_types:
        text.pop("layer_types", None)
    return True


SHAPES = {
    "head_dim": put_head,
    "head_dim null": put_no_head,
    "partial on top": put_partial,
    "layer_types reversed": reverse_layers,
    "no layer_types": drop_layers,
    "nested": lambda text: nest(text, False),
    "nested, one yarn": lambda text: nest(text, True),
    "sliding_window": toggle_window,
    "no_rope_layers": lambda text: put_still_layers(text, False),
    "no_rope_layers beside layer_types": lambda text: put_still_layers(text, True),
}


def rotary(config, pairs):
    """{name: (config, query)} of a config with rotary parts of so many pairs."""
    found = {}

    def add(name, change, *args, **query):
        varied = copy.deepcopy(config)
        if change(text_of(varied), *args) is not False:
            found[name] = (varied, query)

    for name, values in OLD.items():
        add(name, put_old, *values)
    for name, values in NEW.items():
        add(name, put_new, *values, **({"seq_len": 7} if "dynamic" in name else {}))
    for name, change in SHAPES.items():
        add(name, change)
    add("longrope, short", put_longrope, pairs, 16, seq_len=7)
    add("longrope, long", put_longrope, pairs, 4, 8.0, seq_len=7)
    return found


# ---- tables ----

SIZES = {
    "image_size": [384, [384, 256]],
    "patch_size": [32, [8, 16]],
    "window_size": [12],
    "max_position_embeddings": [600],
    "n_positions": [600],
    "max_source_positions": [300],
    "max_target_positions": [200],
    "max_encoder_position_embeddings": [500],
    "max_decoder_position_embeddings": [300],
    "position_embedding_type": ["relative_key", "relative_key_query"],
    "use_relative_position_bias": [True],
    "use_shared_relative_position_bias": [True],
    "use_absolute_position_embeddings": [True, False],
    "use_relative_position_embeddings": [True],
    "use_absolute_embeddings": [True],
    "static_position_embeddings": [True],
}
WIDTHS = ("hidden_size", "d_model", "n_embd")


def tables(config):
    """{name: (config, query)} of a config with tables of positions."""
    found = {}
    halved = {name: [config[name] // 2] for name in WIDTHS if isinstance(config.get(name), int)}
    for name, values in {**SIZES, **halved}.items():
        if name not in config or isinstance(config[name], dict):
            continue
        for value in values:
            if value != config[name]:
                found[f"{name} {value}"] = ({**copy.deepcopy(config), name: value}, {})
    return found


# ---- arguments of timm, by the class that takes them ----

PATCHES = [
    {"img_size": 384},
    {"img_size": [224, 448]},
    {"img_size": 230},
    {"patch_size": 32},
    {"patch_size": [8, 16]},
    {"embed_dim": 192, "num_heads": 3},
    {"global_pool": "avg"},
    {"dynamic_img_size": True, "img_size": 256},
    {"class_token": False},
    {"no_embed_class": True},
]
WINDOWS = [
    {"img_size": 384},
    {"img_size": [192, 448]},
    {"img_size": 128},
    {"img_size": 128, "always_partition": True},
    {"patch_size": 8},
    {"window_size": 8},
    {"window_size": [4, 8]},
    {"depths": [2, 2, 2, 2]},
    {"depths": [1, 2], "num_heads": [2, 4]},
    {"strict_img_size": False},
]
TURNED = [
    {"img_size": [224, 448], "ref_feat_shape": [10, 20]},
    {"img_size": [224, 448], "rope_grid_indexing": "xy"},
    {"img_size": [224, 448], "rope_grid_indexing": "ij", "rope_grid_offset": 0.5},
    {"rope_temperature": 50.0},
    {"ref_feat_shape": 20},
    {"rope_type": "dinov3", "rope_rotate_half": True},
    {"num_reg_tokens": 3},
    {"num_reg_tokens": 2, "class_token": False},
    {"use_abs_pos_emb": False},
    {"use_abs_pos_emb": True, "use_rot_pos_emb": False},
    {"use_rot_pos_emb": True},
]
ARGUMENTS = {
    "timm-vit": PATCHES
    + [{"reg_tokens": 4}, {"reg_tokens": 3, "class_token": False}, {"pos_embed": "none"}],
    "timm-eva": PATCHES + TURNED,
    "timm-beit": PATCHES,
    "timm-swin": WINDOWS + [{"window_size": [8, 8, 4, 4]}],
    "timm-swinv2": WINDOWS + [{"pretrained_window_sizes": [6, 6, 6, 3]}],
}


def arguments(model_type, config):
    """{name: (config, query)} of a config of timm: one that says nothing, and those with
    arguments of its class."""
    if model_type not in ARGUMENTS:
        return {}
    found = {"bare": ({"architecture": config["architecture"]}, {})}
    for given in ARGUMENTS[model_type]:
        name = ", ".join(f"{name} {value}" for name, value in given.items())
        few = {} if "swin" in model_type else {"depth": 2}  # so that it is made quickly
        found[name] = ({**copy.deepcopy(config), "model_args": {**few, **given}}, {})
    return found


def change_from(base, config):
    """What a config has otherwise: {path: value}, a key that is gone as {"gone": true}."""
    changes = {}
    for name in {**base, **config}:
        old, new = base.get(name), config.get(name)
        if name not in config:
            changes[name] = {"gone": True}
        elif isinstance(old, dict) and isinstance(new, dict) and name.endswith("_config"):
            inner = change_from(old, new)
            changes.update({f"{name}.{path}": value for path, value in inner.items()})
        elif name not in base or old != new:
            changes[name] = new
    return changes


def changed(base, changes):
    """The config that change_from found."""
    config = copy.deepcopy(base)
    for path, value in changes.items():
        at = config
        *outer, name = path.split(".")
        for step in outer:
            at = at.setdefault(step, {})
        if value == {"gone": True}:
            at.pop(name, None)
        else:
            at[name] = value
    return config
