"""Rotary position embeddings (Su et al. 2021) and the frequency rules of ENCODINGS section 3.

A scheme takes the arguments of a query and returns its tensors, {name: (shape, entries)}, and
the absolute tolerance of their f64 entries.
"""

import math
from fractions import Fraction

import mpmath
from schemes import cosine, frequency, nearest_double, real, row_positions, sine, with_defaults

F64_TOLERANCE = 0  # f64 is rounded correctly

LLAMA3_KEYS = {
    "rope_theta": "500000",
    "rope_type": "llama3",
    "low_freq_factor": "1",
    "high_freq_factor": "4",
    "original_max_position_embeddings": "8192",
}

ROPE_PRESETS = {
    "gpt_neox": {},
    "llama2": {},
    "llama3": {"rope_theta": "500000"},
    "llama3.1": {**LLAMA3_KEYS, "factor": "8"},
    "llama3.2": {**LLAMA3_KEYS, "factor": "32"},
    "llama4_scout": {
        **LLAMA3_KEYS,
        "factor": "16",
        "high_freq_factor": "1",
        "layout": "interleaved",
    },
    "llama4_maverick": {"rope_theta": "500000", "layout": "interleaved"},
    "qwen2.5": {"rope_theta": "1000000"},
    "qwen3": {"rope_theta": "1000000"},
    "mistral": {"rope_theta": "1000000"},
    "gemma2": {},
    "gemma3_global": {"rope_theta": "1000000", "rope_type": "linear", "factor": "8"},
    "gemma3_local": {},
    "gpt_oss": {
        "rope_theta": "150000",
        "rope_type": "yarn",
        "factor": "32",
        "original_max_position_embeddings": "4096",
        "truncate": "false",
    },
    "deepseek_v3": {
        "rope_type": "yarn",
        "factor": "40",
        "original_max_position_embeddings": "4096",
        "mscale": "1",
        "mscale_all_dim": "1",
        "layout": "interleaved",
    },
    "ministral3": {
        "rope_theta": "1000000",
        "rope_type": "yarn",
        "factor": "16",
        "original_max_position_embeddings": "16384",
        "mscale": "1",
        "mscale_all_dim": "1",
    },
    "glm4": {"partial_rotary_factor": "0.5", "layout": "interleaved"},
    "phi3": {},
    "meta_llama": {"layout": "interleaved"},
    "qwen2": {"rope_theta": "1000000"},
}

ROPE_DEFAULTS = {
    "rope_theta": "10000",
    "layout": "half",
    "table": "half_width",
    "rope_type": "default",
    "partial_rotary_factor": "1",
}

TYPE_DEFAULTS = {
    "yarn": {"beta_fast": "32", "beta_slow": "1", "truncate": "true"},
    "llama3": {
        "factor": "8",
        "low_freq_factor": "1",
        "high_freq_factor": "4",
        "original_max_position_embeddings": "8192",
    },
    "proportional": {"factor": "1"},
}


def number(options, name):
    return real(nearest_double(options[name]))


def share_of_dim(options):
    """dim * partial_rotary_factor as a product of doubles, like int(head_dim * factor)."""
    return float(options["dim"]) * float(options["partial_rotary_factor"])


def rotary_width(options):
    width = int(share_of_dim(options))
    if width % 2:
        raise ValueError("the rotary width must be even")
    return width


