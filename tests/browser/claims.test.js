// Every sentence that a view says of a table, for all schemes, tensors and views, is evaluated
// here on the whole table by other arithmetic than the page's. A sentence that no check knows
// fails; so does a check that lets a planted falsehood pass.
import assert from 'node:assert/strict';
import {test} from 'node:test';
import {TOUR} from '../../server/visualiser/tour.js';
import {delayClock, newContext, schemes, settled, url, visit} from './harness.js';
import {scoreOf} from './score.js';

const LATE_VIEWS = ['heatmap', 'waves', 'rotation', 'spectrum'];
const TYPES = {f64: Float64Array, f32: Float32Array, i32: Int32Array};
const NEAR = 2e-4; // numbers in sentences have five digits, angles three

// ---- tables, as the service has them ----

const fetched = new Map();

// {data, shape} of a tensor in double precision, where the scheme has that.
async function tableOf({scheme, query, tensor}, extra = {}) {
    const given = new URLSearchParams(query);
    const {parameters} = schemes.find(({name}) => name === scheme);
    const exact = parameters.some(
        ({name, choices}) => name === 'dtype' && choices?.includes('f64'),
    );
    if (exact) given.set('dtype', 'f64');
    for (const [name, value] of Object.entries(extra)) given.set(name, value);
    if ('positions' in extra)
        for (const name of ['length', 'offset', 'step']) given.delete(name);
    if (tensor) given.set('tensor', tensor);
    const address = `${url}/v1/encodings/${scheme}?${given}&format=raw`;
    if (!fetched.has(address)) fetched.set(address, load(address));
    return fetched.get(address);
}

async function load(address) {
    const reply = await fetch(address);
    assert.equal(reply.status, 200, address);
    const shape = reply.headers.get('Tensor-Shape').split(',').map(Number);
    const Type = TYPES[reply.headers.get('Tensor-Dtype')];
    return {data: new Type(await reply.arrayBuffer()), shape};
}

const range = (count) => Array.from({length: count}, (_, i) => i);
const near = (one, other, room = NEAR) =>
    assert.ok(
        Math.abs(one - other) <= room * Math.max(Math.abs(one), Math.abs(other), 1e-12),
        `${one} is not ${other}`,
    );

// ---- other arithmetic ----

// The wavelength of a column, from values h apart: cos(w h) = (x(a - h) + x(a + h)) / 2 x(a).
const REACHES = [
    1, 20, 400, 8000, 160000, 3200000, 64000000, 1280000000, 25600000000, 5e11, 1e13, 2e14,
    1.4e15,
];

async function wavelengthOf(context, column) {
    for (const h of REACHES) {
        const positions = [1, 2, 3, 4, 5, 6].map((k) => k * h).join();
        const {data, shape} = await tableOf(context, {positions});
        const x = (k) => data[k * shape[1] + column];
        const at = Math.abs(x(2)) > Math.abs(x(3)) ? 2 : 3;
        const turned = Math.acos(Math.min(1, (x(at - 1) + x(at + 1)) / (2 * x(at))));
        if (turned > 0.02 || (h === REACHES.at(-1) && turned > 1e-5))
            return (2 * Math.PI * h) / turned;
    }
    return Infinity;
}

// Whether a wave repeats within a span, up to what is lost in measuring it.
const fits = (wavelength, span) => wavelength <= span * (1 + 1e-8);

// The rows of the axis: their positions.
const positionsOf = ({query}, count) => {
    const given = new URLSearchParams(query);
    const listed = given.get('positions')?.split(',').map(Number);
    const [offset, step] = [Number(given.get('offset') ?? 0), Number(given.get('step') ?? 1)];
    return listed ?? range(count).map((i) => offset + i * step);
};

// Whether pairs at the same difference of places agree: the greatest departure, in parts of all
// that the values span.
function departure(value, places, rows = range(places.length)) {
    const groups = new Map();
    let [least, most, worst] = [Infinity, -Infinity, 0];
    for (const i of rows)
        for (const j of range(places.length)) {
            const key = places[i]
                .map((each, axis) => (each - places[j][axis]).toFixed(5))
                .join();
            const each = value(i, j);
            if (Number.isFinite(each))
                [least, most] = [Math.min(least, each), Math.max(most, each)];
            if (!groups.has(key)) groups.set(key, each);
            const other = groups.get(key);
            if (each !== other) worst = Math.max(worst, Math.abs(each - other));
        }
    return worst / (most - least);
}

