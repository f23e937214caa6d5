// Single columns (mostly dimensions) as lines over the rows (mostly positions).
import {listField, drawLoaded} from '../controls.js';
import {arrangementOf, groupsOf, heightOf} from '../arrangement.js';
import {createChart, indexOf, legendOf, linkCharts, reachOf, titled} from '../charts.js';
import {h} from '../dom.js';
import {highlighted} from '../highlight.js';
import {listText, parseList, pluralOf, spread} from '../lists.js';
import {wavesNote} from '../notes.js';
import {brief} from '../numbers.js';
import {loadTable} from '../tables.js';

const AROUND = 150; // pixels that the note, controls, legend and titles take of the height
const FINER = 8; // points of a curve for each row
const FINE = 2 ** 20; // elements of a table of curves
const SPARSE = 3; // pixels between rows from which a line through them is no curve

export const isReal = ({dtype}) => /^b?f\d/.test(dtype);
const hasPositions = ({axis}) => axis === 'n' || axis === 'queries';

// The rows of a table sorted by the position they stand for: {length, x(i), row(i)}.
export function orderOf({rows, row}) {
    let ascending = true;
    for (let i = 1; i < rows && ascending; i++) ascending = row.at(i) > row.at(i - 1);
    if (ascending) return {length: rows, x: row.at, row: (i) => i};
    const order = Array.from({length: rows}, (_, i) => i).sort((a, b) => row.at(a) - row.at(b));
    return {length: rows, x: (i) => row.at(order[i]), row: (i) => order[i]};
}

// The row of a table at a position, or -1.
export function rowAt(order, position) {
    const i = indexOf(order, position);
    return i < 0 ? -1 : order.row(i);
}

export const sideName = (tables, i) => (tables.length > 1 ? `${'AB'[i]} ` : '');

export const markRules = (mark, axis) =>
    mark != null && hasPositions(axis) ? [{x: mark, text: `trained to ${brief(mark)}`}] : [];

// What is read at one row: every chosen column of every table, exactly.
function tellRow(at, {tables, difference, columns, orders}) {
    const [{row, column}] = tables;
    const parts = columns.map((k) => {
        const values = tables
            .map((table, i) => {
                const place = k < table.columns ? indexOf(orders[i], at) : -1;
                return place < 0
                    ? null
                    : `${sideName(tables, i)}${table.text(orders[i].row(place), k)}`;
            })
            .filter(Boolean);
        const place = difference && k < difference.columns ? indexOf(orders[0], at) : -1;
        if (place >= 0 && orders[0].row(place) < difference.rows)
            values.push(`difference ${difference.text(orders[0].row(place), k)}`);
        return `${column.title && `${column.title} ${column.at(k)}: `}${values.join(', ')}`;
    });
    return [`${row.title} ${at}`, ...parts].join(' · ');
}

// Whether the scheme has waves of the position, and any row can be requested.
export function mayWave({name, shape, axes, dtype}, scheme) {
    const documented = scheme.tensors.find((each) => each.name === name);
    return (
        isReal({dtype}) &&
        shape.length === 2 &&
        axes[0] === 'n' &&
        scheme.parameters.some((each) => each.name === 'positions') &&
        /\b(sin|cos|sines?|cosines?)\b/.test(`${documented?.help} ${scheme.formula}`)
    );
}

// The table between the rows too, FINER times as dense, if any position can be asked for; null
// where it is not the same table at the rows.
async function loadBetween(table, width, signal) {
    const {scheme, settings, tensor, effective, rows, row, columns} = table;
    const listed = scheme.parameters.some(
        ({name, type}) => type === 'array' && settings.parameters[name] != null,
    );
    if (listed || !mayWave(tensor, scheme)) return null;
    if (rows < 2 || rows * SPARSE > width || rows * FINER * columns > FINE) return null;
    const step = Number(effective.step ?? 1) / FINER;
    const finer = {
        ...settings.parameters,
        offset: String(row.at(0)),
        step: String(step),
        length: String((rows - 1) * FINER + 1),
    };
    const found = await loadTable(
        scheme,
        {...settings, parameters: finer},
        {tensor: tensor.name, waves: false, signal},
    );
    for (let at = 0; at < rows * columns; at++) {
        const [i, k] = [Math.floor(at / columns), at % columns];
        if (found.value(i * FINER, k) !== table.value(i, k)) return null;
    }
    return found;
}

// The series of the chosen columns of a table.
function seriesOf(table, between, {columns, lit, colourOf, dashed}) {
    const order = orderOf(table);
    return columns
        .filter((k) => k < table.columns)
        .map((k) => ({
            ...order,
            y: (at) => table.value(order.row(at), k),
            curve: between && {
                length: between.rows,
                x: between.row.at,
                y: (at) => between.value(at, k),
            },
            colour: colourOf(k),
            dashed,
            k,
            strong: k === lit,
            faint: lit != null && k !== lit,
        }));
}

