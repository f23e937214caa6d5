// One line above each picture: what it shows, and what there is to notice in these data.
import {h} from './dom.js';
import {pluralOf, rangeText} from './lists.js';
import {brief, reachOf} from './numbers.js';

const PATIENCE = 200; // milliseconds of rest before wavelengths are measured for a line of text
const SAME = 1e-5; // of the range of a matrix: differences below are rounding
const SMALL = 0.2; // of an equal share of attention: biases that change less hardly matter
const LITTLE = 0.01; // of the range of values: differences below can hardly be seen
const STRONG = 0.9, // correlations that hold for nearly all pairs, and …
    LOOSE = 0.5; // … for most of them

// The line; `notice` may be a promise of a text, which then comes later.
export function noteOf(what, notice, {signal} = {}) {
    const more = h('span', {class: 'note-notice'});
    const put = (text) => {
        if (text && !signal?.aborted) more.textContent = ` ${text}`;
    };
    if (typeof notice === 'string') put(notice);
    else notice?.then(put, () => {});
    return h('p', {class: `note${typeof notice === 'string' ? '' : ' note-late'}`}, what, more);
}

// "0–3, 8": numbers in ascending order as ranges.
export function rangesText(numbers) {
    const ranges = [];
    for (const each of numbers) {
        if (ranges.length > 0 && ranges.at(-1)[1] === each - 1) ranges.at(-1)[1] = each;
        else ranges.push([each, each]);
    }
    const shown = ranges
        .slice(0, 4)
        .map(([from, to]) => (from === to ? String(from) : `${from}–${to}`));
    return `${shown.join(', ')}${ranges.length > 4 ? ' …' : ''}`;
}

export function percentText(part) {
    return `${Number((100 * part).toPrecision(2))} %`;
}

// How far a wave goes round within some positions, in degrees.
const degreesText = (span, wavelength) =>
    `${brief(Number(((360 * span) / wavelength).toPrecision(3)))}°`;

// ---- waves ----

// The positions that a table's rows span, or the training length.
function spanOf({row, rows, totalRows}, mark) {
    if (mark > 0) return mark;
    const step = rows > 1 ? Math.abs(row.at(rows - 1) - row.at(0)) / (rows - 1) : 1;
    return step * (totalRows - 1) + 1;
}

// Which columns repeat within `span` positions, and how far the slowest has turned.
export function waveNotice(wavelengths, span) {
    const waves = Array.from(wavelengths ?? []).flatMap((wavelength, column) =>
        Number.isFinite(wavelength) ? [{column, wavelength}] : [],
    );
    if (waves.length === 0) return '';
    const short = waves.filter(({wavelength}) => wavelength <= span).map(({column}) => column);
    const slowest = waves.reduce((one, other) =>
        other.wavelength > one.wavelength ? other : one,
    );
    const within = `within ${brief(span)} positions`;
    if (short.length === waves.length)
        return (
            `All waves repeat ${within}, column ${slowest.column} last, after ` +
            `${brief(slowest.wavelength)}.`
        );
    const many = short.length !== 1;
    const repeat =
        short.length === 0
            ? `No column repeats ${within}`
            : `Column${many ? 's' : ''} ${rangesText(short)} repeat${many ? '' : 's'} ` +
              `${within}`;
    const angle = degreesText(span, slowest.wavelength);
    return `${repeat}; column ${slowest.column} turns by ${angle}.`;
}

// After a rest, a text from the wavelengths of each table: `write(wavelengths, table)`.
export async function fromWavelengths(tables, write, signal) {
    await new Promise((rested) => setTimeout(rested, PATIENCE));
    if (signal.aborted) return '';
    await Promise.all(tables.map(({wavelengthsKnown}) => wavelengthsKnown));
    const texts = tables.map((table) =>
        table.wavelengths ? write(table.wavelengths, table) : '',
    );
    if (texts.every((text) => text === texts[0])) return texts[0];
    return texts
        .map((text, i) => text && `${tables.length > 1 ? `${'AB'[i]}: ` : ''}${text}`)
        .filter(Boolean)
        .join(' ');
}

export const wavesLater = (tables, mark, signal) =>
    fromWavelengths(
        tables,
        (wavelengths, table) => waveNotice(wavelengths, spanOf(table, mark)),
        signal,
    );

// ---- matrices ----

