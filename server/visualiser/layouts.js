// Tables of cosines and sines that differ in nothing but which columns turn together: what a
// kernel does to a score that takes the wrong ones.
const SHOWN = 2; // pairs that are named
const EQUAL = ', by the same angles: so both tables are equal';
const DISTANCES = [1, 16, 256]; // of query and key

// The columns of pair i of so many, by the name of the layout.
const COLUMNS = {
    half: (i, count) => [i, i + count],
    interleaved: (i) => [2 * i, 2 * i + 1],
};

// The matrix that turns the pairs of a layout, as {"row,column": entry}.
function rotationOf(layout, angles) {
    const entries = new Map();
    angles.forEach((angle, i) => {
        const [a, b] = COLUMNS[layout](i, angles.length);
        entries.set(`${a},${a}`, Math.cos(angle)).set(`${b},${b}`, Math.cos(angle));
        entries.set(`${a},${b}`, -Math.sin(angle)).set(`${b},${a}`, Math.sin(angle));
    });
    return entries;
}

// The correlation of the scores that two layouts give to random queries and keys: the share of
// the entries that their rotations have in common, trace(RᵀR') / dim.
export function correlationOf(layouts, angles) {
    const [one, other] = layouts.map((layout) => rotationOf(layout, angles));
    let sum = 0;
    for (const [place, entry] of one) sum += entry * (other.get(place) ?? 0);
    return sum / (2 * angles.length);
}

const listOf = (layout, count) =>
    Array.from({length: Math.min(SHOWN, count)}, (_, i) =>
        COLUMNS[layout](i, count).join(' and '),
    ).join(', ');

// The same table for a kernel with the other layout.
const otherwise = (table) => {
    const layout = table.effective.layout === 'half' ? 'interleaved' : 'half';
    return {...table, effective: {...table.effective, layout}};
};

// What two tables of different layouts have to do with each other, or one and the layout that
// it does not have, as a sentence, once their wavelengths are known; else ''.
export function layoutRemark([one, other = otherwise(one)]) {
    const layouts = [one, other].map(({effective}) => effective.layout);
    const dim = Number(one.effective.dim);
    if (layouts[0] === layouts[1] || !layouts.every((each) => each in COLUMNS)) return '';
    if (one.columns * 2 !== dim) return '';
    if (![one, other].every(({wavelengths}) => wavelengths?.some(Number.isFinite))) return '';
    const equal =
        one.data.length === other.data.length &&
        one.data.every((value, i) => value === other.data[i]);
    const frequencies = Array.from(one.wavelengths, (each) => (2 * Math.PI) / each || 0);
    const correlations = DISTANCES.map((distance) => {
        const angles = frequencies.map((each) => each * distance);
        return correlationOf(layouts, angles).toFixed(2);
    });
    const [pairs, others] = layouts.map(
        (layout) => `${layout} turns columns ${listOf(layout, dim / 2)} … together`,
    );
    return (
        `Layout ${pairs}, ${others}${equal ? EQUAL : ''}. A kernel with the wrong layout ` +
        'gives other scores: over random queries and keys they ' +
        `have a correlation of ${correlations.join(', ')} with the right ones at distances ` +
        `${DISTANCES.join(', ')}.`
    );
}
