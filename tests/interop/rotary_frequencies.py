"""Rotary frequencies and attention factors from the contract's formulas, in as many digits as
mpmath is asked for. Nothing here is shared with the golden writer or with the server."""

from collections import namedtuple
from fractions import Fraction

from mpmath import mp

ATTENTION_BITS = 700  # of an irrational attention factor: no rounding is decided by more

DEFAULTS = {"rope_theta": 10000.0, "rope_type": "default", "partial_rotary_factor": 1.0}
TYPE_DEFAULTS = {
    "yarn": {"beta_fast": 32.0, "beta_slow": 1.0, "truncate": True},
    "llama3": {
        "factor": 8.0,
        "low_freq_factor": 1.0,
        "high_freq_factor": 4.0,
        "original_max_position_embeddings": 8192,
    },
    "proportional": {"factor": 1.0},
}


class Rotary(namedtuple("Rotary", "items")):
    """The rotary parameters of a request; hashable."""

    @classmethod
    def of(cls, options):
        rope_type = options.get("rope_type", "default")
        whole = {**DEFAULTS, **TYPE_DEFAULTS.get(rope_type, {}), **options}
        return cls(
            tuple(
                sorted(
                    (name, tuple(value) if isinstance(value, list) else value)
                    for name, value in whole.items()
                )
            )
        )

    def get(self, name, otherwise=None):
        return dict(self.items).get(name, otherwise)

    def number(self, name):
        return mp.mpf(self.get(name))

    @property
    def type(self):
        return self.get("rope_type")

    @property
    def width(self):
        """Columns over which the exponents are spread."""
        share = 1 if self.type == "proportional" else self.get("partial_rotary_factor")
        return int(self.get("dim") * share)

    @property
    def turning(self):
        """Frequencies that are not 0: the first ones."""
        if self.type != "proportional":
            return self.width // 2
        return int(self.get("dim") * self.get("partial_rotary_factor") / 2)

    def waves(self):
        return [Wave(self, i) for i in range(self.turning)]

    def trained_length(self):
        return mp.mpf(
            self.get("original_max_position_embeddings") or self.get("max_position_embeddings")
        )

    def attention(self):
        """The factor of cosines and sines as a Fraction, irrational ones cut."""
        with mp.workprec(ATTENTION_BITS):
            value = self.get("attention_factor") or ATTENTION.get(self.type, lambda _: 1)(self)
            _, mantissa, exponent, _ = mp.mpf(value)._mpf_
            return Fraction(int(mantissa)) * Fraction(2) ** int(exponent)


class Wave(namedtuple("Wave", "rotary index")):
    """One frequency, radians per position."""

    def mpf(self):
        with mp.workprec(mp.prec + 64):
            return RULES[self.rotary.type](self.rotary, self.index)

    def bits(self, rounding):
        """The frequency rounded by `rounding`, a function of Fractions."""
        with mp.workprec(ATTENTION_BITS):
            _, mantissa, exponent, _ = self.mpf()._mpf_
        return rounding(Fraction(int(mantissa)) * Fraction(2) ** int(exponent))


def geometric(theta, i, width):
    return 1 / mp.power(theta, mp.mpf(2 * i) / width)


def plain(rotary, i):
    return geometric(rotary.number("rope_theta"), i, rotary.width)


def divided(rotary, i):
    return plain(rotary, i) / rotary.number("factor")


def with_larger_theta(rotary, i, growth):
    d = mp.mpf(rotary.width)
    return geometric(
        rotary.number("rope_theta") * mp.power(growth, d / (d - 2)), i, rotary.width
    )


def ntk(rotary, i):
    return with_larger_theta(rotary, i, rotary.number("factor"))


def dynamic(rotary, i):
    length, factor = rotary.trained_length(), rotary.number("factor")
    stretch = max(rotary.number("seq_len"), length) / length
    return with_larger_theta(rotary, i, factor * stretch - (factor - 1))


def yarn(rotary, i):
    def index_of(rotations):
        """The (fractional) frequency index that turns so often over the trained length."""
        wavelength = rotary.trained_length() / rotations
        return rotary.width * mp.log(wavelength / (2 * mp.pi)) / (2 * mp.log(theta))

    theta, top = rotary.number("rope_theta"), mp.mpf(rotary.width - 1)
    first, last = index_of(rotary.number("beta_fast")), index_of(rotary.number("beta_slow"))
    if rotary.get("truncate"):
        first, last = mp.floor(first), mp.ceil(last)
    first, last = max(first, 0), min(last, top)  # as Hugging Face: perhaps first > last
    if first == last:
        last += mp.mpf(1) / 1000
    interpolated = min(max((i - first) / (last - first), 0), 1)
    kept, w = 1 - interpolated, plain(rotary, i)
    return interpolated * w / rotary.number("factor") + kept * w


def longrope(rotary, i):
    beyond = rotary.get("seq_len") > rotary.get("original_max_position_embeddings")
    return plain(rotary, i) / mp.mpf(rotary.get("long_factor" if beyond else "short_factor")[i])


def llama3(rotary, i):
    w, length = plain(rotary, i), rotary.trained_length()
    low, high = rotary.number("low_freq_factor"), rotary.number("high_freq_factor")
    turns = length * w / (2 * mp.pi)  # over the trained length
    if turns < low:
        return w / rotary.number("factor")
    if turns > high:
        return w
    smooth = (turns - low) / (high - low)
    return (1 - smooth) * w / rotary.number("factor") + smooth * w


def yarn_attention(rotary):
    def scale(mscale):
        return 1 + mscale * mp.log(rotary.number("factor")) / 10

    if not (rotary.get("mscale") and rotary.get("mscale_all_dim")):
        return scale(1)
    return scale(rotary.number("mscale")) / scale(rotary.number("mscale_all_dim"))


def longrope_attention(rotary):
    length = rotary.number("original_max_position_embeddings")
    factor = mp.mpf(rotary.get("factor") or rotary.number("max_position_embeddings") / length)
    return mp.sqrt(1 + mp.log(factor) / mp.log(length)) if factor > 1 else 1


RULES = {
    "default": plain,
    "linear": divided,
    "ntk": ntk,
    "dynamic": dynamic,
    "yarn": yarn,
    "longrope": longrope,
    "llama3": llama3,
    "proportional": divided,
}
ATTENTION = {"yarn": yarn_attention, "longrope": longrope_attention}
