// Waves, profiles and the spectrum: lines have the bits that the service sends, words count
// rightly.
import assert from 'node:assert/strict';
import {test} from 'node:test';
import {parseList, spread} from '../../server/visualiser/lists.js';
import {drawn, findings, open, pageTest, pointAt, readout, screenshot, url} from './harness.js';

const LEFT = 'scheme=sinusoidal&length=48&dim=24&offset=7&base=500';
const RIGHT = 'right.scheme=sinusoidal&right.length=40&right.dim=16&right.offset=7';

const encodingOf = (query) =>
    `/v1/encodings/${query.replace(/right\./g, '').replace(/scheme=(\w+)&/, '$1?')}`;
const floats = async (query) =>
    new Float32Array(
        await (await fetch(`${url}${encodingOf(query)}&format=raw`)).arrayBuffer(),
    );

// Read numbers after their names: "dimension 4: -0.5 · …" gives {4: [-0.5]}.
function readNumbers(text, name) {
    return Object.fromEntries(
        [...text.matchAll(new RegExp(`${name} (-?\\d+): ([^·]*)`, 'g'))].map(
            ([, at, values]) => [at, (values.match(/-?\d[\d.e-]*/g) ?? []).map(Number)],
        ),
    );
}

async function press(page, ...keys) {
    await page.focus('svg.chart');
    for (const key of keys) await page.keyboard.press(key);
    return readout(page);
}

pageTest('a wave reads the bits of its columns, by keyboard and pointer', {}, async (page) => {
    const values = await floats(LEFT);
    await open(page, `?${LEFT}&view=waves&view.waves.columns=1,5,20..23`);
    const said = await press(
        page,
        'ArrowRight',
        'PageDown',
        'ArrowRight',
        'ArrowLeft',
        'ArrowLeft',
    );
    assert.ok(said.startsWith('position 22 · '), said);
    const read = readNumbers(said, 'dimension');
    assert.deepEqual(Object.keys(read), ['1', '5', '20', '21', '22', '23']);
    for (const [column, [value]] of Object.entries(read))
        assert.equal(Math.fround(value), values[15 * 24 + Number(column)]);
    await press(page, 'End');
    assert.match(await readout(page), /^position 54 · /);
    const pointed = await pointAt(
        page,
        page.locator('svg.chart'),
        ({width}) => [58 + 0.5 * (width - 72), 100],
        async () => {
            const text = await readout(page);
            assert.match(text, /^position 3[01] /);
            return text;
        },
    );
    const at = Number(/^position (\d+)/.exec(pointed)[1]);
    assert.equal(
        Math.fround(readNumbers(pointed, 'dimension')[5][0]),
        values[(at - 7) * 24 + 5],
    );
});

pageTest('curves go through the values, which are dots', {}, async (page) => {
    const values = await floats(LEFT);
    await open(page, `?${LEFT}&view=waves&view.waves.columns=3&view.mark=30`);
    const path = await page.getAttribute('svg.chart [data-mark=line] path', 'd');
    const curve = path.match(/-?[\d.]+,-?[\d.]+/g).map((each) => each.split(',').map(Number));
    assert.equal(curve.length, 47 * 8 + 1);
    assert.equal(await page.locator('svg.chart [data-mark=dot] circle').count(), 48);
    const points = curve.filter((_, i) => i % 8 === 0);
    const column = Array.from({length: 48}, (_, i) => values[i * 24 + 3]);
    const [least, most] = [Math.min(...column), Math.max(...column)];
    const [top, bottom] = [
        Math.min(...points.map(([, y]) => y)),
        Math.max(...points.map(([, y]) => y)),
    ];
    const between = curve.map(
        ([, y]) => least + ((bottom - y) / (bottom - top)) * (most - least),
    );
    const w = 500 ** (-2 / 24);
    between.forEach((value, i) =>
        assert.ok(Math.abs(value - Math.cos((7 + i / 8) * w)) < 1e-2, `${i}: ${value}`),
    );
    points.forEach(([, y], i) =>
        assert.ok(
            Math.abs((bottom - y) / (bottom - top) - (column[i] - least) / (most - least)) <
                1e-3,
            `${i}: ${y}`,
        ),
    );
    assert.match(await page.textContent('svg.chart'), /trained to 30/);
});

