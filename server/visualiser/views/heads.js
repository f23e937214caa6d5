// Heads side by side: a small heatmap for each, on one scale, or a line for each against the
// distance. With two settings A stands above B, and their difference below.
import {drawLoaded, insteadOf, optionField, pager, scrolled, tableOf} from '../controls.js';
import {refusalOf} from '../difference.js';
import {h} from '../dom.js';
import {pluralOf} from '../lists.js';
import {headsNote} from '../notes.js';
import {brief, clamp} from '../numbers.js';
import {axisTitle, titlesOf} from '../schema.js';
import {differenceOfPlanes, hasDistances, loadPlanes, planesIn} from '../planes.js';
import {createLines} from './heads_lines.js';
import {createMaps} from './heads_maps.js';
import {addScales, legendOf} from './heads_scales.js';

const PAGE = 16;
const capital = (text) => text[0].toUpperCase() + text.slice(1);
const whole = (value, least, most) => clamp(Math.trunc(value) || 0, least, most);

// ---- controls ----

function forms({update}, form, standard) {
    const button = (name, title) =>
        h(
            'button',
            {
                type: 'button',
                'aria-pressed': String(form === name),
                onclick: () => update({'heads.form': name === standard ? '' : name}),
            },
            title,
        );
    return h(
        'span',
        {class: 'buttons', role: 'group', 'aria-label': 'Form'},
        button('maps', 'Maps'),
        button('lines', 'Lines'),
    );
}

const pages = ({update}, page, count, title) =>
    pager({
        id: 'heads-first',
        title: `Which ${pluralOf(title)}`,
        label: `${pluralOf(title)} from`,
        first: page * PAGE,
        count: PAGE,
        total: count,
        last: count - 1,
        go: (to) => update({'heads.page': String(Math.floor(to / PAGE) || '')}),
    });

const SCALES = {all: 'shared by all', sides: 'one for A, one for B', each: 'one for each'};

// Who shares a scale: a key of SCALES, and its control.
function scalesOf(context, form, sides) {
    const standard = sides.length > 1 && refusalOf(...sides) ? 'sides' : 'all';
    const names = [
        'all',
        sides.length > 1 && 'sides',
        form === 'maps' && [...sides[0].planes].length > 1 && 'each',
    ].filter(Boolean);
    const {value, field} = optionField(
        context,
        'heads.scale',
        form === 'maps' ? 'colours' : 'axes',
        names.map((name) => [name, SCALES[name]]),
        standard,
    );
    return {value, field: names.length > 1 ? field : null};
}

// ---- the numbers under the crosshair ----

// Where both sides have other axes, the numbers are those of A.
const readable = ([first, second, ...rest]) =>
    second && (second.difference || !refusalOf(first, second))
        ? [first, second, ...rest]
        : [first];

function numbersOf(all, indices, {row, column}) {
    const [first] = all;
    const sets = readable(all);
    return tableOf(
        [first.title, ...sets.map(({letter}) => letter || 'value')],
        indices
            .filter((index) => sets.some(({planes}) => planes.has(index)))
            .map((index) => [
                `${first.title} ${first.label(index)}`,
                ...sets.map((set) => set.text(index, row, column)),
            ]),
        {caption: placeOf(sets, {row, column})},
    );
}

function placeOf([set], {row, column}) {
    return [
        set.row ? `${set.row.title} ${set.row.at(row)}` : null,
        `${set.column.title} ${set.column.at(column)}`,
    ]
        .filter(Boolean)
        .join(' · ');
}

function describe(all, {index, ...cell}) {
    const [first] = all;
    const sets = readable(all);
    return [
        `${first.title} ${first.label(index)}`,
        placeOf(sets, cell),
        ...sets.map(
            (set) => `${set.letter || 'value'} ${set.text(index, cell.row, cell.column)}`,
        ),
    ].join(' · ');
}

// ---- the view ----

function axesSentence([{row, column, rows, columns, wholeRows, first, title}]) {
    const span = (axis, count) =>
        `${pluralOf(axis.title)} ${axis.at(0)} to ${axis.at(count - 1)}`;
    const part =
        row && rows < wholeRows
            ? ` These are rows ${first} to ${first + rows - 1} of ${wholeRows}.`
            : '';
    const right = span(column, columns);
    const axes = row
        ? `Downwards ${span(row, rows)}, to the right ${right}`
        : `To the right ${right}`;
    return (
        `${axes}.${part} Arrow keys move the crosshair; a click or Enter opens ` +
        `${row ? `a ${title}` : 'the tensor'} in the heatmap.`
    );
}

function opener({tables: [{tensor}], update}) {
    const {lead, row} = planesIn(tensor);
    return (cell) =>
        update(
            {zoom: '', ...(row != null && {slice: String(lead === 0 ? cell.index : cell.row)})},
            {view: 'heatmap'},
        );
}

