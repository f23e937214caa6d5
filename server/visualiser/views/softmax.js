// What biases of the attention scores do to one query: their softmax over the keys, a line for
// each head.
import {drawLoaded, insteadOf, listField, scrolled, tableOf} from '../controls.js';
import {isDistances} from '../axes.js';
import {createChart, indexOf, legendOf, linkCharts, reachOf, titled} from '../charts.js';
import {h} from '../dom.js';
import {parseList} from '../lists.js';
import {softmaxNote} from '../notes.js';
import {brief, clamp, sixDigits} from '../numbers.js';
import {givenOf} from '../planes.js';
import {coordinatesOf, isBias} from '../schema.js';
import {markRules, sideName} from './waves.js';

const USUAL = 8; // heads that are shown unless others are asked for
const AROUND = 210; // pixels that controls, legend and numbers take of the height
const MOST = 0.9; // of the attention
const LOW = 300,
    HIGH = 520;

// Whether a tensor has a bias for each head, and each query and key or each distance between
// them.
function hasLine({name, axes}, scheme) {
    if (!isBias(scheme, name) || axes[0] !== 'heads') return false;
    return axes.length === 3
        ? axes[1] === 'queries' && axes[2] === 'keys'
        : axes.length === 2 && isDistances(axes[1]);
}

// Weights of the keys from biases of their scores; a key with the bias -∞ has none. NaN if no
// key has a finite bias.
function softmax(biases) {
    const most = biases.reduce((one, other) => Math.max(one, other), -Infinity);
    const sizes = Float64Array.from(biases, (each) => Math.exp(each - most));
    const sum = sizes.reduce((one, other) => one + other, 0);
    return sizes.map((each) => each / sum);
}

// {queries, keys, at(query): its position} of a tensor.
function extentsOf({tensor: {shape}, effective}) {
    const at = coordinatesOf('queries', effective);
    if (shape.length === 3) return {queries: shape[1], keys: shape[2], at};
    const keys = Number(effective.length),
        queries = Number(effective.query_length ?? keys);
    return {queries, keys, at};
}

// {keys: positions of the keys, biases} of one head and query.
async function biasesOf(table, head, query, load) {
    const {tensor, coordinates} = table,
        {keys, at} = extentsOf(table);
    const part = {tensor: tensor.name, rows: 1, waves: false};
    const all = Array.from({length: keys}, (_, key) => key);
    if (tensor.shape.length === 3)
        return {
            keys: all,
            biases: (await load({...part, slice: String(head), row: query})).data,
        };
    const {data} = await load({...part, row: head});
    const columns = new Map(
        Array.from(data, (_, column) => [coordinates[1].at(column), column]),
    );
    return {
        keys: all,
        biases: Float64Array.from(all, (key) => data[columns.get(key - at(query))] ?? NaN),
    };
}

const isMasked = (bias) => bias === -Infinity;

// The share of the attention on keys that are less than n positions away, over n.
function withinOf(keys, weights, position) {
    const byDistance = new Map();
    keys.forEach((key, i) => {
        const n = Math.abs(key - position) + 1;
        byDistance.set(n, (byDistance.get(n) ?? 0) + weights[i]);
    });
    const counts = [...byDistance.keys()].sort((a, b) => a - b);
    let sum = 0;
    const shares = counts.map((n) => (sum += byDistance.get(n)));
    return {length: counts.length, x: (i) => counts[i], y: (i) => shares[i], shares, counts};
}

// A head's line: {name, length, x, y, biases, weights, reach: mean distance of the keys, half:
// how many keys have half of the attention}.
function lineOf({keys, biases}, position) {
    const weights = softmax(biases);
    const reach = weights.reduce(
        (sum, weight, i) => sum + weight * Math.abs(keys[i] - position),
        0,
    );
    let half = 0,
        sum = 0;
    for (const weight of [...weights].sort((a, b) => b - a)) {
        if (!(sum < 0.5)) break;
        sum += weight;
        half++;
    }
    return {
        keys,
        within: withinOf(keys, weights, position),
        length: keys.length,
        x: (i) => keys[i],
        y: (i) => (isMasked(biases[i]) ? NaN : weights[i]),
        biases,
        weights,
        reach,
        half,
    };
}

// ---- controls ----

function rowOf({queries, at}, text) {
    const row = Math.round(Number(text) - at(0));
    return text != null && text !== '' && Number.isFinite(row)
        ? clamp(row, 0, queries - 1)
        : queries - 1;
}

