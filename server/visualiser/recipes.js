// The usual recipes for sines and cosines of positions: every step in float32, as torch
// computes them on a CPU. Math.fround after each operation gives float32's result. The
// exponential, the power and the sines are assumed to be rounded correctly; torch's are, to
// within one unit in the last place.
import {round, exponentOf} from './numbers.js';

const {fround} = Math;

// How a recipe computes its frequencies base^(-numerator/denominator), the numerators being 0,
// 2, 4 …; `exact` is the frequency as a double.
export const RECIPES = [
    {
        name: 'exponential',
        title: 'exp(2i · (−ln base / dim)), as in PyTorch’s tutorial',
        code: 'torch.exp(torch.arange(0, dim, 2).float() * (-math.log(base) / dim))',
        geometric: true,
        frequency: ({base, numerator, denominator}) =>
            fround(Math.exp(fround(numerator * fround(-Math.log(base) / denominator)))),
    },
    {
        name: 'power',
        title: '1 / base^(2i / dim), as in Hugging Face’s transformers',
        code: '1.0 / base ** (torch.arange(0, dim, 2).float() / dim)',
        geometric: true,
        frequency: ({base, numerator, denominator}) =>
            fround(1 / fround(fround(base) ** fround(numerator / denominator))),
    },
    {
        name: 'rounded',
        title: 'the exact frequency, rounded once to float32',
        code: 'the best that float32 frequencies can do',
        geometric: false,
        frequency: ({exact}) => fround(exact),
    },
];

// What a recipe holds in a number format of its own.
export const STAGES = ['positions', 'frequencies', 'angles', 'stored'];
export const SINGLE = Object.fromEntries(STAGES.map((stage) => [stage, 'f32']));

// One entry: the angle is a product of two rounded numbers, rounded once; sines are computed in
// float32 and then stored. wave: {frequency (float32), sine (or cosine), amplitude}; `formats`
// has one for each stage.
export function entryOf({frequency, sine, amplitude}, position, formats = SINGLE) {
    const angle = round(
        formats.angles,
        round(formats.positions, position) * round(formats.frequencies, frequency),
    );
    return round(
        formats.stored,
        fround(amplitude * fround(sine ? Math.sin(angle) : Math.cos(angle))),
    );
}

// The distance of neighbours of float32 at a value.
export function unitOf(value) {
    return Math.abs(value) > 2 ** -126 ? 2 ** (exponentOf(value) - 23) : 2 ** -149;
}

const NEAR = 1e-5; // of an index of a frequency to an integer
const FIT = 1e-9; // of a column to its wave

// For each column the index i of its frequency base^(-2i/denominator); NaN if it is none of
// these.
function numeratorsOf(logarithms, base, denominator) {
    return logarithms.map((each) => {
        const index = (each / Math.log(base)) * (denominator / 2);
        return Math.abs(index - Math.round(index)) <= NEAR ? 2 * Math.round(index) : NaN;
    });
}

const fitting = (numerators) => numerators.filter((each) => !Number.isNaN(each)).length;

// The frequencies of columns as base^(-numerator/denominator): {base, denominator, numerators};
// a numerator is NaN if a column has another frequency. The denominator follows from the two
// greatest frequencies. If the base fits less than half of the columns, a scaled base is tried,
// which follows from the greatest and the least frequency.
export function exponentsOf(wavelengths, base) {
    const logarithms = Array.from(wavelengths, (each) => Math.log(each / (2 * Math.PI)));
    const known = logarithms
        .filter(Number.isFinite)
        .sort((a, b) => a - b)
        .filter((each, i, all) => i === 0 || each - all[i - 1] > NEAR);
    const denominator =
        known.length > 1 ? Math.round((2 * Math.log(base)) / (known[1] - known[0])) : 2;
    const numerators = numeratorsOf(logarithms, base, denominator);
    const usual = {base, denominator, numerators};
    if (known.length < 3 || 2 * fitting(numerators) >= logarithms.length) return usual;
    const scaled = Math.exp(((known.at(-1) - known[0]) * known.length) / (known.length - 1));
    const others = numeratorsOf(logarithms, scaled, 2 * known.length);
    return fitting(others) > fitting(numerators)
        ? {base: scaled, denominator: 2 * known.length, numerators: others}
        : usual;
}

// Positions at which wavesOf wants the table, in f64.
export const PROBES = Array.from({length: 26}, (_, i) => 4 ** i);

// A description of each column: {column, sine, amplitude, exact, numerator, denominator, base}.
// Columns that are not a sine or cosine with phase 0 are left out. data: the rows PROBES of the
// table, in f64.
export function wavesOf(wavelengths, givenBase, data) {
    const columns = wavelengths.length;
    const {base, denominator, numerators} = exponentsOf(wavelengths, givenBase);
    const waves = [];
    for (let column = 0; column < columns; column++) {
        const numerator = numerators[column];
        const exact = Number.isNaN(numerator)
            ? (2 * Math.PI) / wavelengths[column]
            : base ** (-numerator / denominator);
        const probe = Math.min(
            Math.floor(Math.log(1.2 / exact) / Math.log(4)),
            PROBES.length - 2,
        );
        if (!(probe >= 0)) continue;
        const [near, far] = [PROBES[probe], PROBES[probe + 1]].map(
            (position) => exact * position,
        );
        const [first, second] = [probe, probe + 1].map((row) => data[row * columns + column]);
        for (const [sine, wave] of [
            [true, Math.sin],
            [false, Math.cos],
        ]) {
            const measured = first / wave(near);
            if (
                measured === 0 ||
                !(Math.abs(measured * wave(far) - second) <= FIT * Math.abs(measured))
            )
                continue;
            const amplitude = Math.abs(measured - 1) < FIT ? 1 : fround(measured);
            waves.push({column, sine, amplitude, exact, numerator, denominator, base});
            break;
        }
    }
    return waves;
}
