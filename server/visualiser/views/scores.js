// The attention score of random queries and keys that turn with their positions, over the
// distance: for the settings as they are, and for the other choices that their scheme has, one
// line each.
import {createChart, indexOf, linkCharts, reachOf, roomy, titled} from '../charts.js';
import {h} from '../dom.js';
import {choiceField} from '../lists.js';
import {scoresNote} from '../notes.js';
import {brief} from '../numbers.js';
import {normals} from '../random.js';
import {loadTable} from '../tables.js';
import {coordinatesIn, pairsOf} from '../turning.js';
import {trainingOf, variantsOf} from '../variants.js';
import {orderOf, sideName} from './waves.js';

const ELEMENTS = 2 ** 20; // of one tensor of a line
const AROUND = 190; // pixels that controls and legends take of the height
const FEW = 3; // lines that are shown unless others are asked for
const LOW = 320,
    HIGH = 560;
const DRAWS = [
    ['', 'the mean of 64'],
    ['1', 'a single one'],
    ['1024', 'the mean of 1024'],
];
const STANDARD_DRAWS = 64;
const KEYS = [
    ['', 'the query itself'],
    ['other', 'another random vector'],
];
const SEEDS = 2 ** 32;
const DRAWN = 2 ** 24; // random numbers at most

const clamp = (value, least, most) => Math.max(least, Math.min(value, most));
const sixDigits = (x) => String(Number(x.toPrecision(6)));

// ---- scores ----

// The sums over all draws that a score is made of: a pair contributes cos * along + sin *
// across, where cos and sin turn the query and the key is turned already. `keyTurn(pair)` is
// {cos, sin} of the key.
function weightsOf({seed, draws, other}, count, keyTurn) {
    const next = normals(seed);
    const along = new Float64Array(count),
        across = new Float64Array(count);
    for (let draw = 0; draw < draws; draw++) {
        const query = next(2 * count),
            key = other ? next(2 * count) : query;
        for (let pair = 0; pair < count; pair++) {
            const [qx, qy, kx, ky] = [
                query[2 * pair],
                query[2 * pair + 1],
                key[2 * pair],
                key[2 * pair + 1],
            ];
            const {cos, sin} = keyTurn(pair);
            const [tx, ty] = [kx * cos - ky * sin, kx * sin + ky * cos];
            along[pair] += qx * tx + qy * ty;
            across[pair] += qx * ty - qy * tx;
        }
    }
    const scale = 1 / (draws * Math.sqrt(2 * count));
    return {
        along: along.map((each) => each * scale),
        across: across.map((each) => each * scale),
    };
}

// {length, x(i): distance, y(i): mean score, stretch: the length of a pair}: the key stands at
// the first position, the query at each of them.
function curveOf(cosines, sines, drawing) {
    const order = orderOf(cosines);
    const {count, columnOf} = pairsOf(cosines);
    const first = order.row(0),
        start = order.x(0);
    const {along, across} = weightsOf(drawing, count, (pair) => ({
        cos: cosines.value(first, columnOf(pair)),
        sin: sines.value(first, columnOf(pair)),
    }));
    const scores = Float64Array.from({length: order.length}, (_, i) => {
        let score = 0;
        for (let pair = 0; pair < count; pair++)
            score +=
                cosines.value(order.row(i), columnOf(pair)) * along[pair] +
                sines.value(order.row(i), columnOf(pair)) * across[pair];
        return score;
    });
    return {
        scores,
        length: order.length,
        x: (i) => order.x(i) - start,
        y: (i) => scores[i],
        count,
        stretch: Math.hypot(cosines.value(first, 0), sines.value(first, 0)),
    };
}

// A variant's curve, or {refused: message}.
async function loadCurve(table, names, variant, drawing, signal) {
    const {scheme, tensor, totalRows} = table;
    try {
        const {parameters, described} = await variant.load();
        const settings = {...table.settings, parameters};
        const rows = Math.min(totalRows, Math.max(1, Math.floor(ELEMENTS / tensor.shape[1])));
        const [cosines, sines] = await Promise.all(
            names.map((name) =>
                loadTable(scheme, settings, {
                    tensor: name,
                    rows,
                    waves: false,
                    described: described ?? undefined,
                    signal,
                }),
            ),
        );
        return curveOf(cosines, sines, drawing);
    } catch (error) {
        if (error.name === 'AbortError' || error.status === undefined) throw error;
        return {refused: error.message};
    }
}

// ---- which lines ----