// Whether every diagonal has one value, up to rounding.
export function isToeplitz({data, rows, columns, extent: [least, most]}) {
    if (rows < 3 || columns < 3) return false;
    const room = (most - least) * SAME;
    for (let at = columns + 1; at < rows * columns; at++)
        if (
            at % columns !== 0 &&
            data[at] !== data[at - columns - 1] &&
            !(Math.abs(data[at] - data[at - columns - 1]) <= room)
        )
            return false;
    return true;
}

// What rows, or columns, are: "those of the grid", "positions".
const axisText = (word, title) =>
    title === `table ${word}`
        ? 'those of the table'
        : title === word
          ? 'those of the grid'
          : title.startsWith(`${word} of `)
            ? `those ${title.slice(word.length + 1)}`
            : ['row', 'column'].includes(title)
              ? `${title}s of the grid`
              : pluralOf(title);

// What one row, or column, is.
const oneText = (title) =>
    ['row', 'column'].includes(title) ? `a ${title} of the grid` : `a ${title}`;

function axesText({row, column}) {
    if (!row.title) return 'A single value, its colour.';
    const rows = axisText('row', row.title);
    if (!column.title) return `Rows are ${rows}, each with one value, its colour.`;
    // without a grid they are columns of the table and nothing else
    const gridless = row.axis === 'n' || /[^a-z_]/.test(column.axis);
    if (gridless && column.title === 'column') return `Rows are ${rows}, colours values.`;
    const columns = axisText('column', column.title);
    if (/^columns /.test(rows) || /^rows /.test(columns))
        return (
            `Each row is ${oneText(row.title)}, each column ${oneText(column.title)}; ` +
            'colours are values.'
        );
    return rows === columns
        ? `Rows and columns are ${rows}, colours values.`
        : `Rows are ${rows}, columns ${columns}, colours values.`;
}

export function heatmapNote(tables, mark, signal) {
    const [table] = tables,
        {row, column} = table;
    const what = axesText(table);
    if (table.constant !== null) return noteOf(what, '');
    if (row.axis === 'queries' && column.axis === 'keys')
        return noteOf(
            what,
            isToeplitz(table)
                ? 'Each diagonal has one value: only the distance from query to key counts.'
                : 'Values change along diagonals: not only the distance from query to key ' +
                      'counts.',
        );
    return noteOf(what, wavesLater(tables, mark, signal), {signal});
}

export function similarityNote([table], metric) {
    const word = table.row.title;
    const what =
        `How ${/distance/.test(metric) ? 'far apart' : 'alike'} every two ` +
        `${pluralOf(word)} are: their ${metric}.`;
    return noteOf(
        what,
        table.constant !== null
            ? ''
            : isToeplitz(table)
              ? `Each diagonal has one value: only the difference of two ${pluralOf(word)} ` +
                'counts.'
              : `Values change along diagonals: not only the difference of two ` +
                `${pluralOf(word)} counts, but also which ones they are.`,
    );
}

// ---- lines ----

export function wavesNote(tables, columns, signal) {
    const {row, column} = tables[0];
    const what = !column.title
        ? `The value of each ${row.title}.`
        : column.title === row.title
          ? 'Each line is one column of the matrix, over all its rows.'
          : `Each line is one ${column.title}, over all ${pluralOf(row.title)}.`;
    return noteOf(
        what,
        fromWavelengths(
            tables,
            (wavelengths) => {
                const known = columns.filter((k) => Number.isFinite(wavelengths[k]));
                if (known.length === 0) return '';
                const each = known.map(
                    (k, i) => `${k} ${i === 0 ? 'repeats ' : ''}after ${brief(wavelengths[k])}`,
                );
                const said = `${column.title} ${each.join(', ')}`;
                return (
                    said.replace(/^./, (letter) => letter.toUpperCase()) +
                    ` ${pluralOf(row.title)}.`
                );
            },
            signal,
        ),
        {signal},
    );
}

