// Single rows (mostly positions) as lines over the columns (mostly dimensions).
import {listField} from '../controls.js';
import {arrangementOf, groupsOf, heightOf} from '../arrangement.js';
import {createChart, legendOf, linkCharts, reachOf, titled} from '../charts.js';
import {h} from '../dom.js';
import {highlighted} from '../highlight.js';
import {listText, parseList, pluralOf, spread} from '../lists.js';
import {profilesNote} from '../notes.js';
import {brief} from '../numbers.js';
import {isReal, orderOf, rowAt, sideName} from './waves.js';

const AROUND = 150; // pixels that the note, controls, legend and titles take of the height
const ZIGZAG = 1.5; // times as far from column to column as from one to the next but one

const columnsOf = ({columns, column}) => orderOf({rows: columns, row: column});

function tellColumn(at, {tables, difference, positions, orders, across}) {
    const [{row, column}] = tables;
    const places = across.map((order) => rowAt(order, at));
    const parts = positions.map((position) => {
        const rows = orders.map((order) => rowAt(order, position));
        const values = tables
            .map((table, i) =>
                rows[i] >= 0 && places[i] >= 0
                    ? `${sideName(tables, i)}${table.text(rows[i], places[i])}`
                    : null,
            )
            .filter(Boolean);
        if (
            difference &&
            rows[0] >= 0 &&
            rows[0] < difference.rows &&
            places[0] >= 0 &&
            places[0] < difference.columns
        )
            values.push(`difference ${difference.text(rows[0], places[0])}`);
        return values.length > 0 ? `${row.title} ${position}: ${values.join(', ')}` : null;
    });
    return [`${column.title} ${at}`, ...parts.filter(Boolean)].join(' · ');
}

// Whether neighbouring columns are of two kinds, such as sines and cosines: a line through all
// of them would go up and down between the kinds.
function isZigzag(table, rows) {
    let near = 0,
        far = 0;
    for (const at of rows)
        for (let k = 2; k < table.columns; k++) {
            near += Math.abs(table.value(at, k) - table.value(at, k - 1)) || 0;
            far += Math.abs(table.value(at, k) - table.value(at, k - 2)) || 0;
        }
    return near > ZIGZAG * far;
}

// The columns that have a line together: all, or those with even and those with odd numbers.
const lanesOf = (columns, zigzag) =>
    !zigzag
        ? [columns]
        : [0, 1].map((lane) => ({
              length: Math.floor((columns.length + 1 - lane) / 2),
              x: (i) => columns.x(2 * i + lane),
              row: (i) => columns.row(2 * i + lane),
          }));

// The series of the rows at some positions.
function seriesOf(table, {order, columns, positions, zigzag, colourOf, dashed}) {
    return positions
        .map((position) => [position, rowAt(order, position)])
        .filter(([, at]) => at >= 0 && at < table.rows)
        .flatMap(([position, at]) =>
            lanesOf(columns, zigzag).map((lane, i) => ({
                ...lane,
                y: (k) => table.value(at, lane.row(k)),
                colour: colourOf(position),
                dashed,
                faint: i === 1,
            })),
        );
}

// Which rows are drawn, by their positions.
function chosenOf({options}, orders) {
    const [first] = orders;
    const usual = spread(first.length).map((i) => first.x(i));
    const there = (position) => orders.some((order) => rowAt(order, position) >= 0);
    const given = parseList(
        options['profiles.positions'] ?? '',
        there,
        `the window has those from ${Math.min(...orders.map(({x}) => x(0)))} to ` +
            `${Math.max(...orders.map(({x, length}) => x(length - 1)))}, such as ${usual}`,
    );
    return {
        positions: given.numbers.length > 0 ? given.numbers : usual,
        mistake: given.mistake,
    };
}

function chartsOf(groups, positions, {tables, options, colours, width, height}) {
    return groups.map(({title, series, x, y, sides}) => {
        const table = tables[sides[0]],
            {row, column} = table;
        const lit = highlighted(options, table);
        const text = lit == null ? '' : `${column.title} ${column.at(lit)}`;
        return createChart({
            series,
            x: {title: column.explained ?? column.title, domain: x},
            y: {title: 'value', domain: y},
            rules: text ? [{x: column.at(lit), text, colour: colours.ink}] : [],
            colours,
            width,
            height: heightOf(height, AROUND, groups.length),
            label:
                `${title ? `${title}: ` : ''}${listText(row.title, positions)} over ` +
                `${pluralOf(column.title)} ${x.map(brief).join(' to ')}, values from ` +
                `${reachOf(series).map(brief).join(' to ')}. Arrow keys move the cursor.`,
        });
    });
}

function render(container, context) {
    const {tables, difference, refusal, options, update, hover, colours, signal} = context;
    const orders = tables.map(orderOf),
        across = tables.map(columnsOf);
    const {positions, mistake} = chosenOf(context, orders);
    const arrangement = arrangementOf(context, 'profiles.arrangement');
    const rowsOf = (i) =>
        positions.map((position) => rowAt(orders[i], position)).filter((at) => at >= 0);
    const zigzags = tables.map((table, i) => isZigzag(table, rowsOf(i)));
    const colourOf = (position) =>
        colours.categorical[positions.indexOf(position) % colours.categorical.length];
    const look = {positions, colourOf};
    const groups = groupsOf(arrangement.value, {
        tables,
        all: tables.map((table, i) =>
            seriesOf(table, {
                ...look,
                order: orders[i],
                columns: across[i],
                zigzag: zigzags[i],
                dashed: i === 1,
            }),
        ),
        difference: () =>
            seriesOf(difference, {
                ...look,
                order: orders[0],
                columns: columnsOf(difference),
                zigzag: zigzags[0],
            }),
    });
    const charts = chartsOf(groups, positions, context);
    container.append(profilesNote(tables, rowsOf, zigzags.some(Boolean)));
    if (refusal) container.append(h('p', {class: 'refusal'}, refusal));
    const titles = [...new Set(tables.map((each) => each.row.title))];
    const list = listField({
        id: 'profiles-positions',
        label: titles.map(pluralOf).join(' or '),
        value: options['profiles.positions'] || positions.join(', '),
        mistake,
        changed: (text) => update({'profiles.positions': text.replace(/[\s,;]+/g, ',')}),
    });
    container.append(
        h('div', {class: 'buttons'}, ...[list, arrangement.field].filter(Boolean)),
        legendOf(
            positions.map((position) => ({
                name: `${titles.join(' or ')} ${position}`,
                colour: colourOf(position),
            })),
        ),
        ...groups.map(({title}, i) => titled(title, charts[i])),
    );
    const own = arrangement.value === 'own';
    for (const [these, sides] of own ? charts.map((each, i) => [[each], [i]]) : [[charts]]) {
        const read = sides
            ? {
                  tables: sides.map((i) => tables[i]),
                  orders: sides.map((i) => orders[i]),
                  across: sides.map((i) => across[i]),
              }
            : {tables, orders, across, difference};
        linkCharts(these, {
            signal,
            tell: (at) => hover(at == null ? '' : tellColumn(at, {...read, positions})),
        });
    }
}

export default {
    name: 'profiles',
    title: 'Profiles',
    linked: true,
    options: ['positions', 'arrangement'],
    tools: ['slice', 'row'],
    applies: ({shape, dtype}) => isReal({dtype}) && shape.length >= 2 && shape.at(-1) > 1,
    charts: true,
    render,
};
