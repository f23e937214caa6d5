// Every position with every other: the matrix of a metric, as a heatmap. Long tables show a
// window of its rows. Of vectors that turn it is their scores; on a grid these stand by the two
// distances along its axes.
import {differenceOf, refusalOf} from '../difference.js';
import {h} from '../dom.js';
import {mapNote, similarityNote} from '../notes.js';
import {drawingControls, drawingOf, isGrid} from '../rotated.js';
import {titlesOf} from '../schema.js';
import {
    METRICS,
    chooser,
    comparable,
    cornersOf,
    hasSimilarity,
    loadScores,
    loadSimilarity,
    mapOfDistances,
    present,
    rotationIn,
    rowsAtOnce,
} from '../similarity.js';
import heatmap from './heatmap.js';

const OPTION = 'similarity.row';

// The rows of the address's window that fit.
function windowOf(table, text) {
    const n = table.totalRows,
        count = rowsAtOnce(table);
    const first = Math.max(0, Math.min(Math.trunc(Number(text)) || 0, n - count));
    return {first, count, n};
}

function pager({first, count, n}, update) {
    if (count === n) return null;
    const go = (to) =>
        update({[OPTION]: String(Math.max(0, Math.min(to, n - count)) || ''), zoom: ''});
    const input = h('input', {
        id: 'similarity-row',
        type: 'number',
        min: 0,
        max: n - count,
        value: first,
        onchange: () => go(Math.trunc(Number(input.value)) || 0),
    });
    return h(
        'span',
        {class: 'window', role: 'group', 'aria-label': 'Window of the matrix'},
        h('label', {}, 'rows of the matrix from ', input),
        ` to ${first + count - 1} of ${n} `,
        h(
            'button',
            {
                type: 'button',
                id: 'similarity-back',
                disabled: first === 0,
                onclick: () => go(first - count),
            },
            'Back',
        ),
        h(
            'button',
            {
                type: 'button',
                id: 'similarity-on',
                disabled: first + count >= n,
                onclick: () => go(first + count),
            },
            'On',
        ),
    );
}

// Numbers of one column all point the same way.
const standardOf = ([{tensor}]) => (tensor.shape[1] > 1 ? 'cosine' : 'l2');

// Scores of the queries that are computed at once, on a grid those at its corners first.
async function loadMap(table, drawing, signal) {
    const n = table.totalRows,
        count = rowsAtOnce(table);
    if (count === n) return loadScores(table, {count: n}, drawing, signal);
    const {places} = await loadScores(table, {count: 1}, drawing, signal);
    const spread = Array.from({length: count}, (_, i) => Math.floor((i * n) / count));
    const chosen = [...new Set([...cornersOf(places, n), ...spread])];
    return loadScores(table, {chosen}, drawing, signal);
}

function render(container, context) {
    const {options, update, signal} = context;
    const {having, note} = comparable(context.tables);
    const turned = rotationIn(having[0]),
        grid = turned && isGrid(having[0].scheme);
    const drawing = turned && drawingOf(context, having);
    const metric = turned
        ? null
        : chooser(context, 'similarity.metric', 'metric', METRICS, standardOf(having));
    const windows = having.map((table) => windowOf(table, options[OPTION]));
    const longest = windows.reduce((one, other) => (other.n > one.n ? other : one));
    const loadOne = (table, i) =>
        grid
            ? loadMap(table, drawing, signal)
            : turned
              ? loadScores(table, windows[i], drawing, signal)
              : loadSimilarity(table, {metric: metric.value, ...windows[i]}, signal);
    return present(
        container,
        context,
        turned
            ? [...drawingControls(drawing, context), grid ? null : pager(longest, update)]
            : [metric.element, pager(longest, update)],
        () => Promise.all(having.map(loadOne)),
        (place, loaded, news) => {
            const tables = grid ? loaded.map(mapOfDistances) : loaded;
            if (tables.includes(null)) {
                news.textContent =
                    'The cells of this grid are not a whole number of steps apart.';
                return null;
            }
            const [left, right] = tables;
            const refusal = right ? refusalOf(left, right) : '';
            news.textContent = note;
            if (!turned) context.taken(tables);
            return heatmap.render(place, {
                ...context,
                linked: false,
                tables,
                refusal,
                note: grid
                    ? mapNote(tables, context.tables, drawing)
                    : similarityNote(tables, context.tables, {
                          metric: METRICS[metric?.value],
                          drawing,
                      }),
                difference: right && !refusal ? differenceOf(left, right) : null,
                titles: right && titlesOf(having),
            });
        },
    );
}

export default {name: 'similarity', title: 'Similarity', applies: hasSimilarity, render};
