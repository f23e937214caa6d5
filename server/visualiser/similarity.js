// Similarities of positions: matrices of /v1/similarity as tables for views, and what these
// views share.
import {WINDOW_ELEMENTS, addressOf} from './api.js';
import {isDistances} from './axes.js';
import {differencesBetween} from './claims.js';
import {h} from './dom.js';
import {isGrid, loadPlaces, loadTurns, rotationOf, scoresOf, weightsOf} from './rotated.js';
import {elements} from './tables.js';

export const METRICS = {
    l2: 'L2 distance',
    l1: 'L1 distance',
    dot: 'dot product',
    cosine: 'cosine',
    pearson: 'Pearson correlation',
};

const PRODUCTS = 2 ** 27; // of numbers, for one matrix of scores

// Whether the rows of a table can be compared. Vectors that turn are compared by their products
// once turned, which are computed here; other rows by the service, those of the scheme's
// primary tensor, if one row of the matrix fits a window.
export function hasSimilarity(tensor, scheme) {
    const {shape, primary} = tensor;
    if (rotationOf(tensor, scheme)) return shape[0] * shape[1] <= WINDOW_ELEMENTS;
    return (
        Boolean(scheme.similarity && primary) &&
        shape.length === 2 &&
        shape[0] <= WINDOW_ELEMENTS
    );
}

export const rotationIn = ({tensor, scheme}) => rotationOf(tensor, scheme);

// Whether rows stand on a line, so that curves over them have a meaning.
export const isLine = ({axes: [axis]}, scheme) =>
    (axis === 'n' && !isGrid(scheme)) || isDistances(axis);

// A table of the rows of the window alone, where that is less than all: its rows are compared.
function windowed(table) {
    const {settings, scheme, rows, totalRows, firstRow, tensor} = table;
    const [axis] = table.coordinates;
    const takes = (name) => scheme.parameters.some((each) => each.name === name);
    if (rows === totalRows || axis.axis !== 'n' || isGrid(scheme)) return table;
    if (!takes('length') || !takes('offset')) return table;
    const parameters = {...settings.parameters};
    for (const {name, unless} of scheme.parameters)
        if (unless === 'positions') delete parameters[name];
    parameters.offset = String(axis.at(firstRow));
    parameters.length = String(rows);
    if (settings.parameters.step) parameters.step = settings.parameters.step;
    return table.with({
        settings: {...settings, parameters},
        tensor: {...tensor, shape: [rows, ...tensor.shape.slice(1)]},
        totalRows: rows,
        firstRow: 0,
        coordinates: [
            {...axis, at: (i) => axis.at(firstRow + i)},
            ...table.coordinates.slice(1),
        ],
    });
}

// The tables that are compared in the same way as the first, and a line about the others.
export function comparable(given) {
    const tables = given.map(windowed);
    const able = tables.filter(({tensor, scheme}) => hasSimilarity(tensor, scheme));
    const kindOf = (table) => [Boolean(rotationIn(table)), isGrid(table.scheme)].join();
    const having = able.filter((table) => kindOf(table) === kindOf(able[0]));
    const note = tables
        .filter((table) => !having.includes(table))
        .map((table) =>
            able.includes(table)
                ? `${'AB'[tables.indexOf(table)]} is compared in another way; see it alone.`
                : `The service has no similarities of ${table.scheme.name}’s ` +
                  `${table.tensor.name}.`,
        )
        .join(' ');
    return {having, note};
}

// Positions of all rows of the whole tensor, by row number.
export const positionsOf = ({coordinates: [rows]}) => rows.at;

// How many rows of a matrix are computed at once.
export function rowsAtOnce(table) {
    const {totalRows: n, tensor} = table;
    const most = rotationIn(table) ? PRODUCTS / (n * tensor.shape[1]) : WINDOW_ELEMENTS / n;
    return Math.min(n, Math.max(1, Math.floor(most)));
}

