// Curves of chosen positions: how far, or how alike, each other position is.
import {heightOf} from '../arrangement.js';
import {ticksFor} from '../charts.js';
import {h} from '../dom.js';
import {choiceField, pluralOf} from '../lists.js';
import {distancesNote} from '../notes.js';
import {brief, shortest} from '../numbers.js';
import {drawingControls, drawingOf} from '../rotated.js';
import {
    METRICS,
    chooser,
    comparable,
    hasSimilarity,
    isLine,
    loadScores,
    loadSimilarity,
    positionsOf,
    present,
    rotationIn,
    rowsAtOnce,
    scoreName,
} from '../similarity.js';

const OPTION = 'distances.positions';
const SCALES = 'distances.scales';
const CHOSEN_MAX = 7; // as many as there are colours
// longer curves are drawn by their least and greatest values in so many parts
const BUCKETS = 1024;
const MARGIN = {top: 14, right: 14, bottom: 40, left: 64};
const AROUND = 190; // pixels that the note, controls and legend take of the height

// ---- chosen positions ----

// The rows of a table in the order of their positions, and the row nearest to a position.
function orderOf(table) {
    const at = positionsOf(table);
    const positions = Float64Array.from({length: table.totalRows}, (_, row) => at(row));
    const rows = Uint32Array.from(positions.keys());
    if (positions.some((position, row) => row > 0 && position < positions[row - 1]))
        rows.sort((a, b) => positions[a] - positions[b]);
    const nearest = (position) => {
        let low = 0,
            high = rows.length - 1;
        while (low < high) {
            const middle = (low + high) >> 1;
            if (positions[rows[middle]] < position) low = middle + 1;
            else high = middle;
        }
        return low > 0 && position - positions[rows[low - 1]] <= positions[rows[low]] - position
            ? low - 1
            : low;
    };
    const rowOf = (position) => {
        const row = rows[nearest(position)];
        return positions[row] === position ? row : -1;
    };
    return {positions, rows, nearest, rowOf};
}

const standardOf = ({positions, rows}) => [
    ...new Set([0, rows.length >> 1, rows.length - 1].map((place) => positions[rows[place]])),
];

// The distinct numbers in a typed text, at most as many as allowed.
function read(text) {
    const numbers = text
        .split(/[\s,;]+/)
        .filter(Boolean)
        .map(Number)
        .filter(Number.isFinite);
    return [...new Set(numbers)].slice(0, CHOSEN_MAX);
}

// ---- drawing ----

// The points of a curve; of a long one the least and the greatest of each part.
function pointsOf({positions, rows}, value) {
    const point = (place) => ({x: positions[rows[place]], y: value(rows[place])});
    if (rows.length <= 2 * BUCKETS) return Array.from(rows, (_, place) => point(place));
    const points = [];
    for (let bucket = 0; bucket < BUCKETS; bucket++) {
        const from = Math.floor((bucket * rows.length) / BUCKETS),
            to = Math.floor(((bucket + 1) * rows.length) / BUCKETS);
        let least = from,
            most = from;
        for (let place = from; place < to; place++) {
            if (value(rows[place]) < value(rows[least])) least = place;
            if (value(rows[place]) > value(rows[most])) most = place;
        }
        points.push(...[...new Set([Math.min(least, most), Math.max(least, most)])].map(point));
    }
    return points;
}

