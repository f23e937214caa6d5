// What the usual float32 recipe loses: the exact table against it, at any position, and how the
// loss grows with the position. The recipe is computed here, with Math.fround: see recipes.js.
import {getElements} from '../api.js';
import {createChart, decadesOf, legendOf, linkCharts, titled} from '../charts.js';
import {h} from '../dom.js';
import {choiceField, listField} from '../lists.js';
import {precisionNote} from '../notes.js';
import {brief, shortest} from '../numbers.js';
import {PROBES, RECIPES, entryOf, unitOf, wavesOf} from '../recipes.js';
import {NOT_MEASURED} from './spectrum.js';
import {markRules, mayWave, sideName} from './waves.js';

const SUBJECT = 131071; // the last position of a context of 128 Ki
const ROWS = 128;
const MOST_ELEMENTS = 2 ** 20;
const MOST_POSITION = 2 ** 53;
const BASE = /^(base|.*theta)$/;
const DECADES = 6; // the growth is shown up to 10^DECADES
const SAMPLES = 16; // positions from each that the growth names

const baseOf = (scheme) =>
    scheme.parameters.find(({name, type}) => type === 'number' && BASE.test(name));
const takesFloats = (scheme) =>
    scheme.parameters.some(
        ({name, choices}) =>
            name === 'dtype' && choices?.includes('f32') && choices.includes('f64'),
    );

// Rows of the exact table at other positions: the settings with `patch` instead of their own.
async function exactRows(table, rows, patch, signal) {
    const {settings, scheme, tensor, columns} = table;
    const parameters = {...settings.parameters, positions: undefined};
    for (const {name, unless} of scheme.parameters)
        if (unless === 'positions') delete parameters[name];
    const made = {name: tensor.name, dtype: patch.dtype, shape: [rows, columns]};
    return (
        await getElements(
            {...settings, parameters: {...parameters, ...patch}},
            made,
            0,
            rows * columns,
            {signal},
        )
    ).data;
}

// Recipe minus exact at each entry of the waves: {entries, wrong, rowWorst, columnWorst,
// worst}; the worst are {row, column, exact, recipe, error}, null where there is no entry.
export function compareWaves(waves, frequencies, exact, positions, columns) {
    const rowWorst = positions.map(() => null),
        columnWorst = Array.from({length: columns}, () => null);
    let worst = null,
        wrong = 0;
    const larger = (one, other) => other === null || Math.abs(one) > Math.abs(other.error);
    positions.forEach((position, row) =>
        waves.forEach((wave, k) => {
            const {column} = wave;
            const right = exact[row * columns + column];
            const made = entryOf({...wave, frequency: frequencies[k]}, position);
            const error = made - right;
            if (error !== 0) wrong++;
            if (!larger(error, rowWorst[row]) && !larger(error, columnWorst[column])) return;
            const entry = {row, column, position, exact: right, recipe: made, error};
            if (larger(error, rowWorst[row])) rowWorst[row] = entry;
            if (larger(error, columnWorst[column])) columnWorst[column] = entry;
            if (larger(error, worst)) worst = entry;
        }),
    );
    return {entries: positions.length * waves.length, wrong, rowWorst, columnWorst, worst};
}

// 1, 2, 5, 10 … 10^DECADES
const starts = () =>
    Array.from({length: DECADES}, (_, i) => [1, 2, 5].map((each) => each * 10 ** i))
        .flat()
        .concat(10 ** DECADES);

// The worst of a few positions from each start on: [{position, worst}].
async function growthOf(table, waves, frequencies, signal) {
    const samples = Math.max(
        1,
        Math.min(SAMPLES, Math.floor(MOST_ELEMENTS / (table.columns * starts().length))),
    );
    const positions = starts().flatMap((start) =>
        Array.from({length: samples}, (_, i) => start + i),
    );
    const exact = await exactRows(
        table,
        positions.length,
        {dtype: 'f32', positions: positions.join()},
        signal,
    );
    const {rowWorst} = compareWaves(waves, frequencies, exact, positions, table.columns);
    return starts().map((start, i) => ({
        position: start,
        worst: rowWorst
            .slice(i * samples, (i + 1) * samples)
            .reduce((worst, each) =>
                Math.abs(each.error) > Math.abs(worst.error) ? each : worst,
            ),
    }));
}