function queryControls(extents, row, asked, move) {
    const {queries, at} = extents;
    const told = insteadOf(asked, at(row), 'softmax-query') || '';
    const entry = h('input', {
        type: 'number',
        id: 'softmax-query',
        min: at(0),
        max: at(queries - 1),
        value: at(row),
        onchange: () => move(rowOf(extents, entry.value), false),
    });
    const slider = h('input', {
        type: 'range',
        id: 'softmax-slider',
        min: 0,
        max: queries - 1,
        value: row,
        'aria-label': 'query',
        'aria-valuetext': `query ${at(row)}`,
        oninput: () => move(Number(slider.value), true),
    });
    return {
        element: h(
            'span',
            {class: 'softmax-query'},
            h('label', {}, 'query ', entry),
            slider,
            told,
        ),
        show(to) {
            if (told && Number(entry.value) !== at(to)) told.remove();
            entry.value = at(to);
            slider.value = to;
            slider.setAttribute('aria-valuetext', `query ${at(to)}`);
        },
    };
}

// ---- the picture ----

// Heads from the first to the last, `most` of them.
const headsOf = (count, most) =>
    Array.from({length: Math.min(count, most)}, (_, i) =>
        count <= most ? i : Math.round((i * (count - 1)) / (most - 1)),
    );

function numbersOf(lines, grid) {
    const some = lines.some(({given}) => given);
    const row = ({name, given, weights, keys, reach, half, within}) => {
        const best = weights.reduce((one, each, i) => (each > weights[one] ? i : one), 0);
        const share = within.shares.findIndex((each) => each >= MOST);
        return [
            name,
            ...(some ? [given] : []),
            `${sixDigits(weights[best])} at ${keys[best]}`,
            ...(grid ? [] : [sixDigits(reach)]),
            half,
            ...(grid ? [] : [within.counts[share] ?? '']),
        ];
    };
    const heads = [
        'head',
        ...(some ? ['its bias'] : []),
        'greatest weight, at key',
        ...(grid ? [] : ['mean distance of keys']),
        'keys with half of the attention',
        ...(grid ? [] : ['90 % within so many positions']),
    ];
    return tableOf(heads, lines.map(row));
}

// The elements that are filled for each query.
function createPlaces() {
    const frame = scrolled('Numbers of these heads');
    return {
        note: softmaxNote([]),
        frame,
        body: h('div', {class: 'softmax-body'}, h('p', {class: 'quiet'}, 'Loading …')),
        numbers: h('details', {}, h('summary', {}, 'Numbers of these heads'), frame),
    };
}

function describe(key, lines) {
    return [
        `key ${key}`,
        ...lines
            .map((line) => {
                const i = indexOf(line, key);
                return i < 0
                    ? null
                    : `${line.name} ` +
                          `${isMasked(line.biases[i]) ? 'masked' : sixDigits(line.weights[i])}`;
            })
            .filter(Boolean),
    ].join(' · ');
}

const describeShare = (n, far) =>
    [
        `within ${n}`,
        ...far.map(({name, counts, shares}) => {
            const last = counts.findLastIndex((each) => each <= n);
            return `${name} ${last < 0 ? 0 : sixDigits(shares[last])}`;
        }),
    ].join(' · ');

// How much of the attention lies within n positions, drawn over n.
function drawShares(lines, position, {colours, hover, signal, width}) {
    const far = lines.map(({within, ...line}) => ({...line, ...within}));
    const farChart = createChart({
        series: far,
        x: {
            title: 'n',
            type: 'log',
            domain: [1, Math.max(10, ...far.map(({counts}) => counts.at(-1)))],
        },
        y: {title: 'share', domain: [0, 1]},
        colours,
        width,
        height: LOW,
        rules: [{y: MOST, text: '90 %'}],
        label:
            `Share of the attention of query ${position} on keys less than n positions ` +
            'away, n on a logarithmic axis. Arrow keys move the cursor.',
    });
    linkCharts([farChart], {
        signal,
        tell: (n) => hover(n == null ? '' : describeShare(n, far)),
    });
    return titled('How far it sees: the share of the attention within n positions', farChart);
}

