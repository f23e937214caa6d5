"""What a plan of POST /v1/models must say of a config: facts that were worked out from the
model's code.

The facts of one model are {"model_type": …, "tensors": [{"component", "scheme", …}, …]}: of
each tensor its head_dim, rotary_dim, rope_theta, layers and so on; inv_freq holds a count and
some values, which must agree to 1e-12. Only what is stated is compared; a sentence such as
"all 46" is not. `entries` holds shapes and entries of tensors. Beside the tensors may stand the
names of all components and the whole list not_used."""

import math

KINDS = {
    "rope",
    "learned",
    "sinusoidal",
    "t5",
    "alibi",
    "deberta",
    "transformer_xl",
    "shaw",
    "rope_2d",
    "rope_3d",
    "rope_nd",
    "swin_relative_bias",
    "detr_sine_2d",
    "attention_temperature",
    "convolution",
    "sinusoidal_2d",
    "random_fourier",
    "decomposed",
    "swin_v2_bias",
    "relative_sinusoidal",
    "mrope",
}
# facts that the plan states by the same name
NUMBERS = [
    "head_dim",
    "rotary_dim",
    "rope_theta",
    "factor",
    "original_max_position_embeddings",
    "low_freq_factor",
    "high_freq_factor",
    "softmax_scale_factor",
    "dim",
    "rows",
    "offset",
    "heads",
    "num_buckets",
    "max_distance",
    "alibi_bias_max",
    "position_buckets",
    "max_relative_positions",
    "floor_scale",
    "attn_scale",
    "spatial_merge_size",
    "left",
    "right",
    "alpha",
    "pretrained_window",
    "base_size",
    "table_size",
    "interpolation_scale",
    "temperature",
    "first_position",
    "text_first",
]
OTHERS = [
    "rope_type",
    "layout",
    "mrope_section",
    "mrope_interleaved",
    "bidirectional",
    "mask",
    "attention",
    "grid",
    "gate",
    "truncate",
    "axis_dims",
    "heads_per_stage",
    "axes",
    "window",
    "index",
    "rel_pos_h",
    "rel_pos_w",
    "center",
]


def close(a, b):
    return isinstance(a, (int, float)) and math.isclose(a, b, rel_tol=1e-12, abs_tol=0)


def components_of(part):
    """The names that facts may call a part by: "timestep" of "transformer.timestep" as well."""
    return {part["component"], *part["name"].split(".")}


def candidates(plan, tensor):
    found = [
        part
        for part in plan["parts"]
        if part["kind"] == tensor["scheme"] and tensor["component"] in components_of(part)
    ]
    if "layer_type" in tensor:
        found = [part for part in found if part["name"].endswith(tensor["layer_type"])]
    if isinstance(tensor.get("layers"), list):
        found = [part for part in found if part["layers"] == tensor["layers"]] or found
    return found


def argument(part, name):
    return part.get("arguments", {}).get(name, {}).get("value")


def rope_table(part, ask, tensor):
    """Entries of a tensor of the part, as its own request gives them in f64."""
    body = {name: value["value"] for name, value in part["arguments"].items()}
    body.update(length=1, dtype="f64", tensor=tensor)
    body.pop("offset", None)
    return ask(part["scheme"], body)["tensors"][0]["data"]


def entries(part, name, expected, ask):
    """What differs between a tensor, as the part's own request gives it, and some of its
    entries: "2,5": value."""
    body = {argument: value["value"] for argument, value in part["arguments"].items()}
    tensor = ask(part["scheme"], {**body, "dtype": "f64", "tensor": name})["tensors"][0]
    if tensor["shape"] != expected["shape"]:
        yield f"the shape of {name} is {tensor['shape']}, not {expected['shape']}"
        return
    for index, value in expected.items():
        found = tensor["data"]
        for step in index.split(",") if index != "shape" else ():
            found = found[int(step)]
        if index != "shape" and found != value and not close(found, value):
            yield f"{name}[{index}] is {found!r}, not {value!r}"