// The chosen recipe, else the usual one, if it computes at least half of the columns.
function chooseRecipe(name, waves, scheme) {
    const geometric =
        2 * waves.filter(({numerator}) => !Number.isNaN(numerator)).length >= waves.length;
    const usual = /theta/.test(baseOf(scheme).name) ? 'power' : 'exponential';
    return (
        RECIPES.find((each) => each.name === (name || (geometric ? usual : 'rounded'))) ??
        RECIPES[0]
    );
}

// Everything the view shows of one table; null if no column is a wave.
async function judge(table, {recipe: name, offset, rows}, signal) {
    await table.wavelengthsKnown;
    const {scheme, effective, wavelengths, columns} = table;
    if (!wavelengths) return {recipe: null, waves: []};
    if (!wavelengths.some(Number.isFinite)) return null;
    const base = Number(effective[baseOf(scheme).name]);
    const probes = await exactRows(
        table,
        PROBES.length,
        {dtype: 'f64', positions: PROBES.join()},
        signal,
    );
    const all = wavesOf(wavelengths, base, probes);
    const recipe = chooseRecipe(name, all, scheme);
    const waves = recipe.geometric
        ? all.filter(({numerator}) => !Number.isNaN(numerator))
        : all;
    if (waves.length === 0) return {recipe, waves};
    const frequencies = waves.map((wave) => recipe.frequency(wave));
    const positions = Array.from({length: rows}, (_, i) => offset + i);
    const exact = await exactRows(
        table,
        rows,
        {dtype: 'f32', offset: String(offset), length: String(rows)},
        signal,
    );
    return {
        recipe,
        waves,
        positions,
        givenBase: base,
        growth: await growthOf(table, waves, frequencies, signal),
        ...compareWaves(waves, frequencies, exact, positions, columns),
    };
}

const places = (error) => Math.max(0, Math.floor(-Math.log10(2 * Math.abs(error))));
const unitsOff = ({error, exact}) => Math.abs(error) / unitOf(exact);

// The error in units in the last place, as text; '' if the exact value is 0, whose units are
// tiny.
function unitsText(entry) {
    const units = unitsOff(entry);
    if (entry.exact === 0) return '';
    const number =
        units < 1e6
            ? Math.round(units).toLocaleString('en')
            : units.toExponential(1).replace('e+', 'e');
    return `${number} unit${units === 1 ? '' : 's'} in the last place`;
}

const entryText = (entry) =>
    [
        `exact ${shortest('f32', entry.exact)}`,
        `recipe ${shortest('f32', entry.recipe)}`,
        `error ${brief(entry.error)}`,
        unitsText(entry),
    ]
        .filter(Boolean)
        .join(', ');
const plural = (number, word) => `${number} ${word}${number === 1 ? '' : 's'}`;

// The result as a sentence.
export function describeLoss(judged, columns) {
    if (!judged)
        return (
            'No column is a sine or a cosine of the position, so that there is no recipe ' +
            'to compare with.'
        );
    const {waves, worst, wrong, entries, positions, recipe, rowWorst, givenBase} = judged;
    if (!recipe) return NOT_MEASURED;
    if (waves.length === 0)
        return (
            'No column has a frequency of base^(−2i/dim) that this recipe ' +
            `(${recipe.code}) makes; choose the rounded one.`
        );
    const left = columns - waves.length;
    const omitted =
        left > 0
            ? ' Columns left out, since they are no plain sines or cosines at frequencies of ' +
              `this recipe: ${left} of ${columns}.`
            : '';
    const scaled =
        recipe.geometric && waves[0].base !== givenBase
            ? ` The recipe takes the scaled base ${brief(waves[0].base)}.`
            : '';
    const span = `At positions ${positions[0]} to ${positions.at(-1)}`;
    const middle = rowWorst[Math.floor((positions.length - 1) / 2)];
    const subject =
        positions.length > 1
            ? ` In the middle, at position ${middle.position}, the worst error is ` +
              `${brief(Math.abs(middle.error))}, in dimension ${middle.column}.`
            : '';
    if (worst.error === 0) return `${span} the recipe gives the exact table.${omitted}`;
    const share = Number(((100 * wrong) / entries).toPrecision(3));
    return [
        `${span} the recipe is wrong by up to ${brief(Math.abs(worst.error))}: at position ` +
            `${worst.position}, dimension ${worst.column}, it gives ` +
            `${shortest('f32', worst.recipe)} where the exact value is ` +
            `${shortest('f32', worst.exact)}.`,
        `${worst.exact === 0 ? 'That' : `That is ${unitsText(worst)} of float32, and`} ` +
            `leaves about ${plural(places(worst.error), 'decimal place')} right.`,
        `Of ${entries.toLocaleString('en')} entries ${wrong.toLocaleString('en')} ` +
            `(${brief(share)} %) are not the exact ones.${subject}${scaled}${omitted}`,
    ].join(' ');
}