const sum = (values) => values.reduce((total, each) => total + each, 0);
const pearson = (x, y) => {
    const [mx, my] = [sum(x) / x.length, sum(y) / y.length];
    const [dx, dy] = [x.map((each) => each - mx), y.map((each) => each - my)];
    return (
        sum(dx.map((each, i) => each * dy[i])) /
        Math.sqrt(sum(dx.map((each) => each ** 2)) * sum(dy.map((each) => each ** 2)))
    );
};
const cosine = (a, b) => {
    const dot = (x, y) => sum(x.map((each, i) => each * y[i]));
    return dot(a, b) / Math.sqrt(dot(a, a) * dot(b, b));
};
const l2 = (a, b) => Math.hypot(...a.map((each, i) => each - b[i]));

const rowsOf = ({data, shape: [count, width = 1]}) =>
    range(count).map((i) => [...data.subarray(i * width, (i + 1) * width)]);

// The score of the query at row i and the key at row j of a scheme's tables.
async function scoresIn(context) {
    const {applies} = schemes.find(({name}) => name === context.scheme);
    const names = (input) => applies.find((each) => each.input === input)?.tensors;
    if (!names('query')) {
        const [re, im] = await Promise.all(
            ['real', 'imag'].map((tensor) => tableOf({...context, tensor})),
        );
        const [a, b] = [rowsOf(re), rowsOf(im)];
        return (i, j) => sum(a[i].map((each, k) => each * a[j][k] + b[i][k] * b[j][k]));
    }
    const [cos, sin, keyCos, keySin] = await Promise.all(
        [...names('query'), ...names('key')].map((tensor) => tableOf({...context, tensor})),
    );
    const given = {cos: cos.data, sin: sin.data, keyCos: keyCos.data, keySin: keySin.data};
    return (row, key) => scoreOf({...given, count: cos.shape[1], row, key, seed: 0, draws: 64});
}

// Where the rows of a table stand.
async function placesIn(context, count) {
    const names = {axial_rope: 'coordinates', mrope: 'position_ids'};
    if (!(context.scheme in names)) return positionsOf(context, count).map((each) => [each]);
    const {data, shape} = await tableOf({...context, tensor: names[context.scheme]});
    return range(count).map((i) =>
        shape[0] === count
            ? range(shape[1]).map((axis) => data[i * shape[1] + axis])
            : range(shape[0]).map((axis) => data[axis * count + i]),
    );
}

// ---- checks ----

const same = (part) => assert.ok(part < 1e-4, `pairs depart by ${part}`);
const differ = (part) => assert.ok(part > 1e-4, `pairs depart by ${part} only`);

async function pairsAgree(context, expected) {
    const table = await tableOf(context);
    const rows = rowsOf(table);
    const places = await placesIn(context, table.shape[0]);
    if (/attention score|mean product/.test(context.note)) {
        const few = range(rows.length).filter((i) => i % Math.ceil(rows.length / 12) === 0);
        const score = await scoresIn(context);
        // what 64 draws take: a few rows of all
        const kept = new Map();
        const value = (i, j) => {
            const key = i * rows.length + j;
            if (!kept.has(key)) kept.set(key, score(i, j));
            return kept.get(key);
        };
        const narrow = places.filter((_, j) => j % Math.ceil(rows.length / 24) === 0);
        const at = range(rows.length).filter((j) => j % Math.ceil(rows.length / 24) === 0);
        assert.ok(few.length > 3);
        return expected(departure((i, j) => value(at[i], at[j]), narrow));
    }
    const metric = /cosine/.test(context.note) ? cosine : l2;
    return expected(departure((i, j) => metric(rows[i], rows[j]), places));
}

async function diagonalsAgree({slice, ...context}, expected) {
    const {data, shape} = await tableOf(context);
    const [queries, keys] = shape.slice(-2);
    const first = shape.length > 2 ? slice * queries * keys : 0;
    const count = Math.min(queries, keys);
    const places = range(count).map((i) => [i]);
    return expected(departure((i, j) => data[first + i * keys + j], places));
}

// The columns in "0–3, 8".
const columnsIn = (text) =>
    text.split(', ').flatMap((part) => {
        const [from, to = from] = part.split('–').map(Number);
        return range(to - from + 1).map((i) => from + i);
    });

const spanOf = async (context) => {
    const {shape} = await tableOf(context);
    const at = positionsOf(context, shape[0]);
    return Math.max(...at) - Math.min(...at) + 1;
};

async function turnsOf(context, column, span, degrees) {
    near(Number(degrees), (360 * span) / (await wavelengthOf(context, column)), 6e-3);
}

const wavesIn = async (context) => {
    const {shape} = await tableOf(context);
    return Promise.all(range(shape[1]).map((column) => wavelengthOf(context, column)));
};

