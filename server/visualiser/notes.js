// One line above each picture: what it shows, and what there is to notice in these data.
// A sentence is a claim about the whole of its table (see claims.js), or it names the part that
// it speaks of; of two tables it says which it means.
import {correlationOf, dependsOnDifference, onlyMost} from './claims.js';
import {h} from './dom.js';
import {pluralOf, rangeText, rangesText} from './lists.js';
import {brief} from './numbers.js';
import {drawingText} from './rotated.js';
import {spanOf} from './variants.js';

const PATIENCE = 200; // milliseconds of rest before wavelengths are measured for a line of text
const EVEN = 1e-3; // factors so near 1 may be rounding
const SMALL = 0.2; // of an equal share of attention: biases that change less hardly matter
const LITTLE = 0.01; // of the range of values: differences below can hardly be seen
const STRONG = 0.9, // correlations that hold for nearly all pairs, and …
    LOOSE = 0.5; // … for most of them

// The line; `notice` may be a promise of a text, which then comes later.
function noteOf(what, notice, {signal} = {}) {
    const more = h('span', {class: 'note-notice'});
    const put = (text) => {
        if (text && !signal?.aborted) more.textContent = ` ${text}`;
    };
    if (typeof notice === 'string') put(notice);
    else notice?.then(put, () => {});
    return h('p', {class: `note${typeof notice === 'string' ? '' : ' note-late'}`}, what, more);
}

function percentText(part) {
    return `${Number((100 * part).toPrecision(2))} %`;
}

const threeDigits = (x) => Number(x.toPrecision(3));
const capital = (text) => text && text[0].toUpperCase() + text.slice(1);

// What is said of A and of B, '' where nothing is: once if it is the same of both.
export function sided(texts) {
    if (texts.every((text) => text === texts[0])) return texts[0] ?? '';
    return texts
        .map((text, i) => text && `${'AB'[i]}: ${text}`)
        .filter(Boolean)
        .join(' ');
}

// The same where only some of the tables have what the view shows: `items` are about those that
// have it, `tableOf` says which.
const sidedAmong = (all, items, tableOf, write) =>
    sided(
        all.map((table) => {
            const item = items.find((each) => tableOf(each) === table);
            return item === undefined ? '' : write(item);
        }),
    );

// What is true of all pairs of places, of each table that has a matrix of them.
const pairsSided = (tables, matrices) =>
    sidedAmong(tables, matrices, ({source}) => source, pairsText);

// "rows 0 to 9 of 20: ", of a window.
function scopeOf({rows, totalRows, numbers = (i) => i}) {
    if (rows >= totalRows) return '';
    return numbers(rows - 1) === numbers(0) + rows - 1
        ? `in rows ${numbers(0)} to ${numbers(rows - 1)} of ${totalRows}, `
        : `for ${rows} of ${totalRows} rows, `;
}

// How far a wave goes round within some positions, in degrees.
const degreesText = (span, wavelength) =>
    `${brief(Number(((360 * span) / wavelength).toPrecision(3)))}°`;

// ---- waves ----

// The positions that a table's rows span, or the training length.
const lengthOf = (table, mark) => (mark > 0 ? mark : spanOf(table));

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
    const within = `within ${brief(span)} position${span === 1 ? '' : 's'}`;
    if (short.length === waves.length)
        return (
            `All waves repeat ${within}, column ${slowest.column} last, after ` +
            `${brief(slowest.wavelength)}.`
        );
    const many = short.length !== 1;
    const repeat =
        short.length === 0
            ? `No wave repeats ${within}`
            : `Column${many ? 's' : ''} ${rangesText(short)} repeat${many ? '' : 's'} ` +
              `${within}`;
    const angle = degreesText(span, slowest.wavelength);
    return `${repeat}; column ${slowest.column} turns by ${angle}.`;
}

// After a rest, a text from the wavelengths of each table: `write(wavelengths, table)`.
async function fromWavelengths(tables, write, signal) {
    await new Promise((rested) => setTimeout(rested, PATIENCE));
    if (signal.aborted) return '';
    await Promise.all(tables.map(({wavelengthsKnown}) => wavelengthsKnown));
    return sided(
        tables.map((table) => (table.wavelengths ? write(table.wavelengths, table) : '')),
    );
}

