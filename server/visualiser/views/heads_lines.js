// A line for each head against the distance from query to key.
import {numberField} from '../controls.js';
import {createChart, legendOf, linkCharts, titled} from '../charts.js';
import {h} from '../dom.js';
import {brief} from '../numbers.js';
import {markRules, orderOf, rowAt} from './waves.js';

const DASHES = [false, true, '2 2'];
const HEIGHT = 270;

// The columns of a set by their distances, for keys from the query of the row.
const orderIn = ({row: axis, column, columns}, row) =>
    orderOf({
        rows: columns,
        row: {at: axis ? (i) => column.at(i) - axis.at(row) : column.at},
    });

// All lines of a page differ in colour or dashes.
const styleOf = ({apart}, order) => ({
    colour: apart[order % apart.length],
    dashed: DASHES[Math.floor(order / apart.length) % DASHES.length],
});

// All charts of values have the same axes, unless A and B stand apart.
function domainsOf(one, charts, apart) {
    const shared = apart ? [one] : charts;
    const alike = shared.filter(
        ({set}) => Boolean(set.difference) === Boolean(one.set.difference),
    );
    const y = [
        Math.min(0, ...alike.map(({set}) => set.extent[0])),
        Math.max(0, ...alike.map(({set}) => set.extent[1])),
    ];
    const ends = shared.flatMap(({order: {x, length}}) => [x(0), x(length - 1)]);
    const x = [Math.min(...ends), Math.max(...ends)];
    return {x: x[0] < x[1] ? x : [x[0] - 0.5, x[1] + 0.5], y: y[0] < y[1] ? y : [-1, 1]};
}

function chartOf({set, order, row}, {x, y}, {indices, colours, width, mark}) {
    const shown = indices.filter((index) => set.planes.has(index));
    const series = shown.map((index) => ({
        ...order,
        ...styleOf(colours, indices.indexOf(index)),
        y: (i) => set.value(index, row, order.row(i)),
    }));
    const rules = markRules(mark, {axis: 'n'});
    return createChart({
        series,
        x: {
            title: set.row
                ? 'distance, key minus query'
                : (set.column.explained ?? set.column.title),
            domain: x,
        },
        y: {title: set.difference ? 'A − B' : 'value', domain: y},
        rules: [...rules, ...rules.map((rule) => ({x: -rule.x, text: ''}))],
        colours,
        width,
        height: HEIGHT,
        label:
            `${set.heading || 'values'}: ${shown.length} lines, one for each ` +
            `${set.title}, against the distance, from ${set.extent.map(brief).join(' to ')}. ` +
            'Arrow keys move the cursor.',
    });
}

const queryChooser = ({sets: [set], options, row, chooseRow}) =>
    set.row &&
    numberField({
        id: 'heads-query',
        label: `at ${set.row.title} row (of ${set.rows})`,
        max: set.rows - 1,
        value: row,
        asked: options['heads.query'],
        changed: chooseRow,
    });

// context: what render got, and {sets, indices, point(cell), row, chooseRow(row)}.
export function createLines(context) {
    const {sets, indices, apart, colours, point, signal} = context;
    const placed = sets.map((set) => {
        const row = Math.min(context.row, set.rows - 1);
        return {set, row, order: orderIn(set, row)};
    });
    const charts = placed.map((one) => chartOf(one, domainsOf(one, placed, apart), context));
    function tell(at) {
        const there = placed.find(({order}) => rowAt(order, at) >= 0);
        if (!there) return;
        const {set, row, order} = there;
        point({
            index: indices.find((index) => set.planes.has(index)),
            row,
            column: rowAt(order, at),
        });
    }
    linkCharts(charts, {signal, tell: (at) => (at == null ? point(null) : tell(at))});
    const [{title, label}] = sets;
    return h(
        'div',
        {},
        queryChooser(context),
        legendOf(
            indices.map((index, order) => ({
                name: `${title} ${label(index)}`,
                ...styleOf(colours, order),
            })),
        ),
        ...charts.map((chart, i) => titled(sets[i].heading, chart)),
    );
}
