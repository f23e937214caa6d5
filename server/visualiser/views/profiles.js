// Single rows (mostly positions) as lines over the columns (mostly dimensions).
import {createChart, indexOf, legendOf, linkCharts, reachOf, roomy, titled} from '../charts.js';
import {h} from '../dom.js';
import {highlighted} from '../highlight.js';
import {choiceField, listField, parseList, pluralOf, spread} from '../lists.js';
import {profilesNote} from '../notes.js';
import {brief} from '../numbers.js';
import {isReal, orderOf, sideName} from './waves.js';

const ARRANGEMENTS = [
    ['', 'on the same axes'],
    ['apart', 'one above the other'],
    ['difference', 'their difference'],
];

// The row of a table at a position, or -1.
function rowAt(order, position) {
    const i = indexOf(order, position);
    return i < 0 ? -1 : order.row(i);
}

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

function render(
    container,
    {tables, difference, refusal, options, update, hover, colours, signal, width},
) {
    const [{row, column}] = tables;
    const orders = tables.map(orderOf),
        across = tables.map(columnsOf);
    const [first] = orders;
    const usual = spread(first.length).map((i) => first.x(i));
    const there = (position) => orders.some((order) => rowAt(order, position) >= 0);
    const rule =
        `the window has those from ${Math.min(...orders.map(({x}) => x(0)))} to ` +
        `${Math.max(...orders.map(({x, length}) => x(length - 1)))}, such as ${usual}`;
    const given = parseList(options['profiles.positions'] ?? '', there, rule);
    const positions = given.numbers.length > 0 ? given.numbers : usual;
    const arrangement = difference ? (options['profiles.arrangement'] ?? '') : '';
    const colourOf = (position) =>
        colours.categorical[positions.indexOf(position) % colours.categorical.length];
    const seriesOf = (table, order, columns, i) =>
        positions
            .map((position) => [position, rowAt(order, position)])
            .filter(([, at]) => at >= 0 && at < table.rows)
            .map(([position, at]) => ({
                ...columns,
                y: (k) => table.value(at, columns.row(k)),
                colour: colourOf(position),
                dashed: i === 1,
            }));
    const all = tables.map((table, i) => seriesOf(table, orders[i], across[i], i));
    const groups =
        arrangement === 'difference'
            ? [['A − B', seriesOf(difference, orders[0], columnsOf(difference), 0)]]
            : arrangement === 'apart'
              ? all.map((series, i) => [
                    `${'AB'[i]}: ${tables[i].settings.scheme}`,
                    series.map((each) => ({...each, dashed: false})),
                ])
              : [[tables.length > 1 ? 'A solid, B dashed' : '', all.flat()]];
    const shown = groups.flatMap(([, series]) => series);
    const x = {title: column.explained ?? column.title, domain: reachOf(shown, 'x')};
    const [least, most] = reachOf(shown);
    const y = {title: 'value', domain: roomy([least, most])};
    const lit = highlighted(options, tables[0]);
    const rules =
        lit == null
            ? []
            : [
                  {
                      x: column.at(lit),
                      text: `${column.title} ${column.at(lit)}`,
                      colour: colours.ink,
                  },
              ];
    const charts = groups.map(([title, series]) =>
        createChart({
            series,
            x,
            y,
            rules,
            colours,
            width,
            height: groups.length > 1 ? 230 : 320,
            label:
                `${title ? `${title}: ` : ''}${row.title} ${positions.join(', ')} over ` +
                `${column.title} ${x.domain.map(brief).join(' to ')}, values from ` +
                `${brief(least)} to ${brief(most)}. Arrow keys move the cursor.`,
        }),
    );
    container.append(
        profilesNote(
            tables[0],
            positions.map((position) => rowAt(first, position)).filter((at) => at >= 0),
        ),
    );
    if (refusal) container.append(h('p', {class: 'refusal'}, refusal));
    container.append(
        h(
            'div',
            {class: 'buttons'},
            listField({
                id: 'profiles-positions',
                label: pluralOf(row.title),
                value: options['profiles.positions'] || positions.join(', '),
                mistake: given.mistake,
                changed: (text) =>
                    update({'profiles.positions': text.replace(/[\s,;]+/g, ',')}),
            }),
            difference
                ? choiceField({
                      id: 'profiles-arrangement',
                      label: 'A and B',
                      value: arrangement,
                      choices: ARRANGEMENTS,
                      changed: (value) => update({'profiles.arrangement': value}),
                  })
                : null,
        ),
        legendOf(
            positions.map((position) => ({
                name: `${row.title} ${position}`,
                colour: colourOf(position),
            })),
        ),
        ...groups.map(([title], i) => titled(title, charts[i])),
    );
    linkCharts(charts, {
        signal,
        tell: (at) =>
            hover(
                at == null
                    ? ''
                    : tellColumn(at, {tables, difference, positions, orders, across}),
            ),
    });
}

export default {
    name: 'profiles',
    title: 'Profiles',
    linked: true,
    applies: ({shape, dtype}) => isReal({dtype}) && shape.length >= 2 && shape.at(-1) > 1,
    render,
};