// How many columns hardly differ between the chosen rows of a table.
export function profilesNote(table, rows, zigzag) {
    const {
        row,
        column,
        columns,
        extent: [least, most],
    } = table;
    const apart = zigzag ? ', columns with odd numbers paler' : '';
    const what = `Each colour is the vector of one ${row.title}${apart}.`;
    if (rows.length < 2 || most === least) return noteOf(what, '');
    let still = 0;
    for (let k = 0; k < columns; k++) {
        const values = rows.map((at) => table.value(at, k));
        if (Math.max(...values) - Math.min(...values) <= LITTLE * (most - least)) still++;
    }
    const between = (how, amount) =>
        `${how} between these ${pluralOf(row.title)} by ${amount} than ` +
        `${percentText(LITTLE)} of the range of values.`;
    const names = pluralOf(column.title);
    return noteOf(
        what,
        still === 0
            ? between(`All ${names} differ`, 'more')
            : still === columns
              ? between(`No ${column.title} differs`, 'more')
              : between(
                    `${still} of ${columns} ${names} differ${still === 1 ? 's' : ''}`,
                    'less',
                ),
    );
}

// The other end of a curve: {at(row)} over an order of positions.
export function distancesNote([curve], {positions, rows}, metric, title) {
    const what = `Each curve: the ${metric} of one ${title} to all others.`;
    if (!curve) return noteOf(what, '');
    const far = /distance/.test(metric);
    let best = -1;
    for (const row of rows)
        if (
            Number.isFinite(curve.at(row)) &&
            (best < 0 || (curve.at(row) - curve.at(best)) * (far ? 1 : -1) > 0)
        )
            best = row;
    if (best < 0) return noteOf(what, '');
    const value = brief(curve.at(best));
    return noteOf(
        what,
        far && curve.at(best) === 0
            ? `No ${title} differs from ${title} ${curve.chosen}.`
            : `${far ? 'Farthest from' : 'Least like'} ${title} ${curve.chosen} is ${title} ` +
                  `${positions[best]}, ${far ? `at a distance of ${value}` : `with ${value}`}.`,
    );
}

// ---- the rest ----

export function headsNote(set, indices, form) {
    const what =
        `${form === 'maps' ? 'A matrix' : 'A line'} for each ` +
        `${set.title}${form === 'maps' ? '' : ', over the distance from query to key'}.`;
    const reaches = indices
        .filter((index) => set.planes.has(index))
        .map((index) => {
            const [least, most] = reachOf(set.planes.get(index)) ?? [NaN, NaN];
            return {index, least, most, size: most - least};
        })
        .filter(({size}) => size >= 0);
    if (reaches.length < 2) return noteOf(what, '');
    const widest = reaches.reduce((one, other) => (other.size > one.size ? other : one)),
        least = reaches.reduce((one, other) => (other.size < one.size ? other : one));
    if (widest.size === least.size)
        return noteOf(what, widest.size > 0 ? 'All reach equally far.' : '');
    const text = (each, verb) =>
        `${set.title} ${set.label(each.index)} ${verb}, ` + rangeText([each.least, each.most]);
    const all = `${text(widest, 'has the widest range')}; ${text(least, 'the narrowest')}.`;
    return noteOf(what, all[0].toUpperCase() + all.slice(1));
}

// Pearson's correlation of the points of a cloud.
export function correlationOf({x, y, pairs: {at}}) {
    const meanOf = ({data}) => at.reduce((sum, index) => sum + data[index], 0) / at.length;
    const [mx, my] = [x, y].map(meanOf);
    let xx = 0,
        yy = 0,
        xy = 0;
    for (const index of at) {
        const a = x.data[index] - mx,
            b = y.data[index] - my;
        xx += a * a;
        yy += b * b;
        xy += a * b;
    }
    return xy / Math.sqrt(xx * yy);
}

export function cloudNote(clouds) {
    const [{x, y}] = clouds;
    const what =
        `A dot for each pair of ${pluralOf(x.row.title)}: ${x.tensor.name} to the ` +
        `right, ${y.tensor.name} upwards.`;
    const texts = clouds.map((cloud, i) => {
        const r = correlationOf(cloud);
        if (!Number.isFinite(r)) return '';
        const together = r < 0 ? 'the farther apart, the less alike' : 'both grow together';
        const size = Math.abs(r);
        const meaning =
            size > STRONG
                ? together
                : size > LOOSE
                  ? `${together}, with exceptions`
                  : 'one says little about the other';
        return (
            `${clouds.length > 1 ? `${'AB'[i]}: ` : ''}${meaning} (correlation ` +
            `${brief(Number(r.toPrecision(3)))}).`
        );
    });
    return noteOf(
        what,
        texts
            .filter(Boolean)
            .join(' ')
            .replace(
                /^(?:([AB]): )?(.)/,
                (_, side, letter) =>
                    `${side ? `${side}: ` : ''}${side ? letter : letter.toUpperCase()}`,
            ),
    );
}

