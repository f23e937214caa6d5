// Curves of chosen positions: how far, or how alike, each other position is.
import {listField, optionField} from '../controls.js';
import {arrangementOf, groupsOf, heightOf} from '../arrangement.js';
import {createChart, indexOf, legendOf, linkCharts, titled} from '../charts.js';
import {h} from '../dom.js';
import {parseList, pluralOf} from '../lists.js';
import {distancesNote} from '../notes.js';
import {shortest} from '../numbers.js';
import {drawingControls, drawingOf} from '../rotated.js';
import {
    METRICS,
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
import {markRules, orderOf, rowAt, sideName} from './waves.js';

const OPTION = 'distances.positions';
const CHOSEN_MAX = 7; // as many as there are colours
const AROUND = 190; // pixels that the note, controls and legend take of the height

const orderIn = (table) => orderOf({rows: table.totalRows, row: {at: positionsOf(table)}});

const standardOf = ({length, x}) => [
    ...new Set([0, length >> 1, length - 1].map((place) => x(place))),
];

// Which positions have curves: {chosen, mistake}.
function chosenOf({options}, title, order) {
    const {numbers, mistake} = parseList(
        options[OPTION] ?? '',
        () => true,
        `${pluralOf(title)} are numbers`,
    );
    const many = numbers.length > CHOSEN_MAX ? `at most ${CHOSEN_MAX} curves are drawn` : '';
    return {
        chosen: numbers.length > 0 ? numbers.slice(0, CHOSEN_MAX) : standardOf(order),
        mistake: mistake || many,
    };
}

// ---- curves ----

// Those of one side: a series for each chosen position that it has.
function curvesOf(table, side, order, chosen, {categorical}) {
    return chosen.flatMap((position, i) => {
        const row = table ? table.indexOf(position) : -1;
        if (row < 0) return [];
        const value = (other) => table.value(row, other);
        return {
            side,
            chosen: position,
            length: order.length,
            x: order.x,
            y: (place) => value(order.row(place)),
            text: (other) => shortest(table.dtype, value(other)),
            colour: categorical[i],
            dashed: side === 1,
        };
    });
}

// A minus B, for curves and positions that both sides have.
function differencesOf([ours, theirs]) {
    return ours.flatMap((mine) => {
        const other = theirs.find(({chosen}) => chosen === mine.chosen);
        if (!other) return [];
        const y = (place) => {
            const there = indexOf(other, mine.x(place));
            return there < 0 ? NaN : mine.y(place) - other.y(there);
        };
        return {...mine, y};
    });
}

function describeAt(position, curves, {orders, metric, title}) {
    const parts = curves.flatMap(({side, chosen, text}) => {
        const row = rowAt(orders[side], position);
        return row < 0 ? [] : `${sideName(orders, side)}to ${chosen} ${text(row)}`;
    });
    return `${title} ${position} · ${metric} · ${parts.join(' · ')}`;
}

// ---- drawing ----

function legend({chosen, choose, title}, {colours}) {
    const remove = (position) =>
        h(
            'button',
            {
                type: 'button',
                'aria-label': `Remove ${title} ${position}`,
                disabled: chosen.length === 1,
                onclick: () => choose(chosen.filter((each) => each !== position)),
            },
            '×',
        );
    return legendOf(
        chosen.map((position, i) => ({
            name: `${title} ${position}`,
            colour: colours.categorical[i],
            more: remove(position),
        })),
    );
}

// The notes above the picture, and missing curves.
function newsOf(curves, {chosen, note, title}) {
    const absent = chosen.filter(
        (position) => !curves.some((curve) => curve.chosen === position),
    );
    const told =
        absent.length > 0 &&
        `No curve of ${absent.join(', ')}: the table has no such ${title}, or they are too ` +
            'many for its length.';
    return [note, told].filter(Boolean).join(' ');
}

function drawCurves(place, news, drawing, context) {
    const {colours, hover, mark, signal, width, height} = context;
    const {having, tables, orders, chosen, metric, toggle, title} = drawing;
    const all = tables.map((table, side) =>
        curvesOf(table, side, orders[side], chosen, colours),
    );
    const curves = all.flat();
    const differences = all.length > 1 ? differencesOf(all) : [];
    const arrangement = arrangementOf(
        {
            ...context,
            tables: having,
            difference: differences.length > 0,
            refusal: differences.length === 0,
        },
        'distances.arrangement',
    );
    const groups = groupsOf(arrangement.value, {
        tables: having,
        all,
        difference: () => differences,
    });
    const {row} = context.tables[0];
    const about = `${metric} of ${pluralOf(title)} ${chosen.join(', ')} to every ${title}`;
    const charts = groups.map((group, i) =>
        createChart({
            series: group.series,
            x: {title: row.explained ?? title, domain: group.x},
            y: {title: metric, domain: group.y},
            rules: [
                ...markRules(mark, row),
                ...group.series.map(({chosen: x, colour}) => ({
                    x,
                    text: '',
                    colour,
                    faint: true,
                })),
            ],
            colours,
            width,
            height: heightOf(height, AROUND, groups.length),
            id: `distances-chart-${i}`,
            label:
                `${group.title && `${group.title}: `}${about}. Arrow keys move the cursor, ` +
                `Enter chooses its ${title}.`,
        }),
    );
    news.textContent = newsOf(curves, drawing);
    place.append(
        distancesNote(curves, drawing, context.tables),
        ...[arrangement.field].filter(Boolean),
        legend(drawing, context),
        ...groups.map((group, i) => titled(group.title, charts[i])),
    );
    linkCharts(charts, {
        signal,
        tell: (at) => hover(at == null ? '' : describeAt(at, curves, drawing)),
        choose: toggle,
    });
}

function render(container, context) {
    const {options, update, signal} = context;
    const {having, note} = comparable(context.tables);
    const orders = having.map(orderIn);
    const {title} = having[0].row;
    const {chosen, mistake} = chosenOf(context, title, orders[0]);
    const choose = (positions) => update({[OPTION]: positions.join()});
    const toggle = (position) => {
        if (!chosen.includes(position)) choose([...chosen, position].slice(-CHOSEN_MAX));
        else if (chosen.length > 1) choose(chosen.filter((each) => each !== position));
    };
    const turned = rotationIn(having[0]);
    const drawing = turned && drawingOf(context, having);
    const metric = turned
        ? null
        : optionField(context, 'distances.metric', 'metric', Object.entries(METRICS), 'l2');
    const controls = [
        ...(turned ? drawingControls(drawing, context) : [metric.field]),
        listField({
            id: 'distances-positions',
            label: pluralOf(title),
            value: mistake ? options[OPTION] : chosen.join(', '),
            mistake,
            changed: (text) => update({[OPTION]: text.replace(/[\s,;]+/g, ',')}),
        }),
        h(
            'span',
            {class: 'quiet'},
            'Or click into the picture; arrow keys and Enter do the same.',
        ),
    ];

    const load = () =>
        Promise.all(
            having.map(async (table, side) => {
                const rows = chosen.map((position) => rowAt(orders[side], position));
                const had = rows.filter((row) => row >= 0).slice(0, rowsAtOnce(table));
                if (had.length === 0) return [];
                const loaded = turned
                    ? await loadScores(table, {chosen: had}, drawing, signal)
                    : await loadSimilarity(table, {metric: metric.value, chosen: had}, signal);
                return [
                    Object.assign(loaded, {
                        indexOf: (position) => had.indexOf(rowAt(orders[side], position)),
                    }),
                ];
            }),
        );
    return present(container, context, controls, load, (place, loaded, news) => {
        drawCurves(
            place,
            news,
            {
                having,
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
    options: ['metric', 'positions', 'arrangement'],
    applies: (tensor, scheme) => hasSimilarity(tensor, scheme) && isLine(tensor, scheme),
    charts: true,
    render,
};
