// A line for each head against the distance from query to key.
import {nameMarks, pointsOf} from '../charts.js';
import {h} from '../dom.js';
import {brief} from '../numbers.js';

const DASHES = ['', '6 3', '2 2'];
const HEIGHT = 270;
const TOP = 26,
    BOTTOM = 44;

// The x of a column of a set: its distance, for keys from the query of the row.
const distanceAt = ({row: axis, column}, row) =>
    axis ? (i) => column.at(i) - axis.at(row) : column.at;

// All lines of a page differ in colour or dashes.
function styleOf({apart}, order) {
    return {
        stroke: apart[order % apart.length],
        strokeDasharray: DASHES[Math.floor(order / apart.length) % DASHES.length],
    };
}

function chartOf(set, row, domains, {indices, colours, width, mark}) {
    const shown = indices.filter((index) => set.planes.has(index));
    const marks =
        mark == null ? [] : [-mark, mark].filter((x) => x > domains.x[0] && x < domains.x[1]);
    const {line, plot, ruleX, ruleY} = globalThis.posencPlot;
    const chart = plot({
        width,
        height: HEIGHT,
        marginLeft: 64,
        marginTop: TOP,
        marginBottom: BOTTOM,
        style: {color: colours.quiet, fontSize: '12px'},
        x: {
            domain: domains.x,
            label: set.row
                ? 'distance, key minus query'
                : (set.column.explained ?? set.column.title),
            labelOffset: BOTTOM - 8,
            tickFormat: brief,
            ticks: Math.max(3, width / 90),
        },
        y: {
            domain: domains.y,
            label: set.difference ? 'A − B' : 'value',
            grid: true,
            tickFormat: brief,
        },
        ariaLabel:
            `${set.heading || 'values'}: ${shown.length} lines, one for each ` +
            `${set.title}, against the distance, from ${brief(set.extent[0])} to ` +
            `${brief(set.extent[1])}`,
        marks: [
            ruleY([0], {stroke: colours.grid}),
            ruleX(marks, {stroke: colours.mark, strokeWidth: 1.5}),
            ...shown.map((index) =>
                line(
                    pointsOf(
                        {
                            length: set.columns,
                            x: distanceAt(set, row),
                            y: (column) => set.value(index, row, column),
                        },
                        width,
                    ),
                    {...styleOf(colours, indices.indexOf(index)), strokeWidth: 1.6},
                ),
            ),
        ],
    });
    return nameMarks(chart);
}

function svg(name, attributes) {
    const element = document.createElementNS('http://www.w3.org/2000/svg', name);
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
    return element;
}

function legendOf({sets: [set], indices, colours}) {
    return h(
        'p',
        {class: 'heads-legend'},
        ...indices.map((index, order) => {
            const {stroke, strokeDasharray} = styleOf(colours, order);
            const swatch = svg('svg', {width: 26, height: 8, 'aria-hidden': 'true'});
            swatch.append(
                svg('line', {
                    x1: 0,
                    x2: 26,
                    y1: 4,
                    y2: 4,
                    stroke,
                    'stroke-width': 2.5,
                    'stroke-dasharray': strokeDasharray,
                }),
            );
            return h('span', {class: 'heads-key'}, swatch, `${set.title} ${set.label(index)}`);
        }),
    );
}

// All charts of values have the same axes, unless A and B stand apart.
function domainsOf(one, {sets: all, apart}, row) {
    const sets = apart ? [one] : all;
    const chosen = sets.filter((set) => Boolean(set.difference) === Boolean(one.difference));
    const y = [
        Math.min(0, ...chosen.map(({extent}) => extent[0])),
        Math.max(0, ...chosen.map(({extent}) => extent[1])),
    ];
    const ends = sets.flatMap((set) => {
        const at = distanceAt(set, row(set));
        return [at(0), at(set.columns - 1)];
    });
    const x = [Math.min(...ends), Math.max(...ends)];
    return {x: x[0] < x[1] ? x : [x[0] - 0.5, x[1] + 0.5], y: y[0] < y[1] ? y : [-1, 1]};
}