export const spectrumNote = () =>
    noteOf('A dot for each column: after how many positions it repeats.', '');
export const precisionNote = () =>
    noteOf('The exact table beside what usual float32 code computes.', '');

export function rotationNote(sides, mark, signal) {
    const {turning, table} = sides[0];
    const span = spanOf(table, mark);
    const notice = fromWavelengths(
        [table],
        () => {
            const waves = Array.from({length: turning.count}, (_, pair) =>
                turning.wavelengthOf(pair),
            ).filter(Number.isFinite);
            if (waves.length === 0) return '';
            const slow = waves.filter((each) => each > span).length,
                longest = waves.reduce((a, b) => Math.max(a, b));
            const which =
                slow === 0
                    ? 'Every pair makes a turn or more'
                    : slow === turning.count
                      ? 'No pair makes a whole turn'
                      : `${slow} of ${turning.count} pairs make${slow === 1 ? 's' : ''} less ` +
                        'than one turn';
            return (
                `${which} within ${brief(span)} positions; the slowest turns by ` +
                `${degreesText(span, longest)}.`
            );
        },
        signal,
    );
    return noteOf(
        'Each dial is a pair of columns, a vector that turns with the position.',
        notice,
        {signal},
    );
}

// Lines of mean scores: how soon each has lost half of what it has at distance 0.
export function scoresNote(lines, {seed, draws, other}) {
    const vectors = other
        ? 'a random query and another random vector as its key'
        : 'a random vector that is both query and key';
    const what =
        `The attention score of ${vectors}, over their distance: ` +
        `${draws === 1 ? 'a single draw' : `the mean of ${draws} draws`} (seed ${seed}).`;
    if (other)
        return noteOf(
            what,
            draws === 1
                ? 'Another draw has another curve; what scalings do is to stretch it.'
                : 'Such vectors have nothing in common, so the mean is near 0 at every ' +
                      'distance.',
        );
    const halved = lines.map(({name, length, x, y}) => {
        const at = Array.from({length}, (_, i) => i).find((i) => y(i) < y(0) / 2);
        return at === undefined ? `${name} nowhere` : `${name} ${brief(x(at))}`;
    });
    const stretched = lines
        .filter(({stretch}) => Math.abs(stretch - 1) > SAME)
        .map(({name, stretch}) => {
            const [factor, square] = [stretch, stretch ** 2].map((each) =>
                brief(Number(each.toPrecision(3))),
            );
            return (
                ` ${name} begins ${stretch > 1 ? 'higher' : 'lower'}, since it multiplies ` +
                `its cosines and sines by ${factor}, and with them every score by ${square}.`
            );
        });
    return noteOf(
        what,
        lines.length > 0 && lines[0].length > 1
            ? (halved.every((text) => text.endsWith(' nowhere'))
                  ? 'Half of the score is lost at none of these distances.'
                  : 'The first distance at which half of the score is lost: ' +
                    `${halved.join(', ')}.`) + stretched.join('')
            : '',
    );
}

// Lines of weights: {name, weights, reach: the mean distance of the keys}.
export function softmaxNote(lines) {
    const what =
        'How the biases alone share one query’s attention among the keys, if all keys fit ' +
        'the query equally well.';
    const known = lines.filter(({reach}) => Number.isFinite(reach));
    if (known.length === 0) return noteOf(what, '');
    const part = known.reduce(
        (worst, {weights}) =>
            weights.reduce(
                (one, each) => Math.max(one, Math.abs(each * weights.length - 1)),
                worst,
            ),
        0,
    );
    if (part < SMALL)
        return noteOf(
            what,
            `These biases are small: every weight is within ${percentText(part)} of an equal ` +
                'share.',
        );
    const text = ({name, reach}) =>
        `${name} looks ${brief(Number(reach.toPrecision(3)))} positions away on average`;
    const [near, far] = [
        known.reduce((one, other) => (other.reach < one.reach ? other : one)),
        known.reduce((one, other) => (other.reach > one.reach ? other : one)),
    ];
    const all =
        near === far
            ? `${text(near)}.`
            : `${text(near)}, ${text(far).replace(' on average', '')}.`;
    return noteOf(what, all[0].toUpperCase() + all.slice(1));
}
