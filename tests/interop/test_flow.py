"""floater against other integrators: scipy's DOP853 where it is installed, extrapolated
midpoint rules, and the classic rule as numpy has it."""

import sys
from functools import partial

import numpy as np

import seeded
import stored_sets
from service import REAL, ServiceTest

try:
    from scipy.integrate import solve_ivp
except ImportError as missing:
    print(f"test_flow: {missing}: DOP853 is not compared with", file=sys.stderr)
    solve_ivp = None

ERROR = 1e-8  # of the largest entry, with the defaults
TIGHT = {"rtol": 1e-12, "atol": 1e-16}
TIGHT_ERROR = 1e-9
ACTIVATIONS = {"relu": lambda z: np.maximum(z, 0), "tanh": np.tanh}


def network(tensors, activation):
    """p' = w2 [act(w1 [p; t] + b1); t] + b2 as a function of t and p."""
    p0, w1, b1, w2, b2 = (
        stored_sets.wide(tensors[name]) for name in ("p0", "w1", "b1", "w2", "b2")
    )

    def derivative(t, p):
        hidden = ACTIVATIONS[activation](w1 @ np.append(p, t) + b1)
        return w2 @ np.append(hidden, t) + b2

    return p0, derivative


# ---- integrators: the states at 0, dt … last * dt ----


def by_scipy(p0, derivative, dt, last):
    solved = solve_ivp(
        derivative,
        (0, last * dt),
        p0,
        method="DOP853",
        t_eval=np.arange(last + 1) * dt,
        rtol=1e-12,
        atol=1e-14,
    )
    assert solved.success, solved.message
    return solved.y.T


MIDPOINTS = (2, 4, 6, 8, 10, 12, 14, 16)


def modified_midpoint(derivative, t, p, h, count):
    h /= count
    before, at = p, p + h * derivative(t, p)
    for i in range(1, count):
        before, at = at, before + 2 * h * derivative(t + i * h, at)
    return (at + before + h * derivative(t + count * h, at)) / 2


def extrapolated(derivative, t, p, h):
    """Gragg's method (Hairer, Norsett, Wanner 1993, II.9): the best of a step's columns and an
    estimate of its error."""
    rows = []
    for count in MIDPOINTS:
        row = [modified_midpoint(derivative, t, p, h, count)]
        for before, other in zip(rows[-1] if rows else [], MIDPOINTS[len(rows) - 1 :: -1]):
            row.append(row[-1] + (row[-1] - before) / ((count / other) ** 2 - 1))
        rows.append(row)
    return row[-1], np.abs(row[-1] - row[-2]).max()


def by_extrapolation(p0, derivative, dt, last):
    """Steps are halved until their error is small, or they are too short to matter: a relu
    that begins within one has no more than its slope."""

    def cross(t, p, h):
        end, error = extrapolated(derivative, t, p, h)
        if error <= 1e-13 * max(1e-3, np.abs(end).max()) or h < 1e-9 * dt:
            return end
        return cross(t + h / 2, cross(t, p, h / 2), h / 2)

    states = [p0]
    for k in range(last):
        states.append(cross(k * dt, states[-1], dt))
    return np.array(states)


def by_classic_rule(p0, derivative, dt, last, substeps=5):
    states, h = [p0], dt / substeps
    for k in range(last):
        p = states[-1]
        for s in range(substeps):
            t = k * dt + s * h
            k1 = derivative(t, p)
            k2 = derivative(t + h / 2, p + h / 2 * k1)
            k3 = derivative(t + h / 2, p + h / 2 * k2)
            k4 = derivative(t + h, p + h * k3)
            p = p + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
        states.append(p)
    return np.array(states)


def integrators():
    yield by_extrapolation
    if solve_ivp:
        yield by_scipy


# ---- sets ----


def stored(seed, dim, hidden, dtype="<f4", size=1.0):
    """A network as somebody may have trained it, biases included."""
    rng = np.random.default_rng(seed)
    shapes = {
        "p0": (dim,),
        "w1": (hidden, dim + 1),
        "b1": (hidden,),
        "w2": (dim, hidden + 1),
        "b2": (dim,),
    }
    scales = {
        "p0": 0.5,
        "w1": size / np.sqrt(dim),
        "b1": 0.3,
        "w2": size / np.sqrt(hidden),
        "b2": 0.1,
    }
    arrays = {name: rng.normal(0, scales[name], shape) for name, shape in shapes.items()}
    if dtype == "bf16":
        return {name: stored_sets.BFloat16(array) for name, array in arrays.items()}
    return {name: array.astype(dtype) for name, array in arrays.items()}