function chartOf(curves, {title, axis, x, count, context}) {
    const {colours, width, mark} = context;
    const [from, to] = x;
    const {axisX, axisY, lineY, plot, ruleX} = globalThis.posencPlot;
    const chart = plot({
        width,
        height: heightOf(context.height, AROUND, count),
        className: 'plot-distances',
        ariaLabel: title,
        marginTop: MARGIN.top,
        marginRight: MARGIN.right,
        marginBottom: MARGIN.bottom,
        marginLeft: MARGIN.left,
        style: {color: colours.ink, background: 'transparent', fontSize: '12px'},
        x: {domain: from === to ? [from - 0.5, to + 0.5] : x},
        marks: [
            axisX({
                label: axis,
                labelAnchor: 'center',
                labelArrow: 'none',
                ticks: ticksFor(
                    width / 110,
                    x,
                    curves.map(({points}) => ({length: points.length, x: (i) => points[i].x})),
                ),
                tickFormat: brief,
            }),
            axisY({label: null, tickFormat: brief, ticks: 6}),
            ...(mark != null && mark > from && mark < to
                ? [ruleX([mark], {stroke: colours.mark, strokeWidth: 2})]
                : []),
            ...curves.map(({points, colour, dashed}) =>
                lineY(points, {
                    x: 'x',
                    y: 'y',
                    stroke: colour,
                    strokeWidth: 1.6,
                    strokeDasharray: dashed ? '5 3' : null,
                }),
            ),
            ...curves.map(({chosen, colour}) =>
                ruleX([chosen], {stroke: colour, strokeOpacity: 0.35}),
            ),
        ],
    });
    chart.setAttribute('role', 'img');
    for (const group of chart.querySelectorAll('g[aria-label]'))
        group.removeAttribute('aria-label'); // a g has no role to be named
    return chart;
}

// The vertical line under the pointer, in a chart.
function createPointer(chart, colours) {
    const line = document.createElementNS('http://www.w3.org/2000/svg', 'line');
    for (const [name, value] of Object.entries({
        y1: MARGIN.top,
        y2: chart.viewBox.baseVal.height - MARGIN.bottom,
        stroke: colours.ink,
        'pointer-events': 'none',
        visibility: 'hidden',
    }))
        line.setAttribute(name, value);
    chart.append(line);
    const scale = chart.scale('x');
    return {
        show(position) {
            line.setAttribute('visibility', position == null ? 'hidden' : 'visible');
            if (position == null) return;
            line.setAttribute('x1', scale.apply(position));
            line.setAttribute('x2', scale.apply(position));
        },
        positionAt: (event) =>
            scale.invert(
                ((event.clientX - chart.getBoundingClientRect().left) *
                    chart.viewBox.baseVal.width) /
                    chart.getBoundingClientRect().width,
            ),
    };
}

// ---- curves ----

// A curve for each chosen position that a side has: {side, chosen, at(row), text(row)}.
function curvesOf(tables, orders, chosen, colours) {
    return tables.flatMap((table, side) =>
        chosen.flatMap((position, i) => {
            const row = table ? table.indexOf(position) : -1;
            if (row < 0) return [];
            const at = (other) => table.value(row, other);
            return [
                {
                    side,
                    chosen: position,
                    at,
                    colour: colours.categorical[i],
                    dashed: side === 1,
                    text: (other) => shortest(table.dtype, at(other)),
                    points: pointsOf(orders[side], at),
                },
            ];
        }),
    );
}

// A minus B, for curves and positions that both sides have.
function differencesOf(curves, [left, right]) {
    return curves
        .filter(({side}) => side === 0)
        .flatMap((mine) => {
            const other = curves.find(({side, chosen}) => side === 1 && chosen === mine.chosen);
            if (!other) return [];
            const at = (row) => {
                const there = right.rowOf(left.positions[row]);
                return there < 0 ? NaN : mine.at(row) - other.at(there);
            };
            return [{...mine, at, points: pointsOf(left, at)}];
        });
}

function describeAt(position, curves, {orders, metric, title}) {
    const parts = curves.flatMap(({side, chosen, text}) => {
        const row = orders[side].rowOf(position);
        return row < 0
            ? []
            : [`${orders.length > 1 ? `${'AB'[side]} ` : ''}to ${chosen} ${text(row)}`];
    });
    return `${title} ${position} · ${metric} · ${parts.join(' · ')}`;
}