function show(container, context, sides, {form, indices, usable}) {
    const {colours, hover, mark, options, update} = context;
    const sets = sides.map((planes, side) => ({
        ...planes,
        letter: sides.length > 1 ? 'AB'[side] : '',
        heading: sides.length > 1 ? titlesOf(context.tables)[side] : '',
    }));
    const scales = scalesOf(context, form, sides);
    const apart = scales.value === 'sides';
    for (const these of apart ? sets.map((set) => [set]) : [sets])
        addScales(colours, these, indices, scales.value === 'each');
    if (sets.length > 1 && !refusalOf(...sets)) {
        const difference = {
            ...differenceOfPlanes(sets[0], sets[1]),
            letter: 'A − B',
            heading: 'A − B',
        };
        addScales(colours, [difference], indices, scales.value === 'each');
        if (difference.planes.size > 0) sets.push(difference);
    }
    const numbers = scrolled('Values at the crosshair');
    const point = (cell) => {
        hover(cell ? describe(sets, cell) : '');
        if (cell) numbers.replaceChildren(numbersOf(sets, indices, cell));
    };
    const trained =
        mark == null
            ? null
            : h('span', {class: 'heads-trained'}, `line: trained to ${brief(mark)}`);
    const legends = h(
        'p',
        {class: 'heads-legend'},
        ...[
            ...(apart
                ? sets.slice(0, 2).map((set) => legendOf(set, indices, set.letter, colours))
                : [
                      legendOf(
                          sets[0],
                          indices,
                          sides.length > 1 ? 'A and B' : `all ${pluralOf(sets[0].title)}`,
                          colours,
                      ),
                  ]),
            sets[2] ? legendOf(sets[2], indices, 'A − B', colours) : null,
            trained,
        ].filter(Boolean),
    );
    const common = {...context, sets, apart, indices, point, open: opener(context)};
    if (scales.field) container.append(h('p', {class: 'buttons'}, scales.field));
    container.append(headsNote(sets, form, usable, context.tables));
    if (form === 'maps')
        container.append(
            legends,
            createMaps(common),
            h('p', {class: 'quiet heads-axes'}, axesSentence(sets)),
            numbers,
        );
    else
        container.append(
            createLines({
                ...common,
                row: whole(options['heads.query'] ?? sets[0].rows / 2, 0, sets[0].rows - 1),
                chooseRow: (row) => update({'heads.query': String(row)}),
            }),
            numbers,
        );
}

function render(container, context) {
    const {tables, options, update, load} = context;
    const usable = tables.filter(({tensor}) => planesIn(tensor));
    const counts = usable.map(({tensor}) => tensor.shape[planesIn(tensor).lead]);
    const count = Math.max(...counts);
    const page = whole(options['heads.page'] ?? 0, 0, Math.ceil(count / PAGE) - 1);
    const indices = Array.from(
        {length: Math.min(PAGE, count - page * PAGE)},
        (_, i) => page * PAGE + i,
    );
    const lines = usable.every(({tensor}) => hasDistances(tensor, planesIn(tensor)));
    const standard = lines && usable[0].tensor.shape.length === 2 ? 'lines' : 'maps';
    const form =
        lines && ['maps', 'lines'].includes(options['heads.form'])
            ? options['heads.form']
            : standard;
    const news = h('p', {class: 'quiet', role: 'status'}, 'Loading …');
    const body = h('div', {});
    const {tensor} = usable[0];
    const title = axisTitle(tensor.axes[planesIn(tensor).lead]);
    container.append(
        h(
            'div',
            {class: 'buttons'},
            ...[
                lines ? forms({update}, form, standard) : null,
                pages({update}, page, count, title),
                insteadOf(options['heads.page'], page, 'heads-page'),
            ].filter(Boolean),
        ),
        news,
        body,
    );
    drawLoaded(
        context,
        body,
        Promise.all(
            usable.map((table) =>
                loadPlanes(table, indices, (wanted) => load(tables.indexOf(table), wanted)),
            ),
        ),
        (sides) => {
            const refusal = sides[1] ? refusalOf(...sides) : '';
            const other = refusal && `${refusal} The numbers below are those of A.`;
            news.textContent =
                usable.length < tables.length ? 'B has nothing of this kind.' : other;
            news.hidden = !news.textContent;
            show(body, context, sides, {form, indices, usable});
            container.dataset.heads = form;
        },
    );
    return () => {
        delete container.dataset.heads;
    };
}

export default {
    name: 'heads',
    title: ({axes, shape}) => capital(pluralOf(axisTitle(axes[planesIn({axes, shape}).lead]))),
    options: ['form', 'page', 'query', 'scale'],
    tools: ['row', 'mark'],
    applies: (tensor) => Boolean(planesIn(tensor)),
    charts: true,
    render,
};