def frequencies(part, expected, ask):
    values = rope_table(part, ask, "inv_freq")
    if len(values) != expected["count"]:
        yield f"{len(values)} frequencies, not {expected['count']}"
        return
    for index, value in expected.items():
        if index != "count" and not close(values[int(index)], value):
            yield f"inv_freq[{index}] is {values[int(index)]!r}, not {value!r}"


def facts_of_tensor(part, tensor, ask):
    """What differs between a part and the facts of a tensor, as sentences."""
    facts = {name: fact["value"] for name, fact in part["facts"].items()}
    for name in NUMBERS:
        if name in tensor and not close(facts.get(name), tensor[name]):
            yield f"{name} is {facts.get(name)}, not {tensor[name]}"
    for name in OTHERS:
        if name in tensor and facts.get(name) != tensor[name]:
            yield f"{name} is {facts.get(name)!r}, not {tensor[name]!r}"
    if "length" in tensor and facts.get("positions") != tensor["length"]:
        yield f"positions is {facts.get('positions')}, not {tensor['length']}"
    if (
        isinstance(tensor.get("layers"), list)
        and part["layers"]
        and part["layers"] != tensor["layers"]
    ):
        yield f"layers are {part['layers']}, not {tensor['layers']}"
    if tensor["scheme"] == "sinusoidal" and argument(part, "frequencies") != tensor.get(
        "frequencies"
    ):
        yield f"frequencies is {argument(part, 'frequencies')}, not {tensor.get('frequencies')}"
    for name, expected in tensor.get("entries", {}).items():
        yield from entries(part, name, expected, ask)
    if "inv_freq" in tensor:
        yield from frequencies(part, tensor["inv_freq"], ask)
    if "attention_factor" in tensor and "arguments" in part:
        attention = rope_table(part, ask, "cos")[0][0]
        if not close(attention, tensor["attention_factor"]):
            yield f"the attention factor is {attention!r}, not {tensor['attention_factor']!r}"


def without_positions(plan, tensor):
    """Layers that must have none."""
    layers = next(c["layers"] for c in plan["components"] if c["name"] == tensor["component"])
    if isinstance(tensor["layers"], list):
        for layer in tensor["layers"]:
            if layers[layer] != -1:
                yield f"layer {layer} uses part {layers[layer]}, not none"


def both_lengths(plan, tensor, ask):
    """longrope has a part for short and one for long sequences."""
    for suffix, key in (("short_context", "inv_freq_short"), ("long_context", "inv_freq_long")):
        part = next((part for part in plan["parts"] if part["name"].endswith(suffix)), None)
        if part is None:
            yield f"there is no part {suffix}"
            continue
        facts = {
            name: value for name, value in tensor.items() if not name.startswith("inv_freq")
        }
        yield from (f"{suffix}: {text}" for text in facts_of_tensor(part, facts, ask))
        yield from (f"{suffix}: {text}" for text in frequencies(part, tensor[key], ask))


def differences(plan, expected, ask):
    """What differs between a plan and the facts. `ask(scheme, body)` is a POST of that
    scheme."""
    for tensor in expected["tensors"]:
        label = f"{tensor['component']} {tensor['scheme']}"
        if tensor["scheme"] == "none":
            yield from (f"{label}: {text}" for text in without_positions(plan, tensor))
            continue
        assert tensor["scheme"] in KINDS, label
        if "inv_freq_short" in tensor:
            yield from (f"{label}: {text}" for text in both_lengths(plan, tensor, ask))
            continue
        found = candidates(plan, tensor)
        if not found:
            parts = [part["name"] + " " + part["kind"] for part in plan["parts"]]
            yield f"{label}: no such part among {parts}"
            continue
        each = [list(facts_of_tensor(part, tensor, ask)) for part in found]
        yield from (f"{label}: {text}" for text in min(each, key=len))
    names = [component["name"] for component in plan["components"]]
    if expected.get("components", names) != names:
        yield f"the components are {names}, not {expected['components']}"
    if expected.get("not_used", plan["not_used"]) != plan["not_used"]:
        yield f"not_used is {plan['not_used']}, not {expected['not_used']}"
    if not expected["tensors"] and any(part["state"] == "computed" for part in plan["parts"]):
        yield "there are parts, but there should be no positions"