function lines(judgements, tables, colours, pick) {
    return judgements.flatMap((judged, i) => {
        const worst = judged?.waves.length > 0 ? pick(judged).filter(Boolean) : [];
        if (worst.length === 0) return [];
        const sizes = worst.map(({entry}) => (entry.error === 0 ? NaN : Math.abs(entry.error)));
        return [
            {
                length: worst.length,
                x: (k) => worst[k].x,
                y: (k) => sizes[k],
                entry: (k) => worst[k].entry,
                colour: [colours.left, colours.right][i],
                dashed: i === 1,
                side: sideName(tables, i),
            },
        ];
    });
}

// A chart of errors on a logarithmic axis; `tell` reads the entry under the cursor.
function errorChart(
    title,
    axis,
    series,
    {colours, width, hover, signal, rules = [], type = 'linear', height = 260},
) {
    const values = series.flatMap(({length, y}) => Array.from({length}, (_, k) => y(k)));
    const ends = series.flatMap(({length, x}) => [x(0), x(length - 1)]);
    const [from, to] = [Math.min(...ends), Math.max(...ends)];
    const domain = type === 'log' ? decadesOf([from, to]) : [from, to > from ? to : from + 1];
    const positive = values.filter((each) => each > 0);
    const least = positive.reduce((a, b) => Math.min(a, b), Infinity);
    const most = positive.reduce((a, b) => Math.max(a, b), 0);
    const chart = createChart({
        series,
        colours,
        width,
        height,
        rules,
        x: {title: axis, type, domain},
        y: {title: 'worst error', type: 'log', domain: decadesOf(values)},
        label:
            `${title}: from ${brief(least)} to ${brief(most)}, on a logarithmic axis. ` +
            'Arrow keys move the cursor.',
    });
    linkCharts([chart], {
        signal,
        tell(at) {
            const parts =
                at == null
                    ? []
                    : series.flatMap(({length, x, entry, side}) => {
                          const k = Array.from({length}, (_, i) => i).find((i) => x(i) === at);
                          return k === undefined
                              ? []
                              : [
                                    `${side}position ${entry(k).position}, dimension ` +
                                        `${entry(k).column}: ${entryText(entry(k))}`,
                                ];
                      });
            hover(parts.join(' · '));
        },
    });
    return titled(title, chart);
}

function growthTable(judgements, tables) {
    const shown = judgements
        .map((judged, i) => ({judged, i}))
        .filter(({judged}) => judged?.growth);
    const head = h(
        'tr',
        {},
        h('th', {scope: 'col'}, 'from position'),
        ...shown.map(({i}) => h('th', {scope: 'col'}, `${sideName(tables, i)}worst error`)),
    );
    const rows = starts().map((start, k) =>
        h(
            'tr',
            {},
            h('th', {scope: 'row'}, String(start)),
            ...shown.map(({judged}) =>
                h('td', {}, brief(Math.abs(judged.growth[k].worst.error))),
            ),
        ),
    );
    return h(
        'details',
        {class: 'precision-table'},
        h('summary', {}, 'The growth as a table'),
        h('table', {}, h('thead', {}, head), h('tbody', {}, ...rows)),
    );
}