def geometric(theta, width):
    """theta^(-2i/width)"""
    return [frequency(theta, Fraction(2 * i, width)) for i in range(width // 2)]


def plain(options):
    return geometric(number(options, "rope_theta"), rotary_width(options))


def original_length(options):
    return number(options, "original_max_position_embeddings")


# Each rule returns the frequencies and the factor of all cosines and sines.


def default(options):
    return plain(options), Fraction(1)


def linear(options):
    return [w / number(options, "factor") for w in plain(options)], Fraction(1)


def with_larger_theta(options, growth):
    width = rotary_width(options)
    theta = number(options, "rope_theta") * growth ** (mpmath.mpf(width) / (width - 2))
    return geometric(theta, width), Fraction(1)


def ntk(options):
    return with_larger_theta(options, number(options, "factor"))


def ntk_fixed(options):
    """vLLM's and GTE's: base * s, then 1 / s^(2/d)."""
    width, factor = rotary_width(options), number(options, "factor")
    divisor = factor ** (mpmath.mpf(2) / width)
    grown = geometric(number(options, "rope_theta") * factor, width)
    return [w / divisor for w in grown], Fraction(1)


def dynamic(options):
    if "alpha" in options:  # Hunyuan
        return with_larger_theta(options, number(options, "alpha"))
    factor = number(options, "factor")
    if "max_position_embeddings" in options:
        trained = number(options, "max_position_embeddings")
    else:
        trained = original_length(options)
    length = max(number(options, "seq_len"), trained)
    return with_larger_theta(options, factor * length / trained - (factor - 1))


def yarn_attention_factor(options):
    if "attention_factor" in options:
        return nearest_double(options["attention_factor"])

    def scale(mscale):
        return mscale * mpmath.log(number(options, "factor")) / 10 + 1

    both = {"mscale": "0", "mscale_all_dim": "0", **options}
    if number(both, "mscale") and number(
        both, "mscale_all_dim"
    ):  # ignored unless both are true
        return scale(number(options, "mscale")) / scale(number(options, "mscale_all_dim"))
    return scale(1)


def yarn(options):
    width, factor = rotary_width(options), number(options, "factor")

    def dimension(rotations):
        periods = original_length(options) / (2 * mpmath.pi * rotations)
        return width * mpmath.log(periods) / (2 * mpmath.log(number(options, "rope_theta")))

    low = dimension(number(options, "beta_fast"))
    high = dimension(number(options, "beta_slow"))
    if options["truncate"] == "true":
        low, high = mpmath.floor(low), mpmath.ceil(high)
    # As Hugging Face: so low may be above high, and then the ramp falls.
    low, high = max(low, mpmath.mpf(0)), min(high, mpmath.mpf(width - 1))
    if low == high:
        high += mpmath.mpf(1) / 1000
    frequencies = []
    for i, w in enumerate(plain(options)):
        ramp = min(max((i - low) / (high - low), mpmath.mpf(0)), mpmath.mpf(1))
        frequencies.append(w / factor * ramp + w * (1 - ramp))
    return frequencies, yarn_attention_factor(options)


def longrope(options):
    original = original_length(options)
    chosen = "long_factor" if number(options, "seq_len") > original else "short_factor"
    divisors = [real(nearest_double(text)) for text in options[chosen].split(",")]
    frequencies = plain(options)
    if len(divisors) != len(frequencies):
        raise ValueError(f"{chosen} needs {len(frequencies)} numbers")
    frequencies = [w / divisor for w, divisor in zip(frequencies, divisors)]
    if "factor" in options:
        factor = number(options, "factor")
    else:
        factor = number(options, "max_position_embeddings") / original
    if "attention_factor" in options:
        return frequencies, nearest_double(options["attention_factor"])
    if factor <= 1:
        return frequencies, Fraction(1)
    return frequencies, mpmath.sqrt(1 + mpmath.log(factor) / mpmath.log(original))


def llama3(options):
    factor, original = number(options, "factor"), original_length(options)
    low, high = number(options, "low_freq_factor"), number(options, "high_freq_factor")
    frequencies = []
    for w in plain(options):
        wavelength = 2 * mpmath.pi / w
        smooth = (original / wavelength - low) / (high - low) if high > low else None
        if wavelength > original / low:
            w = w / factor
        elif wavelength >= original / high:
            w = (1 - smooth) * w / factor + smooth * w
        frequencies.append(w)
    return frequencies, Fraction(1)


def proportional(options):
    dim, turning = int(options["dim"]), math.floor(share_of_dim(options) / 2)
    frequencies = geometric(number(options, "rope_theta"), dim)[:turning]
    still = [mpmath.mpf(0)] * (dim // 2 - turning)
    return [w / number(options, "factor") for w in frequencies + still], Fraction(1)


ROPE_TYPES = {
    rule.__name__: rule
    for rule in (
        default,
        linear,
        ntk,
        ntk_fixed,
        dynamic,
        yarn,
        longrope,
        llama3,
        proportional,
    )
}


def product(value, factor):
    """Exact if both are."""
    if isinstance(value, Fraction) and isinstance(factor, Fraction):
        return value * factor
    return as_mpf(value) * as_mpf(factor)


def as_mpf(value):
    return real(value) if isinstance(value, Fraction) else value


def widen(row, options):
    """A row of one entry per frequency as the requested table has it."""
    if options["table"] == "half_width":
        return row
    if options["layout"] == "half":
        return row + row
    return [entry for entry in row for _ in range(2)]


def softmax_factor(options):
    """yarn_get_mscale(factor, mscale_all_dim) squared, as in DeepseekV3Attention."""
    mscale = number(options, "mscale_all_dim") if "mscale_all_dim" in options else 0
    if not mscale:
        return Fraction(1)
    return (mscale * mpmath.log(number(options, "factor")) / 10 + 1) ** 2


def temperature(options, position):
    """Llama4TextAttention's attn_scales, and Ministral 3's."""
    beta = nearest_double(options.get("temperature_beta", "0.1"))
    if options["temperature"] == "llama4":
        length, shift = "8192", 1
    else:
        length, shift = options.get("original_max_position_embeddings", "16384"), 0
    steps = math.floor((position + shift) / int(options.get("temperature_length", length)))
    return 1 + real(beta) * mpmath.log(1 + steps) if steps and beta else Fraction(1)


def rope(arguments):
    options = with_defaults(arguments, ROPE_DEFAULTS, ROPE_PRESETS)
    options = {**TYPE_DEFAULTS.get(options["rope_type"], {}), **options}
    frequencies, factor = ROPE_TYPES[options["rope_type"]](options)
    positions = row_positions(options)
    tensors = {}
    for name, function in (("cos", cosine), ("sin", sine)):
        rows = [
            widen([product(function(k, w), factor) for w in frequencies], options)
            for k in positions
        ]
        entries = [entry for row in rows for entry in row]
        tensors[name] = [len(rows), len(rows[0])], entries
    if options.get("cos_sin") == "true":
        (n, half), cosines = tensors.pop("cos")
        _, sines = tensors.pop("sin")
        rows = [
            table[r * half : (r + 1) * half] for r in range(n) for table in (cosines, sines)
        ]
        tensors["cos_sin"] = [n, 2 * half], [entry for row in rows for entry in row]
    tensors["inv_freq"] = [len(frequencies)], frequencies
    if options.get("softmax_factor") == "true":
        tensors["softmax_factor"] = [1], [softmax_factor(options)]
    if "temperature" in options:
        entries = [temperature(options, k) for k in positions]
        tensors["temperature"] = [len(entries)], entries
    return tensors, F64_TOLERANCE


def rotation_matrix(arguments):
    options = with_defaults(arguments, {"base": "10000", "convention": "rope"}, {})
    positions, dim = row_positions(options), int(options["dim"])
    frequencies = geometric(number(options, "base"), dim)
    entries = []
    for k in positions:
        matrix = [[Fraction(0)] * dim for _ in range(dim)]
        for i, w in enumerate(frequencies):
            c, s = cosine(k, w), sine(k, w)
            upper, lower = (-s, s) if options["convention"] == "rope" else (s, -s)
            matrix[2 * i][2 * i : 2 * i + 2] = c, upper
            matrix[2 * i + 1][2 * i : 2 * i + 2] = lower, c
        entries += [entry for row in matrix for entry in row]
    return {"matrix": ([len(positions), dim, dim], entries)}, F64_TOLERANCE


XPOS_DEFAULTS = {
    "base": "10000",
    "scale_base": "512",
    "gamma": "0.4",
    "centre": "0",
    "layout": "interleaved",
    "table": "half_width",
}


def xpos(arguments):
    """Sun et al. 2022, section 3.3; scale_base as in torchscale."""
    options = with_defaults(arguments, XPOS_DEFAULTS, {})
    positions, dim = row_positions(options), int(options["dim"])
    gamma, centre = nearest_double(options["gamma"]), nearest_double(options["centre"])
    frequencies = geometric(number(options, "base"), dim)
    zetas = [(Fraction(2 * i, dim) + gamma) / (1 + gamma) for i in range(dim // 2)]
    zetas = [mpmath.mpf(zeta.numerator) / zeta.denominator for zeta in zetas]

    def amplitude(k, zeta, sign):
        if k == centre:
            return Fraction(1)
        return mpmath.power(zeta, sign * real(k - centre) / number(options, "scale_base"))

    def row(k, function, sign):
        pairs = zip(frequencies, zetas)
        return [product(function(k, w), amplitude(k, zeta, sign)) for w, zeta in pairs]

    def table(function, sign):
        rows = [widen(row(k, function, sign), options) for k in positions]
        return [len(rows), len(rows[0])], [entry for row in rows for entry in row]

    def one(_k, _w):
        return Fraction(1)

    return {
        "q_cos": table(cosine, 1),
        "q_sin": table(sine, 1),
        "k_cos": table(cosine, -1),
        "k_sin": table(sine, -1),
        "scale": table(one, 1),
        "inv_freq": ([len(frequencies)], frequencies),
    }, F64_TOLERANCE


ROTARY = {"rope": rope, "rotation_matrix": rotation_matrix, "xpos": xpos}