// ---- matrices ----

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

// "in head 3, " of a slice.
const sliceText = ({slice, coordinates}) =>
    slice
        .map((index, i) => `in ${coordinates[i].title} ${coordinates[i].at(index)}, `)
        .join('');

// Whether the places of queries and keys are all that counts; '' where that is open, and on a
// grid, where the numbers of places are no distances.
function diagonalsText(table, differences) {
    const same = dependsOnDifference(table, differences);
    if (same === null) return '';
    return capital(
        sliceText(table) +
            scopeOf(table) +
            (same
                ? 'each diagonal has one value: only the distance from query to key counts.'
                : 'values change along diagonals: not only the distance from query to key ' +
                  'counts.'),
    );
}

function heatmapNotice(table) {
    const {row, column, rows, columns, firstRow, effective} = table;
    if (row.axis !== 'queries' || column.axis !== 'keys' || effective.height != null) return '';
    // a query at the position of a key is at the same place
    const first = Math.round(row.at(0) - column.at(0));
    const away = Math.max(rows + Math.abs(first), columns);
    return diagonalsText(
        {...table, firstRow, numbers: (i) => i + firstRow},
        {of: (_, i, j) => i - firstRow + first - j, reach: [away + Math.abs(first)]},
    );
}

export function heatmapNote(tables, mark, signal) {
    const what = sided(tables.map(axesText));
    const notice = sided(tables.map(heatmapNotice));
    if (notice || tables.every(({constant}) => constant !== null)) return noteOf(what, notice);
    const waves = fromWavelengths(
        tables,
        (wavelengths, table) => waveNotice(wavelengths, lengthOf(table, mark)),
        signal,
    );
    return noteOf(what, waves, {signal});
}

// What counts, and of what there is the same or not.
const countsText = (same, what, counts, like, value) =>
    same
        ? `only the ${what} ${counts}: pairs with the same ${like} have one ${value}.`
        : `not only the ${what} ${counts}: pairs with the same ${like} have different ` +
          `${value}s.`;

// What is true of all pairs of places: of scores of vectors that turn, or values of rows.
function pairsText(matrix) {
    const same = dependsOnDifference(matrix, matrix.differences);
    if (same === null) return '';
    const {column, places, source} = matrix;
    const said =
        column.axis !== 'keys'
            ? [
                  `difference of two ${pluralOf(source.row.title)}`,
                  'counts',
                  'difference',
                  'value',
              ]
            : places.at.length > 1
              ? ['distances along the axes from query to key', 'count', 'distances', 'score']
              : ['distance from query to key', 'counts', 'distance', 'score'];
    return capital(scopeOf(matrix) + countsText(same, ...said));
}

const turnedOf = (drawing) =>
    drawing ? `of ${drawingText(drawing)}` : 'of the two complex vectors';

export function similarityNote(matrices, tables, {metric, drawing}) {
    const [{row, tensor, source, places}] = matrices;
    const what = places
        ? `The ${tensor.name} ${turnedOf(drawing)}, turned to every two ` +
          `${pluralOf(source.row.title)}.`
        : `How ${/distance/.test(metric) ? 'far apart' : 'alike'} every two ` +
          `${pluralOf(row.title)} are: their ${metric}.`;
    return noteOf(what, pairsSided(tables, matrices));
}

export function mapNote(maps, tables, drawing) {
    const [{row, column, tensor}] = maps;
    const what =
        `The ${tensor.name} ${turnedOf(drawing)}, downwards over the ${row.title} and ` +
        `rightwards over the ${column.title}, query minus key.`;
    const scores = maps.map((map) => map.scores);
    return noteOf(what, pairsSided(tables, scores));
}

// ---- lines ----

function linesText({row, column, rows, totalRows}) {
    const over =
        rows < totalRows
            ? `${pluralOf(row.title)} ${row.at(0)} to ${row.at(rows - 1)}`
            : `all ${pluralOf(row.title)}`;
    if (!column.title) return `The value of each ${row.title}.`;
    return column.title === row.title
        ? 'Each line is one column of the matrix, over its rows.'
        : `Each line is one ${column.title}, over ${over}.`;
}

