// Every position with every other: the matrix of a metric, as a heatmap. Long tables show a
// window of its rows.
import {WINDOW_ELEMENTS} from '../api.js';
import {differenceOf, refusalOf} from '../difference.js';
import {h} from '../dom.js';
import {
    METRICS,
    chooser,
    comparable,
    hasSimilarity,
    loadSimilarity,
    present,
    titlesOf,
} from '../similarity.js';
import {similarityNote} from '../notes.js';
import heatmap from './heatmap.js';

const OPTION = 'similarity.row';

// The rows of the address's window that fit.
function windowOf({totalRows: n}, text) {
    const count = Math.min(n, Math.max(1, Math.floor(WINDOW_ELEMENTS / n)));
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

function render(container, context) {
    const {options, update, signal} = context;
    const {having, note} = comparable(context.tables);
    const metric = chooser(context, 'similarity.metric', 'metric', METRICS, 'cosine');
    const windows = having.map((table) => windowOf(table, options[OPTION]));
    const longest = windows.reduce((one, other) => (other.n > one.n ? other : one));
    const load = () =>
        Promise.all(
            having.map((table, i) =>
                loadSimilarity(table, {metric: metric.value, ...windows[i]}, signal),
            ),
        );
    return present(
        container,
        context,
        [metric.element, pager(longest, update)],
        load,
        (place, tables, news) => {
            const [left, right] = tables;
            const refusal = right ? refusalOf(left, right) : '';
            news.textContent = note;
            context.taken(tables);
            return heatmap.render(place, {
                ...context,
                linked: false,
                tables,
                refusal,
                note: similarityNote(tables, METRICS[metric.value]),
                difference: right && !refusal ? differenceOf(left, right) : null,
                titles: right && titlesOf(having),
            });
        },
    );
}

export default {name: 'similarity', title: 'Similarity', applies: hasSimilarity, render};