pageTest('many positions are drawn by their least and greatest', {}, async (page) => {
    await open(page, '?scheme=sinusoidal&length=100000&dim=16&view=waves&view.waves.columns=0');
    const path = await page.getAttribute('svg.chart [data-mark=line] path', 'd');
    assert.ok(path.length < 60000, `${path.length} characters`);
    const heights = path.match(/,-?[\d.]+/g).map((each) => Number(each.slice(1)));
    const values = Float32Array.from({length: 100000}, (_, k) => Math.sin(k));
    const reach =
        values.reduce((a, b) => Math.max(a, b)) - values.reduce((a, b) => Math.min(a, b));
    const height = Number(await page.getAttribute('svg.chart', 'height'));
    const drawnReach = Math.max(...heights) - Math.min(...heights);
    assert.ok(
        Math.abs(drawnReach / (height - 62) - reach / (reach * 1.08)) < 1e-3,
        String(drawnReach),
    );
});

pageTest('two tables share axes and cursor, and have a difference', {}, async (page) => {
    const [left, right] = [await floats(LEFT), await floats(RIGHT)];
    await open(page, `?${LEFT}&${RIGHT}&view=waves&view.waves.columns=2,20`);
    const lines = await page.$$eval('svg.chart [data-mark=line]', (all) =>
        all.map((each) => each.getAttribute('stroke-dasharray')),
    );
    assert.deepEqual(lines, [null, null, '6 4'], 'B has no column 20');
    const said = readNumbers(
        await press(page, 'Home', 'ArrowRight', 'ArrowRight', 'ArrowRight'),
        'dimension',
    );
    const [a, b] = [left[3 * 24 + 2], right[3 * 16 + 2]];
    assert.deepEqual(
        said[2].map((each, i) => (i < 2 ? Math.fround(each) : each)),
        [a, b, a - b],
    );
    assert.deepEqual(said[20].map(Math.fround), [left[3 * 24 + 20]]);
    assert.equal(
        (await press(page, 'End')).startsWith('position 54 · '),
        true,
        'the end of the longer',
    );
    await page.selectOption('#waves-arrangement', 'apart');
    await drawn(page);
    assert.equal(await page.locator('svg.chart').count(), 2);
    await press(page, 'ArrowRight', 'ArrowRight');
    const places = await page.$$eval('.chart-cursor line', (all) =>
        all.map((each) => each.getAttribute('x1')),
    );
    assert.equal(places.length, 2);
    assert.equal(places[0], places[1]);
    await page.selectOption('#waves-arrangement', 'difference');
    await drawn(page);
    assert.match(page.url(), /view\.waves\.arrangement=difference/);
    assert.match(await page.getAttribute('svg.chart', 'aria-label'), /^A − B: /);
});

pageTest(
    'a profile reads the bits of its rows, and its choice lives in the address',
    {},
    async (page) => {
        const values = await floats(LEFT);
        await open(page, `?${LEFT}&view=profiles`);
        await page.fill('#profiles-positions', '7, 20 54');
        await page.keyboard.press('Enter');
        await drawn(page);
        assert.match(page.url(), /view\.profiles\.positions=7,20,54/);
        await page.reload();
        await drawn(page);
        const said = await press(page, 'ArrowRight', 'ArrowRight', 'ArrowRight');
        assert.ok(said.startsWith('dimension 2 · '), said);
        const read = readNumbers(said, 'position');
        for (const position of [7, 20, 54])
            assert.equal(Math.fround(read[position][0]), values[(position - 7) * 24 + 2]);
        await page.fill('#profiles-positions', '7,55');
        await page.keyboard.press('Enter');
        await drawn(page);
        assert.match(
            await page.textContent('#profiles-positions-error'),
            /^55 is not there; the window has those from 7 to 54/,
        );
        assert.equal(await page.getAttribute('#profiles-positions', 'aria-invalid'), 'true');
    },
);

pageTest('between whole positions stand no numbers', {}, async (page) => {
    const numbers = () =>
        page.$$eval('[data-mark="x-axis tick label"] text', (all) =>
            all.map(({textContent}) => textContent).filter((text) => /^[\d.]+$/.test(text)),
        );
    for (const [view, address] of [
        ['waves', '?scheme=swin&height=2&heads=3'],
        ['profiles', '?scheme=shaw&length=4&dim=8'],
        ['spectrum', '?scheme=sinusoidal&length=16&dim=4'],
    ]) {
        await open(page, `${address}&view=${view}`);
        await page.waitForSelector('[data-mark="x-axis tick label"]');
        const shown = await numbers();
        assert.ok(shown.length >= 3, `${view}: ${shown}`);
        for (const each of shown) assert.match(each, /^\d+$/, `${view}: ${shown}`);
    }
    await open(page, '?scheme=sinusoidal&length=5&dim=8&step=0.5&view=waves');
    assert.match((await numbers()).join(' '), /\./, 'positions may have halves');
});