def drawn(seed, dim, hidden):
    """The network that a request without a set has."""
    std = seeded.xavier(dim + 1, hidden)
    return {
        "p0": seeded.matrix(seed, "p0", 1, dim, 0.02)[0],
        "w1": seeded.matrix(seed, "w1", hidden, dim + 1, std),
        "b1": np.zeros(hidden),
        "w2": seeded.matrix(seed, "w2", dim, hidden + 1, std),
        "b2": np.zeros(dim),
    }


class FlowTest(ServiceTest):
    def served(self, **options):
        return self.bits("floater", {"dtype": "f64", **options}).view(REAL["f64"])

    def check(self, tensors, options, rows, dt, activation):
        """The rows [0, rows) of a request against the path of each integrator."""
        options = {**options, "length": rows, "dt": dt, "activation": activation}
        tight, default = self.served(**options, **TIGHT), self.served(**options)
        p0, derivative = network(tensors, activation)
        for other in integrators():
            want = other(p0, derivative, dt, rows - 1)
            largest = np.abs(want).max()
            self.assertGreater(np.abs(want[-1] - want[0]).max(), 1e-3 * largest, "it moves")
            for got, bound in ((tight, TIGHT_ERROR), (default, ERROR)):
                worst = np.abs(got - want).max() / largest
                self.assertLessEqual(worst, bound, f"{other.__name__} {options}")

    def test_stored_networks_go_where_other_integrators_go(self):
        cases = (
            (1, 16, 16, "<f4", 200, 0.01),
            (2, 40, 64, "<f8", 100, 0.05),
            (3, 7, 30, "<f2", 60, 0.1),
            (4, 24, 5, "bf16", 80, 0.1),
        )
        for seed, dim, hidden, dtype, rows, dt in cases:
            tensors = stored(seed, dim, hidden, dtype)
            name = stored_sets.upload(self, f"flow-{seed}", tensors)
            for activation in ACTIVATIONS:
                with self.subTest(dtype=dtype, activation=activation):
                    self.check(tensors, {"set": name}, rows, dt, activation)

    def test_seeded_networks_go_where_other_integrators_go(self):
        for seed, dim, hidden, rows, dt in ((0, 16, 16, 300, 0.01), (2**53, 12, 20, 50, 0.1)):
            tensors = drawn(seed, dim, hidden)
            for activation in ACTIVATIONS:
                with self.subTest(seed=seed, activation=activation):
                    options = {"seed": seed, "dim": dim, "hidden": hidden}
                    self.check(tensors, options, rows, dt, activation)

    def test_the_classic_rule_is_numpys(self):
        tensors = stored(5, 20, 33, "<f8")
        name = stored_sets.upload(self, "flow-classic", tensors)
        for substeps in (1, 5, 16):
            for activation in ACTIVATIONS:
                options = {"set": name, "method": "rk4", "substeps": substeps}
                got = self.served(length=40, dt=0.1, activation=activation, **options)
                want = by_classic_rule(*network(tensors, activation), 0.1, 39, substeps)
                np.testing.assert_allclose(got, want, rtol=0, atol=1e-12 * np.abs(want).max())

    def test_a_coarse_classic_rule_is_off_as_numpys_is(self):
        """The rule is that of the name, not a better one."""
        tensors = stored(6, 10, 10, "<f8", size=3.0)
        name = stored_sets.upload(self, "flow-coarse", tensors)
        p0, derivative = network(tensors, "tanh")
        flow = by_extrapolation(p0, derivative, 0.5, 10)
        got = self.served(
            set=name, length=11, dt=0.5, activation="tanh", method="rk4", substeps=1
        )
        want = by_classic_rule(p0, derivative, 0.5, 10, 1)
        np.testing.assert_allclose(got, want, rtol=0, atol=1e-11 * np.abs(want).max())
        self.assertGreater(np.abs(got - flow).max(), 1e-5)

    def test_single_precision_is_the_path_rounded_once(self):
        name = stored_sets.upload(self, "flow-once", stored(7, 12, 12))
        options = {"set": name, "length": 64, "dt": 0.05}
        double = self.served(**options)
        got = self.bits("floater", options)
        np.testing.assert_array_equal(
            got, (double.astype(np.float32) + np.float32(0)).view(np.uint32)
        )

    def test_rows_do_not_depend_on_the_window(self):
        name = stored_sets.upload(self, "flow-window", stored(8, 12, 20))
        ask = partial(self.bits, "floater")
        for method in ("dopri5", "rk4"):
            options = {"set": name, "dt": 0.05, "method": method, "dtype": "f64"}
            whole = ask({**options, "length": 120})
            for window, rows in (
                ({"length": 20, "offset": 100}, whole[100:]),
                ({"length": 30, "step": 4}, whole[::4]),
                ({"positions": [119, 0, 60, 60]}, whole[[119, 0, 60, 60]]),
            ):
                np.testing.assert_array_equal(ask({**options, **window}), rows)