function show(places, lines, position, context) {
    const {colours, hover, mark, signal, tables, width, height} = context;
    const grid = tables.some(({effective}) => effective.height != null);
    const x = {title: 'key', domain: reachOf(lines, 'x')};
    const most = reachOf(lines)[1];
    const chart = createChart({
        series: lines,
        x,
        y: {title: 'weight', domain: [0, 1.04 * most]},
        colours,
        width,
        height: clamp(height - AROUND, LOW, HIGH),
        rules: [
            {x: position, text: `query ${position}`, colour: colours.quiet},
            ...markRules(mark, {axis: 'queries'}),
        ],
        label:
            `Softmax of the biases of query ${position} over keys ` +
            `${x.domain.map(brief).join(' to ')}, for ` +
            `${lines.map(({name}) => name).join(', ')}: weights up to ${brief(most)}. Arrow ` +
            'keys move the cursor.',
    });
    // on a grid the numbers of places are no distances
    const note = softmaxNote(grid ? [] : lines, position);
    places.note.replaceWith(note);
    places.note = note;
    places.body.replaceChildren(
        legendOf(
            lines.map((line) => ({
                ...line,
                name: [line.name, line.given].filter(Boolean).join(' · '),
            })),
        ),
        titled('', chart),
        ...(grid ? [] : [drawShares(lines, position, context)]),
    );
    places.frame.replaceChildren(numbersOf(lines, grid));
    linkCharts([chart], {
        signal,
        tell: (key) => hover(key == null ? '' : describe(key, lines)),
    });
}

async function loadLines(usable, heads, row, {tables, load, colours: {apart}}) {
    const lines = await Promise.all(
        usable.map(async (table) => {
            const side = tables.indexOf(table),
                extents = extentsOf(table);
            const loadSide = (options) => load(side, options);
            const given = await givenOf(table, {lead: 0}, loadSide);
            const mine = heads.filter((head) => head < table.tensor.shape[0]),
                query = Math.min(row, extents.queries - 1);
            return Promise.all(
                mine.map(async (head, i) => {
                    const found = await biasesOf(table, head, query, loadSide);
                    return {
                        ...lineOf(found, extents.at(query)),
                        name: `${sideName(tables, side)}head ${head}`,
                        given: given(head),
                        colour: apart[i % apart.length],
                        dashed: side === 1 || i >= apart.length,
                    };
                }),
            );
        }),
    );
    return lines.flat();
}

function render(container, context) {
    const {tables, options, update, colours, signal} = context;
    const usable = tables.filter(({tensor, scheme}) => hasLine(tensor, scheme));
    const extents = extentsOf(usable[0]);
    const count = Math.max(...usable.map(({tensor}) => tensor.shape[0]));
    const given = parseList(
        options['softmax.heads'] ?? '',
        (each) => Number.isInteger(each) && each >= 0 && each < count,
        `heads go from 0 to ${count - 1}`,
    );
    // a dashed line is a head of B, or has a colour for the second time: not both at once
    const most = usable.length > 1 ? colours.apart.length : USUAL;
    const heads = given.numbers.length > 0 ? given.numbers : headsOf(count, most);
    const places = createPlaces();
    let row = rowOf(extents, options['softmax.query']);

    async function draw() {
        const wanted = row;
        const lines = await loadLines(usable, heads, wanted, context);
        if (signal.aborted || wanted !== row) return;
        controls.show(row);
        show(places, lines, extents.at(row), context);
    }
    const controls = queryControls(extents, row, options['softmax.query'], (to, sliding) => {
        row = to;
        update(
            {'softmax.query': row === extents.queries - 1 ? '' : String(extents.at(row))},
            {quiet: sliding},
        );
        if (sliding) drawLoaded(context, places.body, draw(), () => {});
    });
    container.append(
        places.note,
        h(
            'div',
            {class: 'buttons'},
            controls.element,
            count > 1
                ? listField({
                      id: 'softmax-heads',
                      label: 'heads',
                      value: options['softmax.heads'] || heads.join(', '),
                      mistake: given.mistake,
                      changed: (text) =>
                          update({'softmax.heads': text.replace(/[\s,;]+/g, ',')}),
                  })
                : null,
        ),
        ...(usable.length < tables.length
            ? [h('p', {class: 'quiet'}, 'B has no biases of attention scores.')]
            : []),
        places.body,
        places.numbers,
    );
    drawLoaded(context, places.body, draw(), () => {});
}

export default {
    name: 'softmax',
    title: 'Softmax',
    options: ['heads', 'query'],
    tools: ['mark'],
    applies: hasLine,
    charts: true,
    render,
};
