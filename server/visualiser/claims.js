// Claims about tables, each evaluated on all of the data that it is given: what the notes say
// is said where the claim holds, and what can be neither proved nor refuted is left out.

const SAME = 1e-5; // of the range of a matrix: differences below are rounding
const CLEAR = 16; // times what rounding can be: differences above are none
const COARSE = 1 / 20; // of the range: where rounding is more, nothing is proved
const UNITS = {i32: 0, f64: 2 ** -53, f32: 2 ** -24, f16: 2 ** -11, bf16: 2 ** -8};
const MARGIN = 1e-2; // of a size: what is less ahead is not said to be the most
const EVEN = 1e-3; // of a step: positions that lie so near a multiple of it are one
const GROUPS_MOST = 2 ** 22;

// ---- differences of places ----

// Coordinates as whole numbers of steps, {steps, unit}; null where they are none.
function stepsOf(coordinates) {
    const [first] = coordinates;
    const gaps = coordinates.map((each) => Math.abs(each - first)).filter((gap) => gap > 0);
    if (gaps.length === 0) return {steps: coordinates.map(() => 0), unit: 1};
    const units = [1, gaps.reduce((one, other) => Math.min(one, other))];
    for (const unit of units) {
        const steps = coordinates.map((each) => (each - first) / unit);
        if (steps.every((step) => Math.abs(step - Math.round(step)) < EVEN))
            return {steps: steps.map(Math.round), unit};
    }
    return null;
}

// The differences between places, along each axis in whole steps: {of(axis, i, j), reach, unit:
// for each axis}; null where the places are not a whole number of steps apart. `at` gives for
// each axis the coordinate of a place.
export function differencesBetween(at, count) {
    const axes = at.map((coordinate) =>
        stepsOf(Float64Array.from({length: count}, (_, i) => coordinate(i))),
    );
    if (axes.includes(null)) return null;
    return {
        of: (axis, i, j) => axes[axis].steps[i] - axes[axis].steps[j],
        unit: axes.map(({unit}) => unit),
        reach: axes.map(
            ({steps}) =>
                steps.reduce((a, b) => Math.max(a, b)) - steps.reduce((a, b) => Math.min(a, b)),
        ),
    };
}

// Whether all pairs of places with the same differences have the same value: true or false, up
// to rounding; null where that is open. The rows of the matrix are some of the places,
// numbers(i) says which, and its columns are all of them.
export function dependsOnDifference(matrix, differences) {
    const {data, rows, columns, numbers, source = matrix} = matrix;
    if (!differences || rows < 2 || columns < 2) return null;
    const widths = differences.reach.map((reach) => 2 * reach + 1);
    const groups = widths.reduce((product, width) => product * width, 1);
    if (groups > GROUPS_MOST) return null;
    const least = new Float64Array(groups).fill(Infinity),
        most = new Float64Array(groups).fill(-Infinity);
    const seen = new Uint8Array(groups);
    let pairs = 0,
        many = 0;
    for (let row = 0; row < rows; row++) {
        const i = numbers(row);
        for (let j = 0; j < columns; j++) {
            const value = data[pairs++];
            if (Number.isNaN(value)) return null;
            let group = 0;
            for (let axis = 0; axis < widths.length; axis++)
                group =
                    group * widths[axis] + differences.of(axis, i, j) + differences.reach[axis];
            if (seen[group]) many++;
            seen[group] = 1;
            if (value < least[group]) least[group] = value;
            if (value > most[group]) most[group] = value;
        }
    }
    return many > 0 ? alike(least, most, source.dtype) : null;
}

// Whether the ends of all groups lie together.
function alike(least, most, dtype) {
    const finite = (values) => values.filter(Number.isFinite);
    const from = finite(least).reduce((a, b) => Math.min(a, b), Infinity),
        to = finite(most).reduce((a, b) => Math.max(a, b), -Infinity);
    if (!(from < to)) return null; // one value says nothing of places
    const room = Math.max(
        SAME * (to - from),
        8 * UNITS[dtype] * Math.max(Math.abs(from), Math.abs(to)),
    );
    const spread = most.reduce(
        (worst, high, i) =>
            high === least[i] || (high === -Infinity && least[i] === Infinity)
                ? worst
                : Math.max(worst, high - least[i]),
        0,
    );
    if (spread > CLEAR * room) return false;
    return spread <= room && room <= COARSE * (to - from) ? true : null;
}

// ---- clouds ----

// Pearson's correlation of the points of a cloud.
export function correlationOf({x, y, pairs: {at}}) {
    const meanOf = ({data}) => at.reduce((sum, index) => sum + data[index], 0) / at.length;
    const [mx, my] = [x, y].map(meanOf);
    let xx = 0,
        yy = 0,
        xy = 0;
    for (const index of at) {
        const a = x.data[index] - mx,
            b = y.data[index] - my;
        xx += a * a;
        yy += b * b;
        xy += a * b;
    }
    return xy / Math.sqrt(xx * yy);
}

// ---- extremes ----

// The one item that has clearly the most of something; undefined if there is none.
export function onlyMost(items, sizeOf) {
    const [best, next] = [...items].sort((one, other) => sizeOf(other) - sizeOf(one));
    const room = MARGIN * Math.abs(sizeOf(best));
    return next && sizeOf(best) - sizeOf(next) > room ? best : undefined;
}