// {side, table, names, variants: those of a table, each with `shown`}; alone, its own and the
// next ones that need no lists; beside another table, each side's own.
function sidesOf({tables, mark, options}) {
    const sides = tables
        .map((table, side) => ({side, table, names: namesOf(table.tensor, table.scheme)}))
        .filter(({names}) => names);
    const asked = options['scores.variants']?.split(',');
    return sides.map((each) => {
        const variants = variantsOf(each.table, mark);
        const few = [
            ...variants.filter(({own}) => own),
            ...variants.filter(({own, lists}) => !own && !lists),
        ].slice(0, sides.length > 1 ? 1 : FEW);
        return {
            ...each,
            variants: variants.map((variant) => ({
                ...variant,
                shown: asked ? asked.includes(variant.choice) : few.includes(variant),
            })),
        };
    });
}

const lineName = (sides, side, {choice}) =>
    [sides.length > 1 ? 'AB'[side] : '', choice].filter(Boolean).join(' ') || 'score';

// All lines, in the order of the legend: {name, colour, dashed, curve, same: the name of an
// equal one before}.
async function loadLines(sides, drawing, {colours: {categorical}, signal}) {
    const asked = sides.flatMap(({side, table, names, variants}) =>
        variants
            .map((variant, i) => ({side, table, names, variant, i}))
            .filter(({variant}) => variant.shown),
    );
    const lines = await Promise.all(
        asked.map(async ({side, table, names, variant, i}) => ({
            side,
            table,
            choice: variant.choice,
            name: lineName(sides, side, variant),
            colour: categorical[i % categorical.length],
            dashed: side === 1 || i >= categorical.length,
            ...(await loadCurve(table, names, variant, drawing, signal)),
        })),
    );
    lines.forEach((line, at) => {
        line.same = line.refused
            ? undefined
            : lines
                  .slice(0, at)
                  .find(
                      ({scores}) =>
                          scores?.length === line.scores.length &&
                          scores.every((each, i) => each === line.scores[i]),
                  )?.name;
    });
    return lines;
}

// ---- controls ----

// A box for each choice; what is switched off has no line.
function chooser(sides, lines, {update, tables}) {
    const choices = [
        ...new Set(sides.flatMap(({variants}) => variants.map(({choice}) => choice))),
    ].filter(Boolean);
    const shown = new Set(
        sides.flatMap(({variants}) =>
            variants.filter((each) => each.shown).map(({choice}) => choice),
        ),
    );
    const toggle = (choice, on) =>
        update({
            'scores.variants': choices
                .filter((each) => (each === choice ? on : shown.has(each)))
                .join(),
        });
    if (choices.length === 0) return null;
    return h(
        'div',
        {class: 'scores-variants', role: 'group', 'aria-label': 'Lines'},
        ...choices.map((choice) => {
            const mine = lines.filter((line) => line.choice === choice);
            const box = h('input', {
                type: 'checkbox',
                id: `scores-${choice}`,
                checked: shown.has(choice),
                disabled: shown.size === 1 && shown.has(choice),
                onchange: () => toggle(choice, box.checked),
            });
            const samples = mine
                .filter(({refused, same}) => !refused && !same)
                .map(({colour, dashed}) => {
                    const sample = h('span', {
                        class: dashed ? 'chart-dashed' : 'chart-solid',
                        'aria-hidden': 'true',
                    });
                    sample.style.borderColor = colour;
                    return sample;
                });
            const told = mine
                .map(
                    ({same, side}) =>
                        same && `${tables.length > 1 ? `${'AB'[side]} ` : ''}as ${same}`,
                )
                .filter(Boolean)
                .join(', ');
            return h(
                'label',
                {},
                box,
                ...samples,
                choice,
                told && h('span', {class: 'quiet'}, ` (${told})`),
            );
        }),
    );
}

// What is drawn: {seed, draws, other}, and no more than can be computed while one waits.
function drawingOf({options}, sides) {
    const seed = Number(options['scores.seed'] ?? 0);
    const draws = DRAWS.some(([value]) => value === options['scores.draws'])
        ? Number(options['scores.draws'] || STANDARD_DRAWS)
        : STANDARD_DRAWS;
    const most = Math.floor(
        DRAWN / Math.max(...sides.map(({table}) => 2 * pairsOf(table).count)),
    );
    return {
        seed: Number.isInteger(seed) && seed >= 0 && seed < SEEDS ? seed : 0,
        draws: Math.max(1, Math.min(draws, most)),
        other: options['scores.key'] === 'other',
    };
}