const bump = (sentence) => [
    // one digit of one number after the other is another one
    ...[...sentence.matchAll(/\d+(?:\.\d+)?(?:e-?\d+)?/g)].map(({0: number, index}) => {
        const other = String(Number((Number(number) * 1.5 + 1).toPrecision(5)));
        return sentence.slice(0, index) + other + sentence.slice(index + number.length);
    }),
];
const turnRound = (sentence) => [
    /only the /i.test(sentence) && !/not only/i.test(sentence)
        ? sentence.replace(
              /([Oo])nly the (.*) have one (\w+)\./,
              'Not only the $2 have different $3s.',
          )
        : sentence.replace(
              /[Nn]ot only the (.*) have different (\w+)s\./,
              'Only the $1 have one $2.',
          ),
];

// [what is said, check(parts, context), falsehoods(sentence)]; a check throws where it is
// false.
const CHECKS = [
    // what rows and columns are: as many as the tensor has
    [
        /^Rows (?:and columns )?are (?:those of the (?:grid|table)|[a-z ]+)(, columns [a-z ]+)?(, each with one value)?, (?:its colour|colours values)\.$/,
        async ([, , single], context) => {
            const {shape} = await tableOf(context);
            assert.equal(Boolean(single), shape.length === 1 || shape.at(-1) === 1);
        },
        (said) => [
            /one value/.test(said)
                ? 'Rows are positions, columns dimensions, colours values.'
                : 'Rows are positions, each with one value, its colour.',
        ],
    ],
    [/^Each row is [a-z ]+, each column [a-z ]+; colours are values\.$/, () => {}],
    [
        /^A single value, its colour\.$/,
        async (_, context) => assert.equal((await tableOf(context)).data.length, 1),
    ],
    [
        /^(?:Each line is one|The value of each|Each colour is the vector of one) [a-z ,]+\.$/,
        () => {},
    ],
    [
        /^A (?:matrix|line) for each [a-z]+(?:, over the distance from query to key)?\.$/,
        () => {},
    ],
    [
        /^(?:A dot for each |Each dial is |Each curve: |How alike |How far apart |How the biases )[^.]*\.$/,
        () => {},
    ],
    [/^The (?:attention score|mean product) .*\.$/, () => {}],
    // waves
    [
        /^Columns? ([\d–, ]+) repeats? within (\S+) positions; column (\d+) turns by (\S+)°\.$/,
        async ([, columns, within, slowest, degrees], context) => {
            const span = await spanOf(context);
            assert.equal(Number(within), span);
            const {shape} = await tableOf(context);
            const told = columnsIn(columns);
            for (const column of range(shape[1])) {
                const wavelength = await wavelengthOf(context, column);
                if (Number.isFinite(wavelength))
                    assert.equal(
                        told.includes(column),
                        fits(wavelength, span),
                        `column ${column}`,
                    );
            }
            await turnsOf(context, Number(slowest), span, degrees);
        },
        bump,
    ],
    [
        /^All waves repeat within (\S+) positions, column (\d+) last, after (\S+)\.$/,
        async ([, within, slowest, wavelength], context) => {
            const waves = await wavesIn(context);
            const span = await spanOf(context);
            assert.equal(Number(within), span);
            assert.ok(waves.every((each) => fits(each, span)));
            near(Number(wavelength), Math.max(...waves), 3e-3);
            near(waves[Number(slowest)], Math.max(...waves), 1e-6);
        },
        bump,
    ],
    [
        /^Every wave completes a turn within the table’s length of (\S+)\.$/,
        async ([, length], context) => {
            assert.equal(Number(length), await spanOf(context));
            const waves = await wavesIn(context);
            assert.ok(waves.every((each) => fits(each, Number(length))));
        },
        bump,
    ],
    [
        /^[A-Z][a-z]+ (\d+) repeats after (.*) positions\.$/,
        async ([, first, rest], context) => {
            for (const part of `${first} after ${rest}`.split(', ')) {
                const [column, wavelength] = part.split(' after ').map(Number);
                near(wavelength, await wavelengthOf(context, column), 3e-3);
            }
        },
        (said) => bump(said),
    ],
    [
        /^(\d+) of (\d+) columns have wavelengths above the table’s length of (\S+) and never complete a turn within it\.$/,
        async ([, longer, all, length], context) => {
            assert.equal(Number(length), await spanOf(context));
            const waves = await wavesIn(context);
            assert.equal(Number(all), waves.length);
            assert.equal(
                Number(longer),
                waves.filter((each) => !fits(each, Number(length))).length,
            );
        },
        bump,
    ],
    [
        /^Wavelengths go from (\S+) to (\S+) positions\.$/,
        async ([, least, most], context) => {
            const known = (await wavesIn(context)).filter(Number.isFinite);
            near(Number(least), Math.min(...known), 3e-3);
            near(Number(most), Math.max(...known), 3e-3);
        },
        bump,
    ],
    [
        /^(?:No column is a wave|The wavelengths of this table could not be measured).*\.$/,
        () => {},
    ],
    [
        /^(\d+) of (\d+) pairs make less than one turn within (\S+) positions; the slowest turns by (\S+)°\.$/,
        async ([, slow, all, within, degrees], context) => {
            const {shape} = await tableOf(context);
            const span = await spanOf(context);
            assert.equal(Number(within), span);
            assert.equal(Number(all), shape[1]);
            const waves = await wavesIn(context);
            assert.equal(Number(slow), waves.filter((each) => !fits(each, span)).length);
            near(Number(degrees), (360 * span) / Math.max(...waves), 6e-3);
        },
        bump,
    ],
    // rows
    [
        /^(All|No|\d+ of \d+) \S+ differs? between these \S+(?: \S+)? by (more|less) than 1 % of the range of their values\.$/,
        async ([, which, how], context) => {
            const table = await tableOf(context);
            const {shape} = table;
            const [rows, columns] = shape.slice(-2);
            const first = shape.length > 2 ? context.slice * rows * columns : 0;
            const at = (row, k) => table.data[first + row * columns + k];
            const chosen = context.chosen.map(context.rowOf);
            const spreads = range(columns).map((k) => {
                const values = chosen.map((row) => at(row, k));
                return [Math.min(...values), Math.max(...values)];
            });
            const all =
                Math.max(...spreads.map(([, most]) => most)) -
                Math.min(...spreads.map(([least]) => least));
            const count = spreads.filter(([least, most]) =>
                how === 'less' ? most - least <= 0.01 * all : most - least > 0.01 * all,
            ).length;
            const told = {All: columns, No: 0}[which] ?? Number(which.split(' ')[0]);
            assert.ok(Math.abs(count - told) <= 0, `${count} of ${columns}, not ${which}`);
        },
        (said) => [
            /^\d/.test(said)
                ? said.replace(/^\d+/, (count) => Number(count) + 1)
                : said.replace(/^(All|No)/, (word) => (word === 'All' ? 'No' : 'All')),
        ],
    ],
    [
        /^Farthest from \w+ (\S+) is \w+ (\S+), at a distance of (\S+)\.$/,
        async ([, from, to, distance], context) => {
            const table = await tableOf(context);
            const rows = rowsOf(table);
            const [one, other] = [from, to].map((each) => context.rowOf(Number(each)));
            const all = rows.map((row) => l2(row, rows[one]));
            near(Number(distance), all[other], 1e-4);
            near(all[other], Math.max(...all), 1e-6);
        },
        bump,
    ],
    [
        /^Of these dots, (the farther apart, the less alike|both grow together|one says little about the other)(, with exceptions)? \(correlation (\S+)\)\.$/,
        async ([, how, some, said], context) => {
            const rows = rowsOf(await tableOf(context));
            const x = [],
                y = [];
            rows.forEach((a, i) =>
                rows.forEach((b, j) => {
                    const r = i < j ? pearson(a, b) : NaN;
                    if (Number.isNaN(r)) return;
                    x.push(l2(a, b));
                    y.push(r);
                }),
            );
            const r = pearson(x, y);
            near(Number(said), r, 6e-3);
            const size = Math.abs(r);
            assert.equal(how === 'one says little about the other', size <= 0.5);
            assert.equal(Boolean(some), size > 0.5 && size <= 0.9);
            if (size > 0.5) assert.equal(how === 'both grow together', r > 0);
        },
        (said) => [
            ...bump(said),
            said.replace('the farther apart, the less alike', 'both grow together'),
        ],
    ],
    // places
    [
        /^(?:In rows .*, |For \d+ of \d+ rows, )?only the (?:differences? of two \w+|distances?(?: along the axes)? from query to key) counts?: pairs with the same \w+ have one \w+\.$/i,
        (_, context) => pairsAgree(context, same),
        turnRound,
    ],
    [
        /^(?:In rows .*, )?not only the (?:differences? of two \w+|distances?(?: along the axes)? from query to key) counts?: pairs with the same \w+ have different \w+\.$/i,
        (_, context) => pairsAgree(context, differ),
        turnRound,
    ],
    [
        /^(?:In head (\d+), )?each diagonal has one value: only the distance from query to key counts\.$/i,
        ([, slice = 0], context) => diagonalsAgree({...context, slice: Number(slice)}, same),
        () => [
            'Values change along diagonals: not only the distance from query to key counts.',
        ],
    ],
    [
        /^(?:In head (\d+), )?values change along diagonals: not only the distance from query to key counts\.$/i,
        ([, slice = 0], context) => diagonalsAgree({...context, slice: Number(slice)}, differ),
    ],
    // planes
    [
        /^\w+ (-?\d+) has the widest range, (?:(\S+) to (\S+)|about \S+); \w+ (-?\d+) the narrowest, (?:(\S+) to (\S+)|about \S+)\.$/,
        async ([, widest, from, to, narrowest, low, high], context) => {
            const {data, shape} = await tableOf(context);
            const lead = planeAxis(context.scheme, shape, context.tensor);
            const reaches = range(shape[lead]).map(() => [Infinity, -Infinity]);
            const inner = shape.slice(lead + 1).reduce((product, each) => product * each, 1);
            data.forEach((value, at) => {
                if (!Number.isFinite(value)) return;
                const reach = reaches[Math.floor(at / inner) % shape[lead]];
                reach[0] = Math.min(reach[0], value);
                reach[1] = Math.max(reach[1], value);
            });
            const sizes = reaches.map(([least, most]) => most - least);
            near(sizes[Number(widest)], Math.max(...sizes), 1e-6);
            near(sizes[Number(narrowest)], Math.min(...sizes), 1e-6);
            if (from !== undefined) {
                near(Number(from), reaches[Number(widest)][0]);
                near(Number(to), reaches[Number(widest)][1]);
            }
            if (low !== undefined) {
                near(Number(low), reaches[Number(narrowest)][0]);
                near(Number(high), reaches[Number(narrowest)][1]);
            }
        },
        bump,
    ],
    // attention
    [
        /^These biases are small: every weight drawn is within (\d+) % of an equal share\.$/,
        async ([, part], context) => {
            const lines = await weightsIn(context);
            const worst = Math.max(
                ...lines.flat().map((each) => Math.abs(each * lines[0].length - 1)),
            );
            assert.ok(worst <= Number(part) / 100 && worst > Number(part) / 100 - 0.011);
        },
        bump,
    ],
    [
        /^From query (\d+), head (\d+) looks (\S+) positions away on average(?:, head (\d+) (?:looks )?(\S+) positions away)?\.$/,
        async ([, query, one, near1, other, near2], context) => {
            const lines = await weightsIn(context);
            const check = (head, mean) =>
                near(
                    Number(mean),
                    sum(lines[head].map((each, key) => each * Math.abs(key - Number(query)))),
                    6e-3,
                );
            check(Number(one), near1);
            if (other !== undefined) check(Number(other), near2);
        },
        bump,
    ],
    [
        /^The first distance at which half of the score is lost: (?:score|default) (\S+?)(?:, .*)?\.$/,
        async ([, distance], context) => {
            const score = await scoresIn(context);
            assert.ok(score(Number(distance), 0) < score(0, 0) / 2);
            assert.ok(range(Number(distance)).every((at) => score(at, 0) >= score(0, 0) / 2));
        },
        (said) => bump(said).slice(0, 1),
    ],
];

