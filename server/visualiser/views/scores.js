// The attention score of random queries and keys that turn with their positions, over the
// distance: for the settings as they are, and for the other choices that their scheme has, one
// line each.
import {drawLoaded, optionField} from '../controls.js';
import {createChart, indexOf, linkCharts, reachOf, roomy, sampleOf, titled} from '../charts.js';
import {h} from '../dom.js';
import {scoresNote} from '../notes.js';
import {brief, clamp, sixDigits} from '../numbers.js';
import {
    drawingControls,
    drawingOf,
    loadPlaces,
    loadTurns,
    rotationOf,
    scoresOfKey,
    stretchOf,
    weightsOf,
} from '../rotated.js';
import {trainingOf, variantsOf} from '../variants.js';
import {sideName} from './waves.js';

const ELEMENTS = 2 ** 20; // of one tensor of a line
const AROUND = 190; // pixels that controls and legends take of the height
const FEW = 3; // lines that are shown unless others are asked for
const LOW = 320,
    HIGH = 560;

// ---- scores ----

// The rows along which a grid is crossed: along one of its axes, the others standing still, or
// along all of them at once, as text does. {name, rows: their numbers in order, x(i): the
// coordinate}; those with one row only are left out.
function linesThrough({names, at}, count) {
    const alone = names.map((name, axis) => ({
        name,
        axis,
        fixed: (i) => at.filter((_, other) => other !== axis).map((each) => each(i)),
    }));
    const together = {
        name: 'all axes at once',
        axis: 0,
        fixed: (i) => at.slice(1).map((each) => each(i) - at[0](i)),
    };
    return [...alone, ...(names.length > 1 ? [together] : [])]
        .map(({name, axis, fixed}) => {
            const groups = new Map();
            for (let i = 0; i < count; i++) {
                const key = fixed(i).join();
                if (!groups.has(key)) groups.set(key, new Map());
                if (!groups.get(key).has(at[axis](i))) groups.get(key).set(at[axis](i), i);
            }
            const longest = [...groups.values()].reduce((one, other) =>
                other.size > one.size ? other : one,
            );
            const order = [...longest].sort(([one], [other]) => one - other);
            return {name, rows: order.map(([, row]) => row), x: (i) => order[i][0]};
        })
        .filter(({rows}, i) => rows.length > 1 || i === 0);
}

const longestLine = (lines) =>
    lines.reduce((one, other) => (other.rows.length > one.rows.length ? other : one));

// {length, x(i): distance, y(i): mean score, stretch: the length of a pair, if all pairs have
// it}: the key stands at the first place, the query at each of them.
function curveOf(turns, lines, along, drawing) {
    const line = lines.find(({name}) => name === along) ?? longestLine(lines);
    const weights = weightsOf(drawing, turns.count);
    const all = scoresOfKey(turns, weights, line.rows[0]);
    const scores = Float64Array.from(line.rows, (row) => all[row]);
    return {
        scores,
        line,
        lines,
        rows: turns.rows,
        length: scores.length,
        x: (i) => line.x(i) - line.x(0),
        y: (i) => scores[i],
        stretch: stretchOf(turns),
    };
}

// A variant's curve, or {refused: message}.
async function loadCurve(table, variant, {drawing, along}, signal) {
    const {tensor, totalRows} = table;
    try {
        const {parameters, described} = await variant.load();
        const settings = {...table.settings, parameters};
        const rows = Math.min(totalRows, Math.max(1, Math.floor(ELEMENTS / tensor.shape[1])));
        const [turns, places] = await Promise.all([
            loadTurns(table, settings, {described, rows}, signal),
            loadPlaces(table, signal),
        ]);
        return curveOf(turns, linesThrough(places, turns.rows), along, drawing);
    } catch (error) {
        if (error.name === 'AbortError' || error.status === undefined) throw error;
        return {refused: error.message};
    }
}

// ---- which lines ----

// {side, table, variants: those of a table, each with `shown`}; alone, its own and the
// next ones that need no lists; beside another table, each side's own.
function sidesOf({tables, mark, options}) {
    const sides = tables
        .map((table, side) => ({side, table}))
        .filter(({table: {tensor, scheme}}) => hasScores(tensor, scheme));
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
async function loadLines(sides, chosen, {colours: {categorical}, signal}) {
    const asked = sides.flatMap(({side, table, variants}) =>
        variants
            .map((variant, i) => ({side, table, variant, i}))
            .filter(({variant}) => variant.shown),
    );
    const lines = await Promise.all(
        asked.map(async ({side, table, variant, i}) => ({
            side,
            table,
            choice: variant.choice,
            name: lineName(sides, side, variant),
            colour: categorical[i % categorical.length],
            dashed: side === 1 || i >= categorical.length,
            ...(await loadCurve(table, variant, chosen, signal)),
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
            const samples = mine.filter(({refused, same}) => !refused && !same).map(sampleOf);
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

// Along which axis of a grid.
const axisChooser = ([one], context) =>
    one?.lines.length > 1 &&
    optionField(
        context,
        'scores.axis',
        'along',
        one.lines.map(({name}) => [name, name]),
        longestLine(one.lines).name,
    ).field;

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
    body.replaceChildren(
        ...[...refused, axisChooser(drawn, context), chooser(sides, lines, context)].filter(
            Boolean,
        ),
    );
    if (!one) return;
    const partial =
        one.rows < one.table.totalRows
            ? h(
                  'p',
                  {class: 'quiet'},
                  `Drawn for the first ${one.rows} of ${one.table.totalRows} rows.`,
              )
            : null;
    const x = {
        title: `distance${one.line.name && ` along ${one.line.name}`}, query minus key`,
        domain: reachOf(drawn, 'x'),
    };
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
    const {tables} = context;
    const sides = sidesOf(context),
        drawing = drawingOf(context, tables);
    const body = h(
        'div',
        {class: 'scores-body'},
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
    container.append(
        note,
        h('div', {class: 'buttons scores-controls'}, ...drawingControls(drawing, context)),
        ...lacking,
        body,
    );
    drawLoaded(
        context,
        body,
        loadLines(sides, {drawing, along: context.options['scores.axis']}, context),
        (lines) => show({note, body}, {sides, lines, drawing}, context),
    );
}

// Whether a tensor is one of those by which queries and keys turn.
const hasScores = (tensor, scheme) => Boolean(rotationOf(tensor, scheme)?.drawn);

export default {
    name: 'scores',
    title: 'Scores',
    options: ['key', 'draws', 'seed', 'axis', 'variants'],
    tools: ['mark'],
    applies: hasScores,
    charts: true,
    render,
};