function controls({seed}, {options, update}) {
    const put = (value) => update({'scores.seed': value === 0 ? '' : String(value)});
    const input = h('input', {
        id: 'scores-seed',
        type: 'number',
        min: 0,
        max: SEEDS - 1,
        step: 1,
        value: seed,
        onchange: () => put(clamp(Math.trunc(Number(input.value)) || 0, 0, SEEDS - 1)),
    });
    return h(
        'div',
        {class: 'buttons scores-controls'},
        choiceField({
            id: 'scores-key',
            label: 'key',
            value: options['scores.key'] ?? '',
            choices: KEYS,
            changed: (value) => update({'scores.key': value}),
        }),
        choiceField({
            id: 'scores-draws',
            label: 'draws',
            value: options['scores.draws'] ?? '',
            choices: DRAWS,
            changed: (value) => update({'scores.draws': value}),
        }),
        h('label', {}, 'seed ', input),
        h(
            'button',
            {type: 'button', id: 'scores-again', onclick: () => put((seed + 1) % SEEDS)},
            'Draw again',
        ),
    );
}

// ---- the picture ----

function rulesOf(sides, mark) {
    const all = sides
        .map(({side, table}) => ({side, ...trainingOf(table, mark)}))
        .filter(({length}) => length > 0);
    const told = all.filter(({from}) => from !== 'table');
    const lengths = told.length > 0 ? told : all;
    const differ = lengths.some(({length}) => length !== lengths[0].length);
    return (differ ? lengths : lengths.slice(0, 1)).map(({side, length, from}) => ({
        x: length,
        text:
            `${differ ? `${'AB'[side]} ` : ''}${from === 'table' ? 'taken as ' : ''}` +
            `trained to ${brief(length)}`,
    }));
}

function show({note, body}, {sides, lines, drawing}, context) {
    const {colours, hover, signal, width, height, mark} = context;
    const drawn = lines.filter(({refused, same}) => !refused && !same);
    const refused = lines
        .filter((line) => line.refused)
        .map((line) => h('p', {class: 'failed'}, `${line.name}: ${line.refused}`));
    const [one] = drawn;
    note.replaceWith(scoresNote(drawn, drawing));
    body.replaceChildren(...[...refused, chooser(sides, lines, context)].filter(Boolean));
    if (!one) return;
    const partial =
        one.length < one.table.totalRows
            ? h(
                  'p',
                  {class: 'quiet'},
                  `Drawn for the first ${one.length} of ${one.table.totalRows} rows.`,
              )
            : null;
    const x = {title: 'distance, query minus key', domain: reachOf(drawn, 'x')};
    const [least, most] = reachOf(drawn);
    const chart = createChart({
        series: drawn,
        x,
        y: {title: 'score', domain: roomy([least, most])},
        rules: rulesOf(sides, mark),
        colours,
        width,
        height: clamp(height - AROUND, LOW, HIGH),
        label:
            `Attention score over the distance from ${brief(x.domain[0])} to ` +
            `${brief(x.domain[1])} of ${drawn.map(({name}) => name).join(', ')}: ` +
            `${brief(least)} to ${brief(most)}. Arrow keys move the cursor.`,
    });
    const tell = (at) =>
        [
            `distance ${at}`,
            ...drawn.flatMap((line) => {
                const i = indexOf(line, at);
                return i < 0 ? [] : [`${line.name} ${sixDigits(line.y(i))}`];
            }),
        ].join(' · ');
    body.append(titled('', chart), ...(partial ? [partial] : []));
    linkCharts([chart], {signal, tell: (at) => hover(at == null ? '' : tell(at))});
}

function render(container, context) {
    const {signal, until, tables} = context;
    const sides = sidesOf(context),
        drawing = drawingOf(context, sides);
    const body = h(
        'div',
        {class: 'scores-body', 'aria-busy': 'true'},
        h('p', {class: 'quiet'}, 'Computing scores …'),
    );
    const lacking =
        tables.length > sides.length
            ? [
                  h(
                      'p',
                      {class: 'quiet'},
                      `${sideName(tables, 1 - sides[0].side)}has no cosines and sines that ` +
                          'turn queries and keys.',
                  ),
              ]
            : [];
    const note = scoresNote([], drawing);
    container.append(note, controls(drawing, context), ...lacking, body);
    until(
        loadLines(sides, drawing, context)
            .then((lines) => {
                if (!signal.aborted) show({note, body}, {sides, lines, drawing}, context);
            })
            .catch((error) => {
                if (signal.aborted || error.name === 'AbortError') return;
                console.error(error);
                body.replaceChildren(h('p', {class: 'failed'}, error.message));
            })
            .finally(() => body.removeAttribute('aria-busy')),
    );
}

// The names of the cosines and sines by which queries and keys turn.
function namesOf(tensor, scheme) {
    const names = coordinatesIn(tensor, scheme);
    return names?.[0] === 'cos' ? names : undefined;
}

export default {
    name: 'scores',
    title: 'Scores',
    applies: (tensor, scheme) => Boolean(namesOf(tensor, scheme)),
    render,
};