// The axis whose indices are planes.
function planeAxis(scheme, shape, tensor) {
    const {tensors} = schemes.find(({name}) => name === scheme);
    const {shape: text} = tensors.find(({name}) => !tensor || name === tensor);
    const axes = [...text.matchAll(/\[([^\]]*)\]/g)]
        .map(([, inside]) => inside.split(',').map((each) => each.trim()))
        .find((each) => each.length === shape.length);
    if (shape.length === 2) return axes[0] === 'heads' ? 0 : 1;
    return /^dim\b/.test(axes[2]) && !/^dim\b/.test(axes[1]) ? 2 : 0;
}

// The weights of the last query in each head.
async function weightsIn(context) {
    const {data, shape} = await tableOf(context);
    const [heads, queries, keys] = shape;
    return range(heads).map((head) => {
        const biases = [
            ...data.subarray((head * queries + queries - 1) * keys).subarray(0, keys),
        ];
        const most = Math.max(...biases);
        const sizes = biases.map((each) => Math.exp(each - most));
        return sizes.map((each) => each / sum(sizes));
    });
}

const sentencesOf = (text) =>
    text
        .split(/(?<=[^\d]\.|\d\.)\s+(?=[A-Z\d])/)
        .map((each) => each.trim())
        .filter(Boolean);