export function wavesNote(tables, columns, signal) {
    return noteOf(
        sided(tables.map(linesText)),
        fromWavelengths(
            tables,
            (wavelengths, {row, column}) => {
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
function stillText(table, rows) {
    const {row, column, columns} = table;
    if (rows.length < 2) return '';
    const ranges = Array.from({length: columns}, (_, k) => {
        const values = rows.map((at) => table.value(at, k));
        return [Math.min(...values), Math.max(...values)];
    });
    const least = ranges.reduce((one, [from]) => Math.min(one, from), Infinity),
        most = ranges.reduce((one, [, to]) => Math.max(one, to), -Infinity);
    if (!Number.isFinite(most - least) || most === least) return '';
    const still = ranges.filter(([from, to]) => to - from <= LITTLE * (most - least)).length;
    const between = (how, amount) =>
        `${how} between these ${pluralOf(row.title)} by ${amount} than ` +
        `${percentText(LITTLE)} of the range of their values.`;
    const names = pluralOf(column.title);
    return still === 0
        ? between(`All ${names} differ`, 'more')
        : still === columns
          ? between(`No ${column.title} differs`, 'more')
          : between(`${still} of ${columns} ${names} differ${still === 1 ? 's' : ''}`, 'less');
}

export function profilesNote(tables, rowsOf, zigzag) {
    const apart = zigzag ? ', columns with odd numbers paler' : '';
    const titles = [...new Set(tables.map(({row}) => row.title))];
    return noteOf(
        `Each colour is the vector of one ${titles.join(' or ')}${apart}.`,
        sided(tables.map((table, i) => stillText(table, rowsOf(i)))),
    );
}

// The other end of a curve, a series with the position that is `chosen`.
function farthestText({length, x, y, chosen}, metric, title) {
    const far = /distance/.test(metric);
    const sizes = Array.from({length}, (_, i) =>
        Number.isFinite(y(i)) ? (far ? y(i) : -y(i)) : -Infinity,
    );
    const most = sizes.reduce((one, other) => Math.max(one, other), -Infinity);
    const best = [...sizes.keys()].filter((i) => sizes[i] === most);
    const value = brief(y(best[0]));
    if (most === -Infinity) return '';
    if (far && most === 0) return `No ${title} differs from ${title} ${chosen}.`;
    if (best.length > 1) return '';
    return (
        `${far ? 'Farthest from' : 'Least like'} ${title} ${chosen} is ${title} ` +
        `${x(best[0])}, ${far ? `at a distance of ${value}` : `with ${value}`}.`
    );
}

// drawing: what the view has, {tables: the matrices, metric, title, vectors}.
export function distancesNote(curves, {tables: matrices, metric, title, vectors}, all) {
    if (vectors !== undefined)
        return noteOf(
            `Each curve: the ${metric} ${turnedOf(vectors)}, ` +
                `${vectors ? 'the query ' : ''}at one ${title} and ` +
                `${vectors ? 'the key ' : ''}at every ${title}.`,
            pairsSided(all, matrices),
        );
    return noteOf(
        `Each curve: the ${metric} of one ${title} to all others.`,
        sidedAmong(
            all,
            curves.filter(({side}, i) => curves.findIndex((each) => each.side === side) === i),
            ({side}) => matrices[side]?.source,
            (curve) => farthestText(curve, metric, title),
        ),
    );
}

// ---- the rest ----

// Which plane has the widest range of all, and which the narrowest, if one has.
function reachesText({title, label, reaches}) {
    if (!reaches || reaches.length < 2) return '';
    const size = ({reach}) => reach[1] - reach[0];
    const widest = onlyMost(reaches, size),
        narrowest = onlyMost(reaches, (each) => -size(each));
    const text = ({index, reach}, verb) =>
        `${title} ${label(index)} ${verb}, ${rangeText(reach)}`;
    return widest && narrowest
        ? capital(
              `${text(widest, 'has the widest range')}; ${text(narrowest, 'the narrowest')}.`,
          )
        : '';
}

export function headsNote(sets, form, usable, tables) {
    const [{title}] = sets;
    const what =
        `${form === 'maps' ? 'A matrix' : 'A line'} for each ` +
        `${title}${form === 'maps' ? '' : ', over the distance from query to key'}.`;
    return noteOf(
        what,
        sidedAmong(
            tables,
            usable,
            (table) => table,
            (table) => reachesText(sets[usable.indexOf(table)]),
        ),
    );
}

function correlationText(cloud) {
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
    return `Of these dots, ${meaning} (correlation ${brief(Number(r.toPrecision(3)))}).`;
}

export function cloudNote(clouds, drawing, tables) {
    const [{x, y}] = clouds;
    const turned = drawing !== undefined;
    const what =
        `A dot for each pair of ${pluralOf(x.source.row.title)}: ${x.tensor.name} to the ` +
        `right, ${y.tensor.name} ${turned ? `${turnedOf(drawing)} ` : ''}upwards.`;
    return noteOf(
        what,
        turned
            ? pairsSided(
                  tables,
                  clouds.map((cloud) => cloud.y),
              )
            : sidedAmong(tables, clouds, (cloud) => cloud.x.source, correlationText),
    );
}

export const spectrumNote = () =>
    noteOf('A dot for each column that is a wave: after how many positions it repeats.', '');
export const precisionNote = () =>
    noteOf('The exact table beside what usual code computes.', '');

function turnsText({turning, table}, mark) {
    const span = lengthOf(table, mark);
    const waves = Array.from({length: turning.count}, (_, pair) =>
        turning.wavelengthOf(pair),
    ).filter(Number.isFinite);
    if (waves.length === 0) return '';
    const slow = waves.filter((each) => each > span).length,
        longest = waves.reduce((a, b) => Math.max(a, b));
    const all = waves.length === turning.count;
    const which =
        slow === 0
            ? `Every pair ${all ? '' : 'that turns '}makes a turn or more`
            : slow === turning.count
              ? 'No pair makes a whole turn'
              : `${slow} of ${waves.length} pairs ${all ? '' : 'that turn '}` +
                `make${slow === 1 ? 's' : ''} less than one turn`;
    return (
        `${which} within ${brief(span)} positions; the slowest turns by ` +
        `${degreesText(span, longest)}.`
    );
}

export function rotationNote(sides, tables, mark, signal) {
    const notice = fromWavelengths(
        tables,
        (_, table) => {
            const side = sides.find((each) => each.table === table);
            return side ? turnsText(side, mark) : '';
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
export function scoresNote(lines, drawing) {
    const along = lines[0]?.line.name;
    const what =
        `The attention score of ${drawingText(drawing)}, over their distance` +
        `${along ? ` along ${along}` : ''}.`;
    if (drawing.other) return noteOf(what, '');
    const halved = lines.map(({name, length, x, y}) => {
        const at = Array.from({length}, (_, i) => i).find((i) => y(i) < y(0) / 2);
        return at === undefined ? `${name} nowhere` : `${name} ${brief(x(at))}`;
    });
    const stretched = lines
        .filter(({stretch}) => stretch && Math.abs(stretch.query * stretch.key - 1) > EVEN)
        .map(({name, stretch: {query, key}}) => {
            const factors = [...new Set([query, key].map((each) => brief(threeDigits(each))))];
            return (
                ` ${name} multiplies its cosines and sines by ${factors.join(' and ')}, and ` +
                `with them every score by ${brief(threeDigits(query * key))}.`
            );
        });
    const lost = halved.every((text) => text.endsWith(' nowhere'))
        ? ''
        : `The first distance at which half of the score is lost: ${halved.join(', ')}.`;
    return noteOf(what, (lost + stretched.join('')).trim());
}

// Lines of weights: {name, weights, reach: the mean distance of the keys}, of one query.
export function softmaxNote(lines, position) {
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
            'These biases are small: every weight drawn is within ' +
                `${Math.ceil(100 * part)} % of an equal share.`,
        );
    const text = ({name, reach}) =>
        `${name} looks ${brief(threeDigits(reach))} positions away on average`;
    const near = known.reduce((one, other) => (other.reach < one.reach ? other : one)),
        far = known.reduce((one, other) => (other.reach > one.reach ? other : one));
    const other = near === far ? '' : `, ${text(far).replace(' on average', '')}`;
    return noteOf(what, `From query ${position}, ${text(near)}${other}.`);
}