// The names of the rows or columns of all tables, if these differ.
const titlesOf = (tables, axis) => [...new Set(tables.map((each) => each[axis].title))];

// Which columns are drawn: {columns, asked, mistake, lit}.
function chosenOf({tables, options}) {
    const [{column}] = tables;
    const extent = Math.max(...tables.map(({columns}) => columns));
    const given = parseList(
        options['waves.columns'] ?? '',
        (each) => Number.isInteger(each) && each >= 0 && each < extent,
        `${pluralOf(column.title || 'column')} go from 0 to ${extent - 1}, such as ` +
            `${spread(extent)}`,
    );
    const asked = given.numbers.length > 0 ? given.numbers : spread(extent);
    const lit = highlighted(options, {columns: extent});
    const columns = lit == null || asked.includes(lit) ? asked : [...asked, lit];
    return {columns, asked, mistake: given.mistake, lit, extent};
}

function controls({options, update}, {asked, mistake, extent}, {field}, names) {
    const list =
        extent > 1 &&
        listField({
            id: 'waves-columns',
            label: names.map(pluralOf).join(' or '),
            value: options['waves.columns'] || asked.join(', '),
            mistake,
            changed: (text) => update({'waves.columns': text.replace(/[\s,;]+/g, ',')}),
        });
    return h('div', {class: 'buttons'}, ...[list, field].filter(Boolean));
}

function show(body, between, chosen, arrangement, context) {
    const {tables, difference, hover, mark, colours, signal, width, height} = context;
    const {columns, lit} = chosen;
    const colourOf = (k) =>
        colours.categorical[columns.indexOf(k) % colours.categorical.length];
    const look = {columns, lit, colourOf};
    const groups = groupsOf(arrangement.value, {
        tables,
        all: tables.map((table, i) => seriesOf(table, between[i], {...look, dashed: i === 1})),
        difference: () => seriesOf(difference, null, look),
    });
    const charts = groups.map(({title, series, x, y, sides}) => {
        const {row, column} = tables[sides[0]];
        return createChart({
            series,
            x: {title: row.explained ?? row.title, domain: x},
            y: {title: 'value', domain: y},
            rules: markRules(mark, row),
            colours,
            width,
            height: heightOf(height, AROUND, groups.length),
            label:
                `${title ? `${title}: ` : ''}` +
                `${listText(column.title || 'column', columns)} over ` +
                `${pluralOf(row.title)} ${x.map(brief).join(' to ')}, values from ` +
                `${reachOf(series).map(brief).join(' to ')}. Arrow keys move the cursor.`,
        });
    });
    body.replaceChildren(...groups.map(({title}, i) => titled(title, charts[i])));
    const orders = tables.map(orderOf);
    const linked =
        arrangement.value === 'own' ? charts.map((chart, i) => [[chart], [i]]) : [[charts]];
    for (const [these, sides] of linked) {
        const read = sides
            ? {tables: sides.map((i) => tables[i]), orders: sides.map((i) => orders[i])}
            : {tables, orders, difference};
        linkCharts(these, {
            signal,
            tell: (at) => hover(at == null ? '' : tellRow(at, {...read, columns})),
        });
    }
}

function render(container, context) {
    const {tables, refusal, colours, signal, width} = context;
    const chosen = chosenOf(context);
    const arrangement = arrangementOf(context, 'waves.arrangement');
    const names = titlesOf(tables, 'column').filter(Boolean);
    const body = h('div', {});
    container.append(wavesNote(tables, chosen.columns, signal));
    if (refusal) container.append(h('p', {class: 'refusal'}, refusal));
    container.append(
        controls(context, chosen, arrangement, names),
        legendOf(
            chosen.extent > 1
                ? chosen.columns.map((k, i) => ({
                      name: `${names.join(' or ')} ${tables[0].column.at(k)}`,
                      colour: colours.categorical[i % colours.categorical.length],
                      strong: k === chosen.lit,
                  }))
                : [],
        ),
        body,
    );
    drawLoaded(
        context,
        body,
        Promise.all(tables.map((table) => loadBetween(table, width, signal))),
        (between) => show(body, between, chosen, arrangement, context),
    );
}

export default {
    name: 'waves',
    title: (tensor, scheme) => (mayWave(tensor, scheme) ? 'Waves' : 'Lines'),
    linked: true,
    options: ['columns', 'arrangement'],
    applies: ({shape, axes, dtype}) => {
        const at = shape.length === 1 ? -1 : -2;
        return isReal({dtype}) && shape.at(at) > 1 && !/dim|heads/.test(axes.at(at));
    },
    charts: true,
    render,
};