function checkOf(sentence) {
    const found = CHECKS.find(([pattern]) => pattern.test(sentence));
    assert.ok(found, `no check knows: ${sentence}`);
    return found;
}

async function evaluate(sentence, context) {
    const [pattern, check] = checkOf(sentence);
    await check(pattern.exec(sentence), context);
}

const planted = new Set(); // checks that a falsehood has been put to
const wrong = []; // what is not true

async function judgeAll(note, context) {
    for (const sentence of sentencesOf(note))
        await judge(sentence, note, context).catch(({message}) =>
            wrong.push(`${context.address}: ${sentence} ${message.split('\n')[0]}`),
        );
}

async function judge(sentence, note, context) {
    const [pattern, , falsehoods] = checkOf(sentence);
    await evaluate(sentence, {...context, note});
    if (!falsehoods || planted.has(pattern)) return;
    planted.add(pattern);
    for (const falsehood of falsehoods(sentence)) {
        assert.notEqual(falsehood, sentence);
        await assert.rejects(
            evaluate(falsehood, {...context, note: note.replace(sentence, falsehood)}),
            undefined,
            `nobody objects to: ${falsehood}`,
        );
    }
}

// What the page shows now, and what it says of it.
async function readPage(page, view) {
    if (LATE_VIEWS.includes(view)) await page.waitForLoadState('networkidle');
    await settled(page);
    return page.evaluate(() => ({
        search: location.search,
        note: [...document.querySelectorAll('#view .note, #view .spectrum-words')]
            .map((each) => each.textContent)
            .join(' '),
        chosen: document.querySelector('#profiles-positions')?.value ?? '',
        slice: document.querySelector('#tools label input')?.value ?? '',
    }));
}

