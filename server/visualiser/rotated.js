// What cosines and sines are for: queries and keys that turn with their positions, and the
// scores of the turned ones. All of it follows from what a scheme's document says of their use.
import {numberField, optionField} from './controls.js';
import {h} from './dom.js';
import {reachOf} from './numbers.js';
import {normals} from './random.js';
import {loadTable} from './tables.js';

const DRAWS = [
    ['', 'the mean of 64'],
    ['1', 'a single one'],
    ['1024', 'the mean of 1024'],
];
const STANDARD_DRAWS = 64;
const KEYS = [
    ['', 'the query itself'],
    ['other', 'another random vector'],
];
const SEEDS = 2 ** 32;
const DRAWN = 2 ** 24; // random numbers at most
const EVEN = 1e-3; // of a length: differences below are rounding of any type but bf16
const PLACES = /^the (coordinates|positions)\b/;

// {query, key: the names of the two tensors that turn it, drawn: whether the vectors that turn
// are random ones}; undefined of a tensor that turns nothing. Where two tensors multiply the
// same input, they are the parts of a complex number for each word, whose own length and phase
// are given.
export function rotationOf({name, axes}, {applies}) {
    if (axes[0] !== 'n') return undefined;
    const turn = (input) =>
        applies?.find((each) => each.kind === 'rotate' && each.input === input)?.tensors;
    const parts = applies?.filter(({kind, input}) => kind === 'multiply' && input === 'x');
    const [query, key] =
        parts?.length === 2
            ? [0, 1].map(() => parts.flatMap(({tensors}) => tensors))
            : [turn('query'), turn('key')];
    return query && key && [...query, ...key].includes(name)
        ? {query, key, drawn: parts.length === 0}
        : undefined;
}

// The tensor that says where the rows stand, if they stand on several axes.
const placesIn = ({tensors}) =>
    tensors.find(
        ({shape, help}) => /\bn\b/.test(shape) && !/\bdim/.test(shape) && PLACES.test(help),
    );

export const isGrid = (scheme) => Boolean(placesIn(scheme));

// {names, at: for each axis the coordinate of a row} of a table's rows.
export async function loadPlaces(table, signal) {
    const {scheme, settings, described, coordinates} = table;
    const document = placesIn(scheme);
    if (!document) return {names: [''], at: [coordinates[0].at]};
    const {name} = document;
    const found = await loadTable(scheme, settings, {
        tensor: name,
        waves: false,
        described,
        signal,
    });
    const down = found.tensor.axes[0] === 'n';
    const count = down ? found.columns : found.rows;
    const [, ...told] = /in (\w+), (\w+) and (\w+)$/.exec(document.help) ?? [];
    return {
        names: Array.from({length: count}, (_, i) => told[i] ?? `axis ${i}`),
        at: Array.from(
            {length: count},
            (_, axis) => (row) => (down ? found.value(row, axis) : found.value(axis, row)),
        ),
    };
}

// The first rows of the tables that turn, each pair in one column: {query, key: [cosines,
// sines], count: of pairs, rows}.
export async function loadTurns(table, settings, {described, rows}, signal) {
    const {scheme, tensor, effective} = table;
    const {query, key} = rotationOf(tensor, scheme);
    const full = effective.table === 'full';
    const asked = full
        ? {...settings, parameters: {...settings.parameters, table: 'half_width'}}
        : settings;
    const names = [...new Set([...query, ...key])];
    const loaded = await Promise.all(
        names.map((name) =>
            loadTable(scheme, asked, {
                tensor: name,
                rows,
                waves: false,
                described: full ? undefined : described,
                signal,
            }),
        ),
    );
    const tablesOf = (wanted) => wanted.map((name) => loaded[names.indexOf(name)]);
    return {
        query: tablesOf(query),
        key: tablesOf(key),
        count: loaded[0].columns,
        rows: loaded[0].rows,
    };
}