function queryChooser({sets: [set], row, chooseRow}) {
    if (!set.row) return null;
    const input = h('input', {
        type: 'number',
        min: 0,
        max: set.rows - 1,
        value: row,
        onchange: () =>
            chooseRow(
                Math.max(0, Math.min(Math.trunc(Number(input.value)) || 0, set.rows - 1)),
            ),
    });
    return h(
        'label',
        {class: 'heads-query'},
        `at ${set.row.title} row (of ${set.rows}) `,
        input,
    );
}

// A line under the pointer, in all charts at the same column.
function connect(charts, {sets, indices, point, signal, colours, row}) {
    const rules = charts.map(({chart}) => {
        const rule = svg('line', {
            y1: TOP,
            y2: HEIGHT - BOTTOM,
            stroke: colours.ink,
            visibility: 'hidden',
        });
        chart.append(rule);
        return rule;
    });
    let column = -1;
    function move(to, set) {
        column = Math.max(0, Math.min(to, Math.max(...sets.map(({columns}) => columns)) - 1));
        charts.forEach((each, i) => {
            const x = each.chart.scale('x').apply(distanceAt(each.set, each.row)(column));
            rules[i].setAttribute(
                'visibility',
                column < each.set.columns ? 'visible' : 'hidden',
            );
            rules[i].setAttribute('x1', x);
            rules[i].setAttribute('x2', x);
        });
        point({index: indices.find((index) => set.planes.has(index)), row, column});
    }
    for (const {chart, figure, set, row: own} of charts) {
        const at = distanceAt(set, own);
        const MOVES = {
            ArrowLeft: () => column - 1,
            ArrowRight: () => column + 1,
            PageUp: () => column - 16,
            PageDown: () => column + 16,
            Home: () => 0,
            End: () => set.columns - 1,
        };
        figure.addEventListener(
            'pointermove',
            ({clientX}) => {
                const box = chart.getBoundingClientRect();
                const x = chart
                    .scale('x')
                    .invert(((clientX - box.left) / box.width) * chart.viewBox.baseVal.width);
                let best = 0;
                for (let i = 1; i < set.columns; i++)
                    if (Math.abs(at(i) - x) < Math.abs(at(best) - x)) best = i;
                move(best, set);
            },
            {signal},
        );
        figure.addEventListener(
            'keydown',
            (event) => {
                if (event.ctrlKey || event.metaKey || event.altKey || !(event.key in MOVES))
                    return;
                event.preventDefault();
                move(
                    column < 0 && /^(Arrow|Page)/.test(event.key) ? 0 : MOVES[event.key](),
                    set,
                );
            },
            {signal},
        );
    }
}

// context: what render got, and {sets, indices, point(cell), row, chooseRow(row)}.
export function createLines(context) {
    const {sets, row} = context;
    const rowOf = (set) => Math.min(row, set.rows - 1);
    const charts = sets.map((set) => {
        const chart = chartOf(set, rowOf(set), domainsOf(set, context, rowOf), context);
        const figure = h(
            'figure',
            {
                class: 'heads-chart',
                tabindex: 0,
                role: 'application',
                'aria-roledescription': 'chart',
                'aria-label':
                    `${chart.getAttribute('aria-label')}. Left and right move ` +
                    'along the distances.',
            },
            chart,
        );
        return {
            set,
            chart,
            figure,
            row: rowOf(set),
            element: h(
                'section',
                {class: 'heads-block'},
                set.heading ? h('h3', {}, set.heading) : null,
                figure,
            ),
        };
    });
    connect(charts, context);
    return h(
        'div',
        {},
        queryChooser(context),
        legendOf(context),
        ...charts.map(({element}) => element),
    );
}