function legendOf({chosen, choose, orders: {length: sides}, title}, colours) {
    return h(
        'p',
        {class: 'distances-legend'},
        ...chosen.map((position, i) => {
            const swatch = h('span', {class: 'distances-swatch', 'aria-hidden': 'true'});
            swatch.style.background = colours.categorical[i];
            return h(
                'span',
                {},
                swatch,
                `${title} ${position} `,
                h(
                    'button',
                    {
                        type: 'button',
                        'aria-label': `Remove ${title} ${position}`,
                        disabled: chosen.length === 1,
                        onclick: () => choose(chosen.filter((each) => each !== position)),
                    },
                    '×',
                ),
            );
        }),
        sides > 1 ? h('span', {class: 'quiet'}, 'A solid, B dashed') : null,
    );
}

// Let pointer and keys move a line through all charts; a click or Enter chooses where it
// stands.
function connect(place, charts, order, {colours, signal}, tell, toggle) {
    const pointers = charts.map((chart) => createPointer(chart, colours));
    let at = null; // a place in the order
    const show = (to) => {
        at = to;
        const position = at == null ? null : order.positions[order.rows[at]];
        pointers.forEach((pointer) => pointer.show(position));
        tell(position);
    };
    const last = order.rows.length - 1;
    const MOVES = {
        ArrowLeft: -1,
        ArrowRight: 1,
        PageUp: -16,
        PageDown: 16,
        Home: -Infinity,
        End: Infinity,
    };
    charts.forEach((chart, i) => {
        chart.addEventListener(
            'pointermove',
            (event) => show(order.nearest(pointers[i].positionAt(event))),
            {signal},
        );
        chart.addEventListener('pointerleave', () => show(null), {signal});
        chart.addEventListener(
            'click',
            (event) =>
                toggle(
                    order.positions[order.rows[order.nearest(pointers[i].positionAt(event))]],
                ),
            {signal},
        );
    });
    place.addEventListener(
        'keydown',
        (event) => {
            if (event.ctrlKey || event.metaKey || event.altKey) return;
            if (event.key === 'Enter' && at != null) {
                toggle(order.positions[order.rows[at]]);
            } else if (event.key in MOVES) {
                event.preventDefault();
                show(
                    Math.max(
                        0,
                        Math.min((at ?? 0) + (at == null ? 0 : MOVES[event.key]), last),
                    ),
                );
            }
        },
        {signal},
    );
}

// The notes above the picture: missing curves, and how long curves are thinned out.
function newsOf(curves, {orders, chosen, note, title}) {
    const absent = chosen.filter(
        (position) => !curves.some((curve) => curve.chosen === position),
    );
    const thinned = orders.some(({rows}) => rows.length > 2 * BUCKETS);
    return [
        note,
        absent.length > 0 &&
            `No curve of ${absent.join(', ')}: the table has no such ${title}, or they are ` +
                'too many for its length.',
        thinned &&
            `Drawn by the least and greatest values of ${BUCKETS} parts; numbers below the ` +
                `picture are of the ${title} itself.`,
    ]
        .filter(Boolean)
        .join(' ');
}

// Whether each side has axes of its own: where no difference is drawn, or as asked.
const isOwn = ({options}, differences) =>
    options[SCALES] ? options[SCALES] === 'own' : differences.length === 0;
const endsOf = ({positions, rows}) => [positions[rows[0]], positions[rows.at(-1)]];