// How far query and key agree in each pair (along), and how far the key is turned from the
// query (across), the means of all draws. `drawing` is null where the vectors are part of the
// tables.
export function weightsOf(drawing, count) {
    const along = new Float64Array(count).fill(drawing ? 0 : 1 / count),
        across = new Float64Array(count);
    if (!drawing) return {along, across};
    const {seed, draws, other} = drawing;
    const next = normals(seed);
    const scale = 1 / (draws * Math.sqrt(2 * count));
    for (let draw = 0; draw < draws; draw++) {
        const query = next(2 * count),
            key = other ? next(2 * count) : query;
        for (let pair = 0; pair < count; pair++) {
            const [qx, qy] = [query[2 * pair], query[2 * pair + 1]],
                [kx, ky] = [key[2 * pair], key[2 * pair + 1]];
            along[pair] += scale * (qx * kx + qy * ky);
            across[pair] += scale * (qx * ky - qy * kx);
        }
    }
    return {along, across};
}

// The scores of the query at a row with the keys at all rows. Where queries and keys turn alike
// and are the same vectors, the matrix is symmetric to the last bit.
export function scoresOf({query: [qc, qs], key: [kc, ks], count, rows}, weights, row) {
    const {along, across} = weights;
    const turned = across.some((each) => each !== 0);
    const first = row * count;
    return Float64Array.from({length: rows}, (_, key) => {
        let score = 0;
        for (let pair = 0, q = first, k = key * count; pair < count; pair++, q++, k++) {
            score += (qc.data[q] * kc.data[k] + qs.data[q] * ks.data[k]) * along[pair];
            if (turned)
                score += (qs.data[q] * kc.data[k] - qc.data[q] * ks.data[k]) * across[pair];
        }
        return score;
    });
}

// The scores of the queries at all rows with the key at a row.
export const scoresOfKey = ({query, key, ...turns}, {along, across}, row) =>
    scoresOf(
        {...turns, query: key, key: query},
        {along, across: across.map((each) => -each)},
        row,
    );

// By what turning multiplies the length of every query and every key, {query, key}; null where
// that differs among pairs or places.
export function stretchOf({query, key}) {
    const ends = [query, key].map(([cosines, sines]) => {
        const lengths = cosines.data.map((c, i) => Math.hypot(c, sines.data[i]));
        return reachOf(lengths) ?? [0, Infinity];
    });
    if (ends.some(([least, most]) => most - least > EVEN * most)) return null;
    const [q, k] = ends.map(([least, most]) => (least + most) / 2);
    return {query: q, key: k};
}

// ---- which vectors ----

// What is drawn: {seed, draws, other}, and no more than can be computed while one waits; null
// where nothing is.
export function drawingOf({options}, tables) {
    const widths = tables
        .filter(({tensor, scheme}) => rotationOf(tensor, scheme)?.drawn)
        .map(({tensor, effective}) => tensor.shape[1] * (effective.table === 'full' ? 1 : 2));
    if (widths.length === 0) return null;
    const seed = Number(options['scores.seed'] ?? 0);
    const draws = DRAWS.some(([value]) => value === options['scores.draws'])
        ? Number(options['scores.draws'] || STANDARD_DRAWS)
        : STANDARD_DRAWS;
    const most = Math.floor(DRAWN / Math.max(...widths));
    return {
        seed: Number.isInteger(seed) && seed >= 0 && seed < SEEDS ? seed : 0,
        draws: Math.max(1, Math.min(draws, most)),
        other: options['scores.key'] === 'other',
    };
}

// "a random query and another random vector as its key, …".
export function drawingText({seed, draws, other}) {
    const vectors = other
        ? 'a random query and another random vector as its key'
        : 'a random vector that is both query and key';
    const how = draws === 1 ? 'a single draw' : `the mean of ${draws} draws`;
    return `${vectors}, ${how} (seed ${seed})`;
}

// The controls of the vectors, which all views of scores share.
export function drawingControls(drawing, context) {
    if (!drawing) return [];
    const put = (value) => context.update({'scores.seed': value === 0 ? '' : String(value)});
    return [
        optionField(context, 'scores.key', 'key', KEYS).field,
        optionField(context, 'scores.draws', 'draws', DRAWS).field,
        numberField({
            id: 'scores-seed',
            label: 'seed',
            max: SEEDS - 1,
            value: drawing.seed,
            asked: context.options['scores.seed'],
            changed: put,
        }),
        h(
            'button',
            {
                type: 'button',
                id: 'scores-again',
                onclick: () => put((drawing.seed + 1) % SEEDS),
            },
            'Draw again',
        ),
    ];
}