async function contextOf(page, view, tensor) {
    const {search, note, chosen, slice} = await readPage(page, view);
    const given = [...new URLSearchParams(search)];
    const scheme = given.find(([name]) => name === 'scheme')[1];
    const query = new URLSearchParams(
        given.filter(([name]) => name !== 'scheme' && !/^(view|right)/.test(name)),
    ).toString();
    const context = {scheme, query, tensor, address: search, slice: Number(slice)};
    const {shape} = await tableOf(context);
    const first =
        tensor === 'encoding' && scheme === 'transformer_xl'
            ? await distancesIn(context)
            : null;
    return {
        ...context,
        note,
        chosen: chosen.split(',').map(Number),
        rowOf: (position) =>
            first
                ? first.indexOf(position)
                : shape.length === 2 && tensor !== 'basis'
                  ? positionsOf(context, shape[0]).indexOf(position)
                  : position,
    };
}

const distancesIn = async (context) => [
    ...(await tableOf({...context, tensor: 'distance'})).data,
];

// In two pages at once, each with half of the schemes.
test('every sentence of every view of every tensor of every scheme is true', async () => {
    const names = schemes.map(({name}) => name);
    await Promise.all(
        [0, 1].map(async (lane) => {
            const context = await newContext({viewport: {width: 1100, height: 800}});
            const page = await context.newPage();
            await delayClock(page, -200, -200); // nothing waits for a pause
            await page.goto(url);
            await page.waitForSelector('#view[data-drawn]');
            for (const name of names.filter((_, i) => i % 2 === lane)) await crawl(page, name);
            await context.close();
        }),
    );
    assert.deepEqual(wrong, []);
});

async function crawl(page, name) {
    await visit(page, `?scheme=${name}`);
    const address = await page.evaluate(() => location.search);
    const tensors = await page.$$eval('#tools select option', (all) =>
        all.map(({value}) => value),
    );
    for (const tensor of tensors.length > 0 ? tensors : ['']) {
        await visit(page, `${address}&view.tensor=${tensor}`);
        const views = await page.$$eval('#tabs button', (all) =>
            all.map(({dataset}) => dataset.view),
        );
        for (const view of views.filter((each) => each !== 'precision')) {
            await visit(page, `${address}&view=${view}&view.tensor=${tensor}`);
            const context = await contextOf(page, view, tensor);
            await judgeAll(context.note, context);
        }
    }
}

// ---- two tables ----

// A, B and the views that show both: each has its own numbers, and the checks above know them.
const PAIRS = [
    'scheme=rope&length=128&dim=64|scheme=rope&length=128&dim=64&rope_type=yarn&factor=4' +
        '&original_max_position_embeddings=32|heatmap,waves,rotation,profiles,spectrum',
    'scheme=sinusoidal&length=64&dim=16|scheme=sinusoidal&length=96&dim=16&base=10' +
        '|heatmap,profiles,spectrum,similarity,distances,cloud',
    'scheme=sinusoidal&length=40&dim=16|scheme=learned&length=40&dim=16|similarity,distances',
    'scheme=alibi&length=32&heads=8|scheme=alibi&length=32&heads=8&alibi_bias_max=4|heads',
    'scheme=rope&length=40&dim=16|scheme=sinusoidal&length=40&dim=16|rotation,similarity',
];
const SIDE = /(?:^| )([AB]): /;

// What is said of A and of B; what stands before is of both.
function sidesOf(note) {
    const parts = note.split(SIDE);
    const said = {A: '', B: ''};
    for (let i = 1; i < parts.length; i += 2) said[parts[i]] += ` ${parts[i + 1]}`;
    return {both: parts[0], ...said};
}

