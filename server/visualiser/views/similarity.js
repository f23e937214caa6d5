// Every position with every other: the matrix of a metric, as a heatmap. Long tables show a
// window of its rows. Of vectors that turn it is their scores; on a grid these stand by the two
// distances along its axes.
import {optionField, pager} from '../controls.js';
import {differenceOf, refusalOf} from '../difference.js';
import {mapNote, similarityNote} from '../notes.js';
import {drawingControls, drawingOf, isGrid} from '../rotated.js';
import {titlesOf} from '../schema.js';
import {
    METRICS,
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

const windowPager = ({first, count, n}, {options, update}) =>
    pager({
        id: 'similarity-row',
        title: 'Window of the matrix',
        label: 'rows of the matrix from',
        first,
        count,
        total: n,
        asked: options[OPTION],
        go: (to) => update({[OPTION]: String(to || ''), zoom: ''}),
    });

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
    const {options, signal} = context;
    const {having, note} = comparable(context.tables);
    const turned = rotationIn(having[0]),
        grid = turned && isGrid(having[0].scheme);
    const drawing = turned && drawingOf(context, having);
    const metric = turned
        ? null
        : optionField(
              context,
              'similarity.metric',
              'metric',
              Object.entries(METRICS),
              standardOf(having),
          );
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
            ? [
                  ...drawingControls(drawing, context),
                  grid ? null : windowPager(longest, context),
              ]
            : [metric.field, windowPager(longest, context)],
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

export default {
    name: 'similarity',
    title: 'Similarity',
    options: ['metric', 'row'],
    applies: hasSimilarity,
    render,
};