function drawCurves(place, news, drawing, context) {
    const {tables, orders, chosen, metric, toggle, title} = drawing;
    const longest = orders.reduce((one, other) =>
        other.rows.length > one.rows.length ? other : one,
    );
    const curves = curvesOf(tables, orders, chosen, context.colours);
    const differences = orders.length > 1 ? differencesOf(curves, orders) : [];
    const ends = orders.flatMap(endsOf);
    const look = {
        axis: context.tables[0].row.explained ?? title,
        x: [Math.min(...ends), Math.max(...ends)],
        context,
    };
    const about = `${metric} of ${pluralOf(title)} ${chosen.join(', ')} to every ` + title;
    const own = orders.length > 1 && isOwn(context, differences);
    const parts = own
        ? orders.map((order, side) => ({
              before: `${'AB'[side]}: `,
              drawn: curves.filter((curve) => curve.side === side),
              x: endsOf(order),
          }))
        : [{before: '', drawn: curves}];
    if (differences.length > 0) parts.push({before: 'A − B: ', drawn: differences});
    const charts = parts.map(({before, drawn, x = look.x}) =>
        chartOf(drawn, {...look, x, title: `${before}${about}`, count: parts.length}),
    );
    const element = h('div', {
        id: 'distances-charts',
        tabindex: 0,
        role: 'application',
        'aria-label': `${about}. Arrow keys move the line, Enter chooses its ${title}.`,
    });
    charts.forEach((chart, i) =>
        element.append(
            h(
                'p',
                {class: 'distances-title'},
                `${parts[i].before}${metric} to the chosen ${pluralOf(title)}`,
            ),
            chart,
        ),
    );
    news.textContent = newsOf(curves, drawing);
    const sharing =
        orders.length > 1 &&
        choiceField({
            id: 'distances-scales',
            label: 'axes',
            value: own ? 'own' : 'shared',
            choices: [
                ['shared', 'shared by A and B'],
                ['own', 'each its own'],
            ],
            changed: (value) => context.update({[SCALES]: value}),
        });
    place.append(
        distancesNote(curves, drawing, context.tables),
        ...(sharing ? [sharing] : []),
        legendOf(drawing, context.colours),
        element,
    );
    connect(
        element,
        charts,
        longest,
        context,
        (position) =>
            context.hover(position == null ? '' : describeAt(position, curves, drawing)),
        toggle,
    );
}

function render(container, context) {
    const {options, update, signal} = context;
    const {having, note} = comparable(context.tables);
    const orders = having.map(orderOf);
    const asked = read(options[OPTION] ?? '');
    const chosen = asked.length > 0 ? asked : standardOf(orders[0]);
    const {title} = having[0].row;
    const choose = (positions) => update({[OPTION]: positions.join()});
    const toggle = (position) => {
        if (!chosen.includes(position)) choose([...chosen, position].slice(-CHOSEN_MAX));
        else if (chosen.length > 1) choose(chosen.filter((each) => each !== position));
    };
    const turned = rotationIn(having[0]);
    const drawing = turned && drawingOf(context, having);
    const metric = turned
        ? null
        : chooser(context, 'distances.metric', 'metric', METRICS, 'l2');
    const input = h('input', {
        id: 'distances-positions',
        type: 'text',
        inputmode: 'decimal',
        autocomplete: 'off',
        value: chosen.join(', '),
        onchange: () => choose(read(input.value)),
    });
    const controls = [
        ...(turned ? drawingControls(drawing, context) : [metric.element]),
        h('label', {}, `${pluralOf(title)} `, input),
        h(
            'span',
            {class: 'quiet'},
            'Or click into the picture; arrow keys and Enter do the same.',
        ),
    ];

    const load = () =>
        Promise.all(
            having.map(async (table, side) => {
                const rows = chosen.map(orders[side].rowOf);
                const had = rows.filter((row) => row >= 0).slice(0, rowsAtOnce(table));
                if (had.length === 0) return [];
                const loaded = turned
                    ? await loadScores(table, {chosen: had}, drawing, signal)
                    : await loadSimilarity(table, {metric: metric.value, chosen: had}, signal);
                return [
                    Object.assign(loaded, {
                        indexOf: (position) => had.indexOf(orders[side].rowOf(position)),
                    }),
                ];
            }),
        );
    return present(container, context, controls, load, (place, loaded, news) => {
        drawCurves(
            place,
            news,
            {
                tables: loaded.map(([table]) => table),
                orders,
                chosen,
                metric: turned ? scoreName(having[0]) : METRICS[metric.value],
                vectors: drawing,
                note,
                title,
                choose,
                toggle,
            },
            context,
        );
    });
}

export default {
    name: 'distances',
    title: 'Distances',
    applies: (tensor, scheme) => hasSimilarity(tensor, scheme) && isLine(tensor, scheme),
    charts: true,
    render,
};