test('of two tables each sentence is true of the one that it names', async () => {
    const context = await newContext({viewport: {width: 1100, height: 800}});
    const page = await context.newPage();
    await delayClock(page, -200, -200);
    await page.goto(url);
    await page.waitForSelector('#view[data-drawn]');
    let named = 0;
    for (const pair of PAIRS) {
        const [left, right, views] = pair.split('|');
        const beside = right.replace(/(^|&)/g, '$1right.');
        for (const view of views.split(',')) {
            await visit(page, `?${left}&${beside}&view=${view}`);
            const shown = await contextOf(page, view, '');
            const {both, A, B} = sidesOf(shown.note);
            if (A || B) named++;
            for (const [said, settings] of [
                [`${both} ${A}`, left],
                [A || !B ? `${both} ${B}` : B, right],
            ]) {
                const given = new URLSearchParams(settings);
                const scheme = given.get('scheme');
                given.delete('scheme');
                if (view === 'rotation' && scheme === 'sinusoidal') continue;
                if (view === 'similarity' && left.includes('rope') && !/rope/.test(settings))
                    continue;
                const own = {...shown, scheme, query: given.toString(), note: shown.note};
                const at = positionsOf(own, Number(given.get('length')));
                await judgeAll(said, {...own, rowOf: (position) => at.indexOf(position)});
            }
        }
    }
    await context.close();
    assert.deepEqual(wrong, []);
    assert.ok(named >= 8, `${named} notes name A or B`);
});

test('what is true of A is not said of B', () => {
    const note = 'Each dial is a pair. A: 21 of 32 pairs. B: 24 of 32 pairs.';
    assert.deepEqual(sidesOf(note), {
        both: 'Each dial is a pair.',
        A: ' 21 of 32 pairs.',
        B: ' 24 of 32 pairs.',
    });
});

// ---- the tour ----

const stepTable = (step, tensor = '', extra = {}) => {
    const given = new URLSearchParams(TOUR[step - 1].address);
    const scheme = given.get('scheme');
    for (const name of [...given.keys()]) if (/^(scheme|view)/.test(name)) given.delete(name);
    return tableOf({scheme, query: given.toString(), tensor}, extra);
};
const pairsOfRows = (rows) => rows.flatMap((a, i) => rows.slice(i + 1).map((b) => [a, b]));
const isFlat = (weights) => Math.max(...weights) < 2 * Math.min(...weights);