// ---- scores of vectors that turn ----

const SCORE = 'attention score';
const PRODUCT = 'mean product';
export const scoreName = (table) => (rotationIn(table).drawn ? SCORE : PRODUCT);

// What the rows and columns of a matrix of scores are.
function axesOfScores(source, places, numbers) {
    const {drawn} = rotationIn(source);
    const at =
        places.at.length > 1
            ? (i) => `(${places.at.map((each) => each(i)).join(', ')})`
            : places.at[0];
    const [down, right] = drawn ? ['query', 'key'] : ['position', 'position'];
    return {
        row: {axis: drawn ? 'queries' : 'n', title: down, at: (i) => at(numbers(i))},
        column: {axis: drawn ? 'keys' : 'n', title: right, at},
    };
}

// Some rows of the matrix of scores, as below: the queries downwards, the keys to the right.
export async function loadScores(source, {first = 0, count, chosen}, drawing, signal) {
    const [turns, places] = await Promise.all([
        loadTurns(source, source.settings, source, signal),
        loadPlaces(source, signal),
    ]);
    const {rows: n} = turns;
    const weights = weightsOf(drawing, turns.count);
    const rows = chosen?.length ?? count;
    const numbers = chosen ? (i) => chosen[i] : (i) => first + i;
    const data = new Float32Array(rows * n);
    for (let i = 0; i < rows; i++) data.set(scoresOf(turns, weights, numbers(i)), i * n);
    return source.with({
        source,
        places,
        differences: differencesBetween(places.at, n),
        numbers,
        data,
        rows,
        columns: n,
        totalRows: n,
        firstRow: first,
        dtype: 'f32',
        tensor: {...source.tensor, name: scoreName(source), shape: [n, n]},
        address: addressOf(source.settings, {tensor: turns.query[0].tensor.name}),
        ...axesOfScores(source, places, numbers),
    });
}

// The matrix of how far apart the places of the same rows are.
export function distancesOfPlaces(scores) {
    const {rows, columns, numbers, places} = scores;
    const data = Float64Array.from({length: rows * columns}, (_, index) => {
        const [i, j] = [numbers(Math.floor(index / columns)), index % columns];
        return Math.hypot(...places.at.map((at) => at(i) - at(j)));
    });
    const name = places.at.length > 1 ? 'distance in the grid' : 'distance';
    return scores.with({
        data,
        tensor: {...scores.tensor, name},
    });
}

// The two axes of a grid that are longest, in their order.
const longestAxes = ({reach}) =>
    reach
        .map((length, axis) => ({length, axis}))
        .sort((a, b) => b.length - a.length || b.axis - a.axis)
        .slice(0, 2)
        .map(({axis}) => axis)
        .sort((a, b) => a - b);

// The rows at the corners of a grid: they have all differences that there are.
export function cornersOf({at}, n) {
    const corners = at.reduce(
        (signs) => signs.flatMap((each) => [1, -1].map((sign) => [...each, sign])),
        [[]],
    );
    return corners.map((signs) => {
        const height = (i) => signs.reduce((sum, sign, axis) => sum + sign * at[axis](i), 0);
        let best = 0;
        for (let i = 1; i < n; i++) if (height(i) > height(best)) best = i;
        return best;
    });
}

