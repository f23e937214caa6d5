// What the usual recipe loses in float32, or with positions, frequencies, angles or results in
// half precision: the exact table against it, at any position, and how the loss grows with the
// position. The recipe is computed here: see recipes.js.
import {listField, drawLoaded, optionField, scrolled, tableOf} from '../controls.js';
import {getElements} from '../api.js';
import {createChart, decadesOf, legendOf, linkCharts, titled} from '../charts.js';
import {h} from '../dom.js';
import {precisionNote} from '../notes.js';
import {brief, shortest, clamp} from '../numbers.js';
import {PROBES, RECIPES, SINGLE, STAGES, entryOf, unitOf, wavesOf} from '../recipes.js';
import {titlesOf} from '../schema.js';
import {NOT_MEASURED} from './spectrum.js';
import {markRules, mayWave, sideName} from './waves.js';

const SUBJECT = 131071; // the last position of a context of 128 Ki
const ROWS = 128;
const MOST_ELEMENTS = 2 ** 20;
const MOST_POSITION = 2 ** 53;
const BASE = /^(base|.*theta)$/;
const DECADES = 6; // the growth is shown up to 10^DECADES
const FORMATS = {f32: 'float32', f16: 'float16', bf16: 'bfloat16'};
const HALVES = ['f16', 'bf16'];
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
function compareWaves(waves, {frequencies, formats}, exact, positions, columns) {
    const rowWorst = positions.map(() => null),
        columnWorst = Array.from({length: columns}, () => null);
    let worst = null,
        wrong = 0;
    const larger = (one, other) => other === null || Math.abs(one) > Math.abs(other.error);
    positions.forEach((position, row) =>
        waves.forEach((wave, k) => {
            const {column} = wave;
            const right = exact[row * columns + column];
            const made = entryOf({...wave, frequency: frequencies[k]}, position, formats);
            const error = Number.isNaN(made) ? Infinity : made - right;
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

// Positions that the growth looks at: a few from each start on.
const samplesOf = ({columns}) =>
    Math.max(1, Math.min(SAMPLES, Math.floor(MOST_ELEMENTS / (columns * starts().length))));
const growthPositions = (samples) =>
    starts().flatMap((start) => Array.from({length: samples}, (_, i) => start + i));

// The worst of the positions from each start on: [{position, worst}]. `exact`: their rows.
function growthOf({columns}, waves, made, exact, samples) {
    const {rowWorst} = compareWaves(waves, made, exact, growthPositions(samples), columns);
    return starts().map((start, i) => ({
        position: start,
        worst: rowWorst
            .slice(i * samples, (i + 1) * samples)
            .reduce((worst, each) =>
                Math.abs(each.error) > Math.abs(worst.error) ? each : worst,
            ),
    }));
}

// What each stage alone in half precision loses, all else in float32: [{stage, format, worst,
// broken: the first start at which no decimal place is right, or undefined}].
const halvesOf = (frequencies, compare, grow) =>
    STAGES.flatMap((stage) =>
        HALVES.map((format) => {
            const made = {frequencies, formats: {...SINGLE, [stage]: format}};
            const broken = grow(made).find(({worst}) => places(worst.error) === 0);
            return {stage, format, worst: compare(made).worst, broken: broken?.position};
        }),
    );

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
async function judge(table, {recipe: name, offset, rows, formats}, signal) {
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
    const samples = samplesOf(table);
    const rowsAt = (count, patch) => exactRows(table, count, {dtype: 'f32', ...patch}, signal);
    const exact = await rowsAt(rows, {offset: String(offset), length: String(rows)});
    const grown = await rowsAt(starts().length * samples, {
        positions: growthPositions(samples).join(),
    });
    const compare = (made) => compareWaves(waves, made, exact, positions, columns);
    const grow = (made) => growthOf(table, waves, made, grown, samples);
    const made = {frequencies, formats};
    return {
        recipe,
        formats,
        waves,
        positions,
        givenBase: base,
        growth: grow(made),
        halves: halvesOf(frequencies, compare, grow),
        ...compare(made),
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
function describeLoss(judged, columns) {
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
    const all = wrong === entries ? 100 : 99.9; // what is not all is not rounded to it
    const share = Math.min(all, Number(((100 * wrong) / entries).toPrecision(3)));
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
        const sizes = worst.map(({entry: {error}}) =>
            error === 0 || error === Infinity ? NaN : Math.abs(error),
        );
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
    return h(
        'details',
        {class: 'precision-table'},
        h('summary', {}, 'The growth as a table'),
        tableOf(
            ['from position', ...shown.map(({i}) => `${sideName(tables, i)}worst error`)],
            starts().map((start, k) => [
                start,
                ...shown.map(({judged}) => brief(Math.abs(judged.growth[k].worst.error))),
            ]),
        ),
    );
}

// "all in float32", or the stages that are not, and the rest.
function spoken(formats) {
    const others = STAGES.filter((stage) => formats[stage] !== 'f32');
    const rest = others.length > 0 ? 'all else in float32' : 'all in float32';
    return [...others.map((stage) => formatName(stage, formats[stage])), rest].join(', ');
}

const formatName = (stage, format) => `${stage} in ${FORMATS[format]}`;

// Where half precision breaks: each stage alone.
function halvesTable(judgements, tables) {
    const shown = judgements
        .map((judged, i) => ({judged, side: sideName(tables, i)}))
        .filter(({judged}) => judged?.halves);
    if (shown.length === 0) return null;
    const {positions, halves} = shown[0].judged;
    const heads = shown.flatMap(({side}) => [
        `${side}worst error at positions ${positions[0]} to ${positions.at(-1)}`,
        `${side}no decimal place right from about position`,
    ]);
    const rows = halves.map(({stage, format}, k) => [
        formatName(stage, format),
        ...shown.flatMap(({judged}) => {
            const {worst, broken} = judged.halves[k];
            return [
                Number.isFinite(worst.error) ? brief(Math.abs(worst.error)) : 'no number',
                broken ?? 'never',
            ];
        }),
    ]);
    const caption = 'Half precision in one place, float32 in all others';
    return scrolled(
        caption,
        tableOf(['stage', ...heads], rows, {caption, class: 'numbers precision-halves'}),
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
    container.append(...words, halvesTable(judgements, tables) ?? '');
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
                ? byPosition.map((each) => ({
                      ...each,
                      name: titlesOf(tables)[each.dashed ? 1 : 0],
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

// The view's part of the address as legal numbers: {offset, rows}.
function settingsOf(options, tables) {
    const most = Math.max(
        1,
        Math.floor(MOST_ELEMENTS / Math.max(...tables.map(({columns}) => columns))),
    );
    const rows = clamp(Math.trunc(Number(options['precision.rows'])) || ROWS, 1, most);
    const given = Number(options['precision.offset'] || NaN);
    const usual = SUBJECT - Math.floor(rows / 2) + 1;
    const offset = Number.isFinite(given)
        ? clamp(given, -MOST_POSITION, MOST_POSITION - rows)
        : usual;
    return {offset, rows};
}

const mistakeOf = (given, taken) =>
    !given || Number(given) === taken ? '' : `${given} cannot be had; ${taken} is taken`;

function render(container, context) {
    const {tables, options, update, signal} = context;
    const [{dtype}] = tables;
    const recipe = optionField(context, 'precision.recipe', 'recipe', [
        ['', 'the usual one'],
        ...RECIPES.map(({name, title}) => [name, title]),
    ]);
    // results are as the table stores them, all else is float32
    const stages = STAGES.map((stage) =>
        optionField(
            context,
            `precision.${stage}`,
            stage,
            Object.entries(FORMATS),
            stage === 'stored' && HALVES.includes(dtype) ? dtype : 'f32',
        ),
    );
    const settings = {
        ...settingsOf(options, tables),
        recipe: recipe.value,
        formats: Object.fromEntries(stages.map(({value}, i) => [STAGES[i], value])),
    };
    const body = h(
        'div',
        {class: 'precision-body'},
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
            recipe.field,
            ...stages.map(({field}) => field),
            number('offset', 'positions from', settings.offset),
            number('rows', 'how many', settings.rows),
        ),
        body,
    );
    drawLoaded(
        context,
        body,
        Promise.all(tables.map((table) => judge(table, settings, signal))),
        (judgements) => {
            const codes = [
                ...new Set(judgements.map((judged) => judged?.recipe?.code).filter(Boolean)),
            ];
            body.replaceChildren(
                ...codes.map((code) =>
                    h(
                        'p',
                        {class: 'precision-code'},
                        h('code', {}, code),
                        ', then sin and cos of position × frequency; ',
                        spoken(settings.formats),
                    ),
                ),
            );
            draw(body, judgements, context);
        },
    );
}

export default {
    name: 'precision',
    title: 'Precision',
    options: ['recipe', ...STAGES, 'offset', 'rows'],
    tools: ['mark'],
    applies: (tensor, scheme) =>
        mayWave(tensor, scheme) && Boolean(baseOf(scheme)) && takesFloats(scheme),
    charts: true,
    render,
};