// Each sentence of the tour by its beginning, and its check; null of what explains a word.
const TOLD = [
    [1, 'A transformer looks at all words', null],
    [
        1,
        'So each position gets a code',
        async () => {
            const {data} = await stepTable(1);
            assert.deepEqual([...data.subarray(0, 4)], [0, 1, 2, 3]);
        },
    ],
    [
        1,
        'But the line never stops rising',
        async () => {
            const {data} = await stepTable(1);
            assert.ok(data.every((each, i) => i === 0 || each > data[i - 1]));
            assert.match(TOUR[0].text, /here 32,/);
            assert.match(TOUR[0].address, /view\.mark=32$/);
        },
    ],
    [
        2,
        'Each row is the code of one position, written in binary',
        async () => {
            const rows = rowsOf(await stepTable(2));
            const changes = range(6).map(
                (k) => rows.filter((row, i) => i > 0 && row[k] !== rows[i - 1][k]).length,
            );
            assert.deepEqual(rows[37], [1, 0, 0, 1, 0, 1]);
            assert.deepEqual(changes, [1, 3, 7, 15, 31, 63]);
        },
    ],
    [
        2,
        'Nothing grows any more',
        async () => {
            const rows = rowsOf(await stepTable(2));
            assert.ok(rows.flat().every((each) => each === 0 || each === 1));
            assert.ok(rows[31].every((each, k) => each !== rows[32][k]));
        },
    ],
    [
        3,
        'Sines and cosines are smooth bits',
        async () => {
            const rows = rowsOf(await stepTable(3));
            assert.ok(rows.flat().every((each) => Math.abs(each) <= 1));
            const steps = rows.slice(1).map((row, i) => l2(row, rows[i]));
            const others = pairsOfRows(rows).map(([a, b]) => l2(a, b));
            assert.ok(Math.max(...steps) < sum(others) / others.length / 2);
        },
    ],
    [
        3,
        'Fast columns, on the left',
        async () => {
            const rows = rowsOf(await stepTable(3));
            assert.ok(pairsOfRows(rows).every(([a, b]) => l2(a, b) > 0.1));
            const [fast, slow] = [0, 40].map((k) => l2([rows[4][k]], [rows[5][k]]));
            assert.ok(fast > 10 * slow);
        },
    ],
    [3, 'Column 20 is framed', () => assert.match(TOUR[2].address, /view\.column=20$/)],
    [4, 'Each cell is the dot product', () => assert.match(TOUR[3].address, /metric=dot$/)],
    [
        4,
        'Every diagonal has one colour',
        async () => {
            const rows = rowsOf(await stepTable(4));
            const dot = (i, j) => sum(rows[i].map((each, k) => each * rows[j][k]));
            same(
                departure(
                    dot,
                    range(rows.length).map((i) => [i]),
                ),
            );
        },
    ],
    [
        4,
        'A model first multiplies',
        async () => {
            const rows = rowsOf(await stepTable(4)).slice(0, 32);
            // as a learned matrix may be: it leaves out the cosines
            const dot = (i, j) =>
                sum(rows[i].map((each, k) => (k % 2 ? 0 : each * rows[j][k])));
            differ(
                departure(
                    dot,
                    range(rows.length).map((i) => [i]),
                ),
            );
        },
    ],
    [5, 'Attention scores how well', null],
    [
        5,
        'RoPE adds no code',
        async () => {
            const {data, shape} = await stepTable(5, 'inv_freq');
            assert.ok(
                data.every((each, i) => i === 0 || each < data[i - 1]),
                String(shape),
            );
        },
    ],
    [
        5,
        'Lengths are kept',
        async () => {
            const [cos, sin] = [await stepTable(5, 'cos'), await stepTable(5, 'sin')];
            assert.ok(
                cos.data.every(
                    (each, i) => Math.abs(Math.hypot(each, sin.data[i]) - 1) < 1e-12,
                ),
            );
            const count = cos.shape[1];
            const places = range(24).map((i) => [i * 10]);
            const score = (i, j) =>
                scoreOf({
                    ...{cos: cos.data, sin: sin.data, count, row: i * 10, key: j * 10},
                    ...{seed: 3, draws: 1, other: true},
                });
            same(departure(score, places));
        },
    ],
    [
        6,
        'Relative biases leave queries',
        async () => {
            const [bias, slopes] = [await stepTable(6, 'bias'), await stepTable(6, 'slopes')];
            assert.equal(bias.data[64 * 64 + 10 * 64 + 3], -7 * slopes.data[1]);
        },
    ],
    [6, 'A model has several attentions', null],
    [
        6,
        'Each line is what one head sees',
        async () => {
            const given = new URLSearchParams(TOUR[5].address);
            for (const name of ['scheme', 'view']) given.delete(name);
            const weights = await weightsIn({
                scheme: 'alibi',
                query: given.toString(),
                tensor: 'bias',
            });
            assert.ok(sum(weights[0].slice(-6)) > 0.9);
            assert.ok(isFlat(weights[7]) && !isFlat(weights[0]));
        },
    ],
    [
        7,
        'A model that was trained on 256',
        async () => {
            const {data} = await stepTable(7, 'inv_freq');
            assert.ok(
                data.some((w) => 256 * w < 2 * Math.PI),
                'pairs without a whole turn',
            );
        },
    ],
    [
        7,
        'The other lines turn the pairs less',
        async () => {
            const [plain, linear, yarn] = await Promise.all(
                [
                    {},
                    {rope_type: 'linear', factor: 4},
                    {
                        rope_type: 'yarn',
                        factor: 4,
                        original_max_position_embeddings: 256,
                    },
                ].map((extra) => stepTable(7, 'inv_freq', extra)),
            );
            const parts = (table) => [...table.data].map((w, i) => plain.data[i] / w);
            assert.ok(parts(linear).every((part) => Math.abs(part - 4) < 1e-6));
            near(parts(yarn)[0], 1);
            near(parts(yarn).at(-1), 4);
            assert.ok(parts(yarn).every((part) => part < 4 + 1e-6));
            assert.match(TOUR[6].text, /here 4 times/);
        },
    ],
    [8, 'Sine codes and RoPE take sines of position × frequency', null],
    [
        8,
        'Far out, here around position 131071',
        async () => {
            const {data, shape} = await stepTable(8);
            const errors = range(shape[1] / 2).map((i) => {
                const frequency = Math.fround(10000 ** ((-2 * i) / shape[1]));
                const product = Math.fround(131071 * frequency);
                return Math.abs(Math.sin(product) - data[63 * shape[1] + 2 * i]);
            });
            const worst = Math.max(...errors);
            assert.ok(worst > 5e-4 && worst < 1e-2, `${worst} is in the third decimal`);
        },
    ],
];

test('every sentence of the tour is true', async () => {
    const told = TOUR.map(({text}) => text.split(/(?<=\.) (?=[A-Z])/));
    for (const [i, sentences] of told.entries())
        assert.deepEqual(
            sentences.map((sentence) =>
                TOLD.some(([step, start]) => step === i + 1 && sentence.startsWith(start))
                    ? ''
                    : sentence,
            ),
            sentences.map(() => ''),
            `each sentence of step ${i + 1} has a check`,
        );
    assert.equal(TOLD.length, told.flat().length);
    for (const [step, start, check] of TOLD)
        await Promise.resolve(check?.()).catch((error) => {
            error.message = `step ${step}: ${start}: ${error.message}`;
            throw error;
        });
});

test('every check has refused a planted falsehood', () => {
    const never = CHECKS.filter(
        ([pattern, , falsehoods]) => falsehoods && !planted.has(pattern),
    ).map(([pattern]) => String(pattern));
    assert.deepEqual(never, []);
});
