// Single columns (mostly dimensions) as lines over the rows (mostly positions).
import {createChart, indexOf, legendOf, linkCharts, reachOf, roomy, titled} from '../charts.js';
import {h} from '../dom.js';
import {highlighted} from '../highlight.js';
import {choiceField, listField, parseList, pluralOf, spread} from '../lists.js';
import {wavesNote} from '../notes.js';
import {brief} from '../numbers.js';

const ARRANGEMENTS = [
    ['', 'on the same axes'],
    ['apart', 'one above the other'],
    ['difference', 'their difference'],
];

export const isReal = ({dtype}) => /^b?f\d/.test(dtype);
export const hasPositions = ({axis}) => axis === 'n' || axis === 'queries';

// The rows of a table sorted by the position they stand for: {length, x(i), row(i)}.
export function orderOf({rows, row}) {
    let ascending = true;
    for (let i = 1; i < rows && ascending; i++) ascending = row.at(i) > row.at(i - 1);
    if (ascending) return {length: rows, x: row.at, row: (i) => i};
    const order = Array.from({length: rows}, (_, i) => i).sort((a, b) => row.at(a) - row.at(b));
    return {length: rows, x: (i) => row.at(order[i]), row: (i) => order[i]};
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

function render(
    container,
    {tables, difference, refusal, options, update, hover, mark, colours, signal, width},
) {
    const [{row, column}] = tables;
    const extent = Math.max(...tables.map(({columns}) => columns));
    const rule =
        `${pluralOf(column.title || 'column')} go from 0 to ${extent - 1}, such as ` +
        `${spread(extent)}`;
    const given = parseList(
        options['waves.columns'] ?? '',
        (each) => Number.isInteger(each) && each >= 0 && each < extent,
        rule,
    );
    const asked = given.numbers.length > 0 ? given.numbers : spread(extent);
    const lit = highlighted(options, {columns: extent});
    const columns = lit == null || asked.includes(lit) ? asked : [...asked, lit];
    const arrangement = difference ? (options['waves.arrangement'] ?? '') : '';
    const orders = tables.map(orderOf);
    const colourOf = (k) =>
        colours.categorical[columns.indexOf(k) % colours.categorical.length];
    const seriesOf = (table, order, i) =>
        columns
            .filter((k) => k < table.columns)
            .map((k) => ({
                ...order,
                y: (at) => table.value(order.row(at), k),
                colour: colourOf(k),
                dashed: i === 1,
                k,
                strong: k === lit,
                faint: lit != null && k !== lit,
            }));
    const all = tables.map((table, i) => seriesOf(table, orders[i], i));
    const groups =
        arrangement === 'difference'
            ? [['A − B', seriesOf(difference, orderOf(difference), 0)]]
            : arrangement === 'apart'
              ? all.map((series, i) => [
                    `${'AB'[i]}: ${tables[i].settings.scheme}`,
                    series.map((each) => ({...each, dashed: false})),
                ])
              : [[tables.length > 1 ? 'A solid, B dashed' : '', all.flat()]];
    const shown = groups.flatMap(([, series]) => series);
    const x = {title: row.explained ?? row.title, domain: reachOf(shown, 'x')};
    const [least, most] = reachOf(shown);
    const y = {title: 'value', domain: roomy([least, most])};
    const charts = groups.map(([title, series]) =>
        createChart({
            series,
            x,
            y,
            rules: markRules(mark, row),
            colours,
            width,
            height: groups.length > 1 ? 230 : 320,
            label:
                `${title ? `${title}: ` : ''}${column.title || 'column'} ` +
                `${columns.join(', ')} over ${row.title} ${brief(x.domain[0])} to ` +
                `${brief(x.domain[1])}, values from ${brief(least)} to ${brief(most)}. Arrow ` +
                'keys move the cursor.',
        }),
    );
    container.append(wavesNote(tables, columns, signal));
    if (refusal) container.append(h('p', {class: 'refusal'}, refusal));
    container.append(
        h(
            'div',
            {class: 'buttons'},
            extent > 1
                ? listField({
                      id: 'waves-columns',
                      label: pluralOf(column.title),
                      value: options['waves.columns'] || asked.join(', '),
                      mistake: given.mistake,
                      changed: (text) =>
                          update({'waves.columns': text.replace(/[\s,;]+/g, ',')}),
                  })
                : null,
            difference
                ? choiceField({
                      id: 'waves-arrangement',
                      label: 'A and B',
                      value: arrangement,
                      choices: ARRANGEMENTS,
                      changed: (value) => update({'waves.arrangement': value}),
                  })
                : null,
        ),
        legendOf(
            extent > 1
                ? columns.map((k) => ({
                      name: `${column.title} ${column.at(k)}`,
                      colour: colourOf(k),
                      strong: k === lit,
                  }))
                : [],
        ),
        ...groups.map(([title], i) => titled(title, charts[i])),
    );
    linkCharts(charts, {
        signal,
        tell: (at) =>
            hover(at == null ? '' : tellRow(at, {tables, difference, columns, orders})),
    });
}

export default {
    name: 'waves',
    title: 'Waves',
    linked: true,
    applies: ({shape, axes, dtype}) => {
        const at = shape.length === 1 ? -1 : -2;
        return isReal({dtype}) && shape.at(at) > 1 && !/dim|heads/.test(axes.at(at));
    },
    render,
};