// The scores of a grid by its two distances, query minus key; those along other axes are 0.
export function mapOfDistances(scores) {
    const {rows, columns, numbers, places, differences} = scores;
    if (!differences) return null;
    const axes = longestAxes(differences),
        [first, second] = axes;
    const placeOf = (axis, i, j) => differences.of(axis, i, j) + differences.reach[axis];
    const [high, wide] = axes.map((axis) => 2 * differences.reach[axis] + 1);
    if (high * wide > WINDOW_ELEMENTS) return null;
    const others = differences.reach
        .map((_, axis) => axis)
        .filter((each) => !axes.includes(each));
    const data = new Float64Array(high * wide).fill(NaN);
    for (let row = 0; row < rows; row++)
        for (let j = 0, i = numbers(row); j < columns; j++) {
            if (others.some((axis) => differences.of(axis, i, j) !== 0)) continue;
            data[placeOf(first, i, j) * wide + placeOf(second, i, j)] = scores.value(row, j);
        }
    const axisOf = (axis) => ({
        axis: 'distances',
        title: `distance along ${places.names[axis]}`,
        explained: `distance along ${places.names[axis]}, query minus key`,
        at: (i) =>
            Number(((i - differences.reach[axis]) * differences.unit[axis]).toPrecision(6)),
    });
    return scores.with({
        scores,
        data,
        rows: high,
        columns: wide,
        totalRows: high,
        row: axisOf(first),
        column: axisOf(second),
    });
}

// ---- similarities of rows ----

// Some rows of the matrix of a table: {metric, first, count}, or {metric, chosen: [row
// numbers]}. `source` is the table whose rows are compared, `numbers(i)` the row number of row
// i.
export async function loadSimilarity(source, {metric, first = 0, count, chosen}, signal) {
    const {
        scheme,
        settings,
        totalRows: n,
        tensor: {
            axes: [axis],
        },
    } = source;
    const rows = chosen?.length ?? count;
    const parameters = {...settings.parameters, metric, ...(chosen && {rows: chosen.join()})};
    const tensor = {
        name: 'similarity',
        dtype: source.dtype,
        shape: [chosen ? rows : n, n],
        axes: [axis, axis],
        primary: true,
    };
    const asked = {collection: 'similarity', scheme: scheme.name, parameters};
    const {data, ...reply} = await elements(asked, tensor, chosen ? 0 : first * n, rows * n, {
        signal,
    });
    const at = positionsOf(source),
        [{title, explained}] = source.coordinates;
    const numbers = chosen ? (i) => chosen[i] : (i) => first + i;
    return source.with({
        source,
        numbers,
        differences: isLine(source.tensor, scheme) ? differencesBetween([at], n) : null,
        data,
        rows,
        columns: n,
        totalRows: n,
        firstRow: first,
        dtype: tensor.dtype,
        reply,
        settings: asked,
        available: [tensor],
        tensor: {...tensor, name: METRICS[metric]},
        address: addressOf(asked),
        row: {axis, title, explained, at: (i) => at(numbers(i))},
        column: {axis, title, explained, at},
    });
}

// An address in which long lists are shortened.
const brieflyOf = (address) => address.replace(/(=[^&]{60})[^&]*(,[^&]{20})/, '$1…$2');

// Load what a view needs and then draw it below its controls. `draw(element, loaded)` may
// return a function to be called at the end, as render may.
export function present(container, {signal, until}, controls, load, draw) {
    const news = h('p', {class: 'similarity-news', role: 'status'});
    const place = h('div', {});
    const addresses = h('div', {});
    let dispose = null;
    container.append(
        h('div', {class: 'buttons'}, ...controls.filter(Boolean)),
        news,
        place,
        addresses,
    );
    const patience = setTimeout(() => {
        news.textContent = 'Comparing positions …';
    }, 80);
    until(
        load()
            .then((loaded) => {
                if (signal.aborted) return;
                news.textContent = '';
                dispose = draw(place, loaded, news);
                addresses.append(
                    ...loaded
                        .flat()
                        .map(({address, reply}) =>
                            h(
                                'p',
                                {class: 'reply'},
                                h('code', {}, `GET ${brieflyOf(address)}`),
                                ` cache ${reply.cache}`,
                            ),
                        ),
                );
            })
            .catch((error) => {
                if (signal.aborted || error.name === 'AbortError') return;
                if (error.status === undefined) console.error(error);
                news.textContent = error.message;
                news.classList.add('failed');
            })
            .finally(() => clearTimeout(patience)),
    );
    return () => dispose?.();
}