function draw(container, judgements, {tables, hover, mark, colours, signal, width}) {
    const words = judgements.map((judged, i) =>
        h(
            'p',
            {class: 'precision-words'},
            tables.length > 1 ? h('b', {}, `${'AB'[i]}: `) : null,
            describeLoss(judged, tables[i].columns),
        ),
    );
    container.append(...words);
    const all = {colours, width, hover, signal};
    const rules = markRules(mark, {axis: 'n'});
    const byPosition = lines(judgements, tables, colours, ({rowWorst}) =>
        rowWorst.map((entry) => ({x: entry.position, entry})),
    );
    if (byPosition.length === 0) return;
    const byDimension = lines(judgements, tables, colours, ({columnWorst}) =>
        columnWorst.map((entry, column) => entry && {x: column, entry}),
    );
    const growth = lines(judgements, tables, colours, (judged) =>
        judged.growth.map(({position, worst}) => ({x: position, entry: worst})),
    );
    container.append(
        legendOf(
            tables.length > 1
                ? byPosition.map(({side, ...each}) => ({
                      ...each,
                      name: `${side}${tables[each.dashed ? 1 : 0].settings.scheme}`,
                  }))
                : [],
        ),
        errorChart('The worst error at each position', 'position', byPosition, {...all, rules}),
        errorChart(
            'The worst error in each dimension, a gap where there is none',
            'dimension',
            byDimension,
            all,
        ),
        errorChart(
            'How the error grows: each dot is the worst of up to ' +
                `${SAMPLES} positions from there on`,
            'position',
            growth,
            {...all, rules, type: 'log'},
        ),
        growthTable(judgements, tables),
    );
}

// The view's part of the address as legal numbers: {recipe, offset, rows}.
function settingsOf(options, tables) {
    const most = Math.max(
        1,
        Math.floor(MOST_ELEMENTS / Math.max(...tables.map(({columns}) => columns))),
    );
    const rows = Math.max(
        1,
        Math.min(Math.trunc(Number(options['precision.rows'])) || ROWS, most),
    );
    const given = Number(options['precision.offset'] || NaN);
    const usual = SUBJECT - Math.floor(rows / 2) + 1;
    const offset = Number.isFinite(given)
        ? Math.max(-MOST_POSITION, Math.min(given, MOST_POSITION - rows))
        : usual;
    return {recipe: options['precision.recipe'] ?? '', offset, rows};
}

const mistakeOf = (given, taken) =>
    !given || Number(given) === taken ? '' : `${given} cannot be had; ${taken} is taken`;

function render(container, context) {
    const {tables, options, update, signal, until} = context;
    const settings = settingsOf(options, tables);
    const body = h(
        'div',
        {class: 'precision-body', 'aria-busy': 'true'},
        h('p', {class: 'quiet'}, 'Computing the recipe …'),
    );
    const number = (name, label, value) =>
        listField({
            id: `precision-${name}`,
            label,
            value,
            size: 9,
            mistake: mistakeOf(options[`precision.${name}`], value),
            changed: (text) => update({[`precision.${name}`]: text}),
        });
    container.append(
        precisionNote(),
        h(
            'div',
            {class: 'buttons'},
            choiceField({
                id: 'precision-recipe',
                label: 'float32 recipe',
                value: settings.recipe,
                choices: [
                    ['', 'the usual one'],
                    ...RECIPES.map(({name, title}) => [name, title]),
                ],
                changed: (value) => update({'precision.recipe': value}),
            }),
            number('offset', 'positions from', settings.offset),
            number('rows', 'how many', settings.rows),
        ),
        body,
    );
    until(
        Promise.all(tables.map((table) => judge(table, settings, signal)))
            .then((judgements) => {
                if (signal.aborted) return;
                const codes = [
                    ...new Set(
                        judgements.map((judged) => judged?.recipe?.code).filter(Boolean),
                    ),
                ];
                body.replaceChildren(
                    ...codes.map((code) =>
                        h(
                            'p',
                            {class: 'precision-code'},
                            h('code', {}, code),
                            ', then sin and cos of position × frequency, all in float32',
                        ),
                    ),
                );
                draw(body, judgements, context);
            })
            .catch((error) => {
                if (signal.aborted || error.name === 'AbortError') return;
                body.replaceChildren(h('p', {class: 'error'}, error.message));
            })
            .finally(() => body.removeAttribute('aria-busy')),
    );
}

export default {
    name: 'precision',
    title: 'Precision',
    applies: (tensor, scheme) =>
        mayWave(tensor, scheme) && Boolean(baseOf(scheme)) && takesFloats(scheme),
    render,
};
