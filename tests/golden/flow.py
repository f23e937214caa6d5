"""The dynamical system of FLOATER (Liu et al. 2020), solved in many digits.

    p'(t) = W2 [act(W1 [p; t]); t]        t is the last input of both layers, no biases

`RungeKutta` is the classic rule with fixed steps; `Taylor` is the flow itself, from power
series so long and steps so short that its error (10^-50) is far below that of any solver in
doubles. A relu network is linear until a hidden unit's input changes sign; steps end there.
"""

import mpmath

ORDER = 24
LONGEST_STEP = mpmath.mpf(1) / 100


def activate(activation, value):
    if activation == "tanh":
        return mpmath.tanh(value)
    return max(value, mpmath.mpf(0))


def times(matrix, vector):
    return [mpmath.fdot(row, vector) for row in matrix]


class RungeKutta:
    def __init__(self, weights, activation, dt, substeps):
        self.weights, self.activation = weights, activation
        self.dt, self.substeps = dt, substeps

    def derivative(self, t, p):
        first, second = self.weights
        hidden = [activate(self.activation, z) for z in times(first, p + [t])]
        return times(second, hidden + [t])

    def step(self, t, p, h):
        def moved(slope, share):
            return [a + h * share * b for a, b in zip(p, slope)]

        half = mpmath.mpf(1) / 2
        k1 = self.derivative(t, p)
        k2 = self.derivative(t + h / 2, moved(k1, half))
        k3 = self.derivative(t + h / 2, moved(k2, half))
        k4 = self.derivative(t + h, moved(k3, 1))
        slopes = zip(k1, k2, k3, k4)
        return moved([(a + 2 * b + 2 * c + d) / 6 for a, b, c, d in slopes], 1)

    def states(self, p, last):
        """The states at 0, dt ... last * dt."""
        states, h = [p], self.dt / self.substeps
        for k in range(last):
            for s in range(self.substeps):
                p = self.step(k * self.dt + s * h, p, h)
            states.append(p)
        return states


class ReluSeries:
    """The power series of relu(z), z staying on one side of 0."""

    def __init__(self, on):
        self.z, self.on = [], on

    def append(self, coefficient):
        """Take the next coefficient of z, return that of relu(z)."""
        self.z.append(coefficient)
        return coefficient if self.on else mpmath.mpf(0)


class TanhSeries:
    """The power series of a = tanh(z): a' = s z' with s = 1 - a^2."""

    def __init__(self, _on):
        self.z, self.a, self.s = [], [], []

    def append(self, coefficient):
        """Take the next coefficient of z, return that of tanh(z)."""
        z, a, s, n = self.z, self.a, self.s, len(self.z)
        z.append(coefficient)
        if n == 0:
            a.append(mpmath.tanh(coefficient))
        else:
            a.append(mpmath.fsum(k * z[k] * s[n - k] for k in range(1, n + 1)) / n)
        s.append((n == 0) - mpmath.fdot(a, a[::-1]))
        return a[n]


SERIES = {"relu": ReluSeries, "tanh": TanhSeries}


class Taylor:
    def __init__(self, weights, activation, dt):
        self.weights, self.activation, self.dt = weights, activation, dt

    def series(self, t, p, active):
        """The power series of p and of the hidden units' inputs z around t."""
        first, second = self.weights
        p = [[entry] for entry in p]
        units = [SERIES[self.activation](on) for on in active]
        for n in range(ORDER):
            time = (t, mpmath.mpf(1))[n] if n < 2 else mpmath.mpf(0)
            inputs = times(first, [entry[n] for entry in p] + [time])
            hidden = [unit.append(z) for unit, z in zip(units, inputs)]
            for entry, slope in zip(p, times(second, hidden + [time])):
                entry.append(slope / (n + 1))
        return p, [unit.z for unit in units]

    def first_change(self, z, h, active):
        """When the first of the relu units changes sides within h, and which; h if none."""
        earliest, changed = h, None
        for j, unit in enumerate(z):
            line = unit[::-1]
            if self.activation == "relu" and (mpmath.polyval(line, h) > 0) != active[j]:
                time = mpmath.findroot(
                    lambda x, line=line: mpmath.polyval(line, x), (0, h), solver="anderson"
                )
                if time < earliest:
                    earliest, changed = time, j
        return earliest, changed

    def states(self, p, last):
        """The states at 0, dt ... last * dt."""
        active = [z > 0 for z in times(self.weights[0], p + [mpmath.mpf(0)])]
        pieces = int(mpmath.ceil(self.dt / LONGEST_STEP))
        states = [p]
        for k in range(last):
            t, end = k * self.dt, (k + 1) * self.dt
            while t < end:
                step = min(self.dt / pieces, end - t)
                series, z = self.series(t, p, active)
                step, changed = self.first_change(z, step, active)
                if changed is not None:
                    active[changed] = not active[changed]
                p = [mpmath.polyval(entry[::-1], step) for entry in series]
                t += step
            states.append(p)
        return states