pageTest('the spectrum counts the columns that never complete a turn', {}, async (page) => {
    for (const [address, dim, base, limit] of [
        [`?${LEFT}&view=spectrum&view.mark=100`, 24, 500, 100],
        [
            '?scheme=rope&length=64&dim=128&rope_theta=500000&table=full&view=spectrum' +
                '&view.mark=8192',
            128,
            500000,
            8192,
        ],
    ]) {
        await open(page, address);
        await page.waitForSelector('.spectrum-words');
        const wavelengths = Array.from(
            {length: dim},
            (_, i) => 2 * Math.PI * base ** ((2 * (i % (dim / 2))) / dim),
        );
        const longer = wavelengths.filter((each) => each > limit).length;
        const words = await page.textContent('.spectrum-words');
        assert.ok(
            longer > 0 &&
                words.startsWith(
                    `${longer} of ${dim} columns have wavelengths above the training length ` +
                        `of ${limit}`,
                ),
            words,
        );
        assert.equal(await page.locator('svg.chart [data-mark=dot] circle').count(), dim);
    }
    const said = await press(page, 'End');
    const wavelength = 2 * Math.PI * 500000 ** (126 / 128);
    assert.ok(
        Math.abs(Number(/wavelength ([\d.e]+)/.exec(said)[1]) / wavelength - 1) < 1e-7,
        said,
    );
});

pageTest('where no column is a wave, there is no spectrum', {}, async (page) => {
    await open(page, '?scheme=sinusoidal&length=8&dim=4&amplitude=0&view=spectrum');
    await page.waitForSelector('.spectrum-words');
    assert.equal(
        await page.textContent('.spectrum-words'),
        'No column is a wave of the position.',
    );
    await open(page, '?scheme=learned&length=8&dim=4&view=waves');
    const tabs = await page.$$eval('#tabs button', (all) =>
        all.map((each) => each.textContent),
    );
    assert.ok(tabs.includes('Lines') && tabs.includes('Profiles'), String(tabs));
    assert.ok(!tabs.includes('Spectrum') && !tabs.includes('Precision'), String(tabs));
});

pageTest('integers are no waves, and biases are over their queries', {}, async (page) => {
    await open(page, '?scheme=deberta&length=8&dim=4');
    assert.equal(await page.locator('#tabs [data-view=waves]').count(), 0);
    await open(page, '?scheme=alibi&length=40&heads=2&view=waves&view.mark=20');
    assert.match(await press(page, 'ArrowRight', 'ArrowRight'), /^query 1 · key 0: /);
    await page.click('button:text-is("Profiles")');
    await drawn(page);
    assert.equal(await page.textContent('label[for=profiles-positions]'), 'queries');
});

for (const [colorScheme, width] of [
    ['light', 400],
    ['dark', 1280],
])
    pageTest(
        `axe finds nothing in ${colorScheme} at ${width} pixels`,
        {colorScheme, viewport: {width, height: 900}},
        async (page) => {
            for (const view of colorScheme === 'dark'
                ? ['waves', 'precision']
                : ['waves', 'profiles', 'spectrum', 'precision']) {
                await open(page, `?${LEFT}&${RIGHT}&view=${view}&view.mark=20`);
                await page.waitForFunction(
                    () =>
                        document.querySelector('svg.chart') &&
                        !document.querySelector('#view [aria-busy]'),
                );
                assert.deepEqual(
                    await findings(
                        page,
                        '#view',
                        colorScheme === 'dark' ? {runOnly: ['color-contrast']} : {},
                    ),
                    [],
                    view,
                );
                assert.ok(
                    await page.evaluate(
                        () => document.documentElement.scrollWidth <= innerWidth,
                    ),
                    `${view} is too wide`,
                );
                await screenshot(page, `${view}-${colorScheme}-${width}`);
            }
        },
    );

test('lists are read as people type them', () => {
    const below = (each) => Number.isInteger(each) && each >= 0 && each < 10;
    assert.deepEqual(parseList('3, 1;2..4  3', below, ''), {
        numbers: [3, 1, 2, 4],
        mistake: '',
    });
    assert.deepEqual(parseList('', below, ''), {numbers: [], mistake: ''});
    assert.deepEqual(parseList('-2.5', (each) => each === -2.5, '').numbers, [-2.5]);
    assert.match(parseList('1,x', below, 'so').mistake, /“x” is no number; so/);
    assert.match(parseList('1,10', below, 'so').mistake, /10 is not there; so/);
    assert.equal(parseList('0..1e9', () => true, '').numbers.length, 24);
    assert.deepEqual(
        parseList('0..24', () => true, ''),
        {numbers: Array.from({length: 24}, (_, i) => i), mistake: 'at most 24 lines are drawn'},
    );
    assert.equal(parseList('0..23', () => true, '').mistake, '');
    assert.deepEqual(spread(3), [0, 1, 2]);
    assert.deepEqual(spread(64), [0, 4, 8, 16, 32]);
});
