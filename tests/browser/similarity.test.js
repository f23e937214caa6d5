// Positions against positions: matrix, curves and cloud show the service's bits and those of
// the definitions; the examples lead to their views.
import assert from 'node:assert/strict';
import {test} from 'node:test';
import {shortest} from '../../server/visualiser/numbers.js';
import {compareTriangles, pairsOf, rowsToCompare} from '../../server/visualiser/pairs.js';
import {EXAMPLES} from '../../server/visualiser/examples.js';
import {scoreOf} from './score.js';
import {
    drawn,
    eventually,
    findings,
    open,
    pageTest,
    readout,
    schemes,
    screenshot,
    url,
} from './harness.js';

const N = 48,
    DIM = 16,
    OFFSET = 7;
const QUERY = `length=${N}&dim=${DIM}&offset=${OFFSET}&base=30`;
const SIDES =
    `?scheme=sinusoidal&${QUERY}&right.scheme=sinusoidal&right.length=${N}` +
    `&right.dim=${DIM}&right.offset=${OFFSET}`;

async function raw(path, Type = Float32Array) {
    const response = await fetch(`${url}/v1/${path}&format=raw`);
    assert.equal(response.status, 200, path);
    return new Type(await response.arrayBuffer());
}

// The metrics by their definitions, in double precision.
const sum = (values) => values.reduce((total, value) => total + value, 0);
const centred = (row) => row.map((value) => value - sum([...row]) / row.length);
const dot = (a, b) => sum([...a].map((value, i) => value * b[i]));
const cosine = (a, b) => dot(a, b) / Math.sqrt(dot(a, a) * dot(b, b));
const BY_DEFINITION = {
    l2: (a, b) => Math.hypot(...a.map((value, i) => value - b[i])),
    l1: (a, b) => sum([...a].map((value, i) => Math.abs(value - b[i]))),
    dot,
    cosine,
    pearson: (a, b) => cosine(centred(a), centred(b)),
};

async function rowsOf(query, dim = DIM) {
    const table = await raw(`encodings/sinusoidal?${query}&dtype=f64`, Float64Array);
    return (i) => table.slice(i * dim, (i + 1) * dim);
}

// Wait until the view has its numbers, which come after its controls.
async function compared(page) {
    await drawn(page);
    await page.waitForSelector('#view .reply');
}

const press = async (page, ...keys) => {
    for (const key of keys) await page.keyboard.press(key);
};

pageTest(
    'every metric of the matrix is the service’s, and that of its definition',
    {},
    async (page) => {
        const row = await rowsOf(QUERY);
        await open(page, `?scheme=sinusoidal&${QUERY}&view=similarity`);
        for (const [metric, define] of Object.entries(BY_DEFINITION)) {
            await page.focus('#similarity-metric');
            await page.selectOption('#similarity-metric', metric);
            await compared(page);
            assert.equal(
                await page.evaluate(() => document.activeElement.id),
                'similarity-metric',
            );
            await page.focus('canvas.plot');
            await press(
                page,
                'ArrowDown',
                'ArrowDown',
                'ArrowDown',
                'PageDown',
                'ArrowRight',
                'ArrowRight',
                'ArrowRight',
                'ArrowRight',
                'ArrowRight',
            );
            const served = (await raw(`similarity/sinusoidal?${QUERY}&metric=${metric}`))[
                18 * N + 5
            ];
            assert.equal(
                await readout(page),
                `position ${18 + OFFSET} · position ${5 + OFFSET} · value ` +
                    `${shortest('f32', served)}`,
            );
            assert.ok(
                Math.abs(served - define(row(18), row(5))) <
                    1e-6 * Math.max(1, Math.abs(served)),
                metric,
            );
        }
    },
);

pageTest('two matrices share their scale and have a difference', {}, async (page) => {
    await open(page, `${SIDES}&view=similarity&view.similarity.metric=l2&view.mark=30`);
    await compared(page);
    const [left, right] = [
        await raw(`similarity/sinusoidal?${QUERY}&metric=l2`),
        await raw(`similarity/sinusoidal?${QUERY.replace('&base=30', '')}&metric=l2`),
    ];
    await page.focus('canvas.plot');
    await press(page, 'ArrowDown', 'PageDown', 'ArrowRight', 'ArrowRight');
    const at = 16 * N + 2;
    assert.equal(
        await readout(page),
        `position ${16 + OFFSET} · position ${2 + OFFSET} · A ${shortest('f32', left[at])} · ` +
            `B ${shortest('f32', right[at])} · difference ${left[at] - right[at]}`,
    );
    const scales = await page.locator('.panel .scale').allTextContents();
    assert.equal(scales.length, 3);
    assert.equal(scales[0], scales[1]);
    assert.match(scales[2], /^-([\d.]+)\1$/, 'the difference is symmetric about 0');
    const {width, height} = await page.locator('canvas.plot').first().boundingBox();
    assert.equal(width - 72, height - 40, 'cells are square');
});

pageTest('the matrix of a long table comes in windows of its rows', {}, async (page) => {
    const sizes = [];
    page.on('response', (response) => {
        if (response.url().includes('/v1/similarity/'))
            sizes.push(Number(response.headers()['content-length']));
    });
    await open(
        page,
        '?scheme=sinusoidal&length=20000&dim=4&view=similarity&view.similarity.metric=l2',
    );
    await compared(page);
    await page.click('[aria-label="Window of the matrix"] button:text-is("On")');
    await compared(page);
    await page.waitForFunction(() =>
        document.querySelector('#view').textContent.includes('to 417 of 20000'),
    );
    assert.match(page.url(), /view\.similarity\.row=209/);
    assert.deepEqual(sizes, [209 * 20000 * 4, 209 * 20000 * 4]);
    await page.focus('canvas.plot');
    await press(page, 'ArrowDown', 'ArrowDown', 'ArrowRight', 'ArrowRight', 'ArrowRight');
    const [, , , value] = await raw(
        'similarity/sinusoidal?length=20000&dim=4&metric=l2&rows=210',
    );
    assert.equal(
        await readout(page),
        `position 210 · position 3 · value ${shortest('f32', value)}`,
    );
});

pageTest(
    'curves are of the positions that were typed, clicked or chosen by keys',
    {},
    async (page) => {
        await open(page, `${SIDES}&view=distances`);
        await compared(page);
        assert.equal(await page.inputValue('#distances-positions'), '7, 31, 54');
        await page.fill('#distances-positions', '10, 40, 999');
        await press(page, 'Enter');
        await compared(page);
        assert.match(page.url(), /view\.distances\.positions=10,40,999/);
        assert.match(await page.textContent('.similarity-news'), /No curve of 999/);
        await page.focus('#distances-chart-0');
        await press(page, 'ArrowRight', 'PageDown', 'ArrowRight');
        const [left, right] = [
            await raw(`similarity/sinusoidal?${QUERY}&metric=l2`),
            await raw(`similarity/sinusoidal?${QUERY.replace('&base=30', '')}&metric=l2`),
        ];
        const value = (matrix, position) =>
            shortest('f32', matrix[(position - OFFSET) * N + 17]);
        assert.equal(
            await readout(page),
            `position 24 · L2 distance · A to 10 ${value(left, 10)} · A to 40 ` +
                `${value(left, 40)} · B to 10 ${value(right, 10)} · B to 40 ` +
                `${value(right, 40)}`,
        );
        const row = await rowsOf(QUERY);
        assert.ok(
            Math.abs(Number(value(left, 40)) - BY_DEFINITION.l2(row(33), row(17))) < 1e-6,
        );
        await press(page, 'Enter');
        await compared(page);
        assert.match(page.url(), /view\.distances\.positions=10,40,999,24/);
        assert.equal(await page.evaluate(() => document.activeElement.id), 'distances-chart-0');
        const box = await page.locator('#view svg.chart').boundingBox();
        await page.mouse.click(box.x + 58 + (box.width - 72) * (3 / (N - 1)), box.y + 100);
        await page.waitForFunction(() =>
            /positions=10,40,999,24,10|positions=40,999,24/.test(location.search),
        );
        await compared(page);
        assert.match(
            page.url(),
            /view\.distances\.positions=40,999,24/,
            'a click on a chosen position gives it up',
        );
    },
);

// The pairs a cloud has found under every third pixel of its canvas.
async function hoverCloud(page, canvas) {
    const box = await canvas.boundingBox();
    for (let y = 20; y < box.height - 50; y += 12)
        for (let x = 64; x < box.width - 20; x += 24) {
            await page.mouse.move(box.x + x, box.y + y);
            const said = await readout(page);
            if (said)
                return {said, x: x - 78, y: y - 8, wide: box.width - 92, high: box.height - 46};
        }
    throw new Error('no point was found');
}

pageTest(
    'a point of the cloud stands where its distance and correlation are',
    {},
    async (page) => {
        await open(page, `${SIDES}&view=cloud`);
        await compared(page);
        const row = await rowsOf(QUERY),
            other = await rowsOf(QUERY.replace('&base=30', ''));
        const found = await hoverCloud(page, page.locator('canvas.plot').first());
        const said =
            /^positions (\d+) and (\d+) · A L2 distance (\S+) · A Pearson correlation (\S+) · B L2 distance (\S+) · B Pearson correlation (\S+)$/
                .exec(found.said)
                .slice(1)
                .map(Number);
        const [i, j] = [said[0] - OFFSET, said[1] - OFFSET];
        const expected = [row, other].flatMap((of) => [
            BY_DEFINITION.l2(of(i), of(j)),
            BY_DEFINITION.pearson(of(i), of(j)),
        ]);
        expected.forEach((value, k) =>
            assert.ok(Math.abs(said[k + 2] - value) < 1e-6, `${found.said}: ${expected}`),
        );
        // both clouds have one scale, from the least to the greatest of both and 3 % beyond
        const place = (define, value, pixels) => {
            const all = [row, other].flatMap((of) =>
                Array.from({length: N * N}, (_, k) => [Math.floor(k / N), k % N])
                    .filter(([a, b]) => a !== b)
                    .map(([a, b]) => define(of(a), of(b))),
            );
            const least = Math.min(...all),
                most = Math.max(...all),
                room = (most - least) * 0.03;
            return ((value - least + room) / (most - least + 2 * room)) * pixels;
        };
        assert.ok(
            Math.abs(place(BY_DEFINITION.l2, expected[0], found.wide) - found.x) <= 10.5,
            'across',
        );
        assert.ok(
            Math.abs(
                found.high - place(BY_DEFINITION.pearson, expected[1], found.high) - found.y,
            ) <= 10.5,
            'upwards',
        );
        assert.match(
            await page.textContent('.cloud-news'),
            new RegExp(
                `^A: ${(N * (N - 1)).toLocaleString('en')} ordered pairs; both triangles ` +
                    'coincide',
            ),
        );
    },
);

pageTest(
    'a triangle alone has its own colour; both together have the third',
    {},
    async (page) => {
        const inks = async (triangle) => {
            await open(
                page,
                `?scheme=sinusoidal&${QUERY}&view=cloud&view.cloud.triangle=${triangle}`,
            );
            await compared(page);
            return page.evaluate(() => {
                const canvas = document.querySelector('canvas.plot');
                const {data} = canvas
                    .getContext('2d')
                    .getImageData(0, 0, canvas.width, canvas.height);
                const wanted = ['rgb(0, 114, 178)', 'rgb(213, 94, 0)', 'rgb(0, 158, 115)'];
                const counts = [0, 0, 0];
                for (let k = 0; k < data.length; k += 4) {
                    const at = wanted.indexOf(
                        `rgb(${data[k]}, ${data[k + 1]}, ${data[k + 2]})`,
                    );
                    if (at >= 0) counts[at]++;
                }
                return counts.map(Boolean);
            });
        };
        assert.deepEqual(await inks('upper'), [true, false, false]);
        assert.deepEqual(await inks('lower'), [false, true, false]);
        assert.deepEqual(await inks('both'), [false, false, true]);
    },
);

pageTest(
    'rows without a correlation are told, and large clouds are thinned',
    {},
    async (page) => {
        await open(page, '?scheme=sinusoidal&length=20&dim=2&amplitude=0&view=cloud');
        await compared(page);
        assert.match(
            await page.textContent('.cloud-news'),
            /380 without a Pearson correlation/,
        );
        await open(page, '?scheme=sinusoidal&length=3000&dim=4&view=cloud');
        await compared(page);
        const [, shown] =
            /^([\d,]+) of 8,997,000 ordered pairs, thinned by a fixed rule; 349 of 3000 rows/.exec(
                await page.textContent('.cloud-news'),
            );
        assert.ok(
            Number(shown.replaceAll(',', '')) > 5e5 &&
                Number(shown.replaceAll(',', '')) <= 5.3e5,
            shown,
        );
    },
);

test('both triangles lose the same pairs, and asymmetry is counted', () => {
    const n = 1000;
    const data = Float32Array.from({length: n * n}, (_, k) =>
        Math.abs(Math.floor(k / n) - (k % n)),
    );
    const matrix = {rows: n, columns: n, numbers: (i) => i, data};
    const {at, thinned} = pairsOf(matrix, matrix, 'both');
    const kept = new Set(at);
    assert.ok(thinned && Math.abs(kept.size - 2 ** 19) < 4000, String(kept.size));
    for (const index of kept) assert.ok(kept.has((index % n) * n + Math.floor(index / n)));
    assert.deepEqual(compareTriangles(matrix, matrix), {
        mirrored: (n * (n - 1)) / 2,
        different: 0,
    });
    const other = {
        ...matrix,
        data: data.map((value, k) => (k === 5 || k === 7 * n + 2 ? value + 1 : value)),
    };
    assert.equal(compareTriangles(matrix, other).different, 2);
    assert.deepEqual(rowsToCompare(3), [0, 1, 2]);
    assert.equal(rowsToCompare(2 ** 22).length, 1);
});

// Which of the three views have a meaning, by scheme and tensor.
const ALL = ['Similarity', 'Distances', 'Cloud'];
const MEANT = [
    ['sinusoidal', '', ALL],
    ['learned', '', ALL],
    ['transformer_xl', '', ALL],
    ['rope', '', ALL],
    ['rope', 'sin', ALL],
    ['rope', 'inv_freq', []],
    ['xpos', 'k_sin', ALL],
    ['complex_order', 'imag', ALL],
    // rows of a grid are on no line
    ['axial_rope', '', ['Similarity', 'Cloud']],
    ['mrope', 'sin', ['Similarity', 'Cloud']],
    ['fourier', '', ['Similarity', 'Cloud']],
    ['resized', '', ['Similarity', 'Cloud']],
    // a single number has no correlation
    ['integer', '', ['Similarity', 'Distances']],
    ['alibi', '', []],
    ['t5', '', []],
];

pageTest('these views are there exactly where they have a meaning', {}, async (page) => {
    for (const [name, tensor, titles] of MEANT) {
        const {example} = schemes.find((scheme) => scheme.name === name);
        await open(page, `?scheme=${name}&${example}&view=similarity&view.tensor=${tensor}`);
        const tabs = await page.locator('#tabs button').allTextContents();
        assert.deepEqual(
            tabs.filter((title) => ALL.includes(title)),
            titles,
            `${name} ${tensor}`,
        );
        if (titles.length > 0) await compared(page);
    }
});

// The score of one draw by its definition: both vectors are turned, then multiplied.
const TURNED = [
    ['rope', 'length=24&dim=16&offset=5', ['cos', 'sin'], ['cos', 'sin']],
    ['rope', 'length=24&dim=16&table=full&layout=interleaved', ['cos', 'sin'], ['cos', 'sin']],
    ['xpos', 'length=24&dim=16&scale_base=8', ['q_cos', 'q_sin'], ['k_cos', 'k_sin']],
];

pageTest('vectors that turn are compared once they are turned', {}, async (page) => {
    for (const [scheme, query, forQuery, forKey] of TURNED) {
        const half = query.replace('&table=full', '');
        const [qc, qs, kc, ks] = await Promise.all(
            [...forQuery, ...forKey].map((tensor) =>
                raw(`encodings/${scheme}?${half}&tensor=${tensor}`),
            ),
        );
        for (const [i, j] of [
            [7, 3],
            [3, 7],
        ]) {
            const wanted = scoreOf({
                ...{cos: qc, sin: qs, keyCos: kc, keySin: ks, count: 8},
                ...{row: i, key: j, seed: 5, draws: 1, other: true},
            });
            await open(
                page,
                `?scheme=${scheme}&${query}&view=similarity&view.scores.seed=5` +
                    '&view.scores.draws=1&view.scores.key=other',
            );
            await compared(page);
            await page.locator('canvas.plot').focus();
            await press(page, 'ArrowDown', ...Array(i).fill('ArrowDown'));
            await press(page, ...Array(j).fill('ArrowRight'));
            const said = await readout(page);
            const [, value] = /^query (?:\d+) · key (?:\d+) · value (\S+)$/.exec(said) ?? [];
            assert.ok(Math.abs(Number(value) - wanted) < 1e-5, `${scheme}: ${said}, ${wanted}`);
        }
        assert.match(
            await page.textContent('#view .note'),
            /Only the distance from query to key counts: pairs with the same distance have one score\.$/,
        );
    }
});

pageTest('a grid is compared by its two distances', {}, async (page) => {
    const query = 'sizes=5,4&dim=16';
    const [cos, sin] = await Promise.all(
        ['cos', 'sin'].map((tensor) => raw(`encodings/axial_rope?${query}&tensor=${tensor}`)),
    );
    await open(
        page,
        `?scheme=axial_rope&${query}&view=similarity&view.scores.draws=1` +
            '&view.scores.key=other',
    );
    await compared(page);
    await page.locator('canvas.plot').focus();
    await press(page, 'ArrowDown', ...Array(2).fill('ArrowDown'), 'ArrowRight');
    // two rows below and one column to the right of the corner: 2 up, 2 to the left
    const wanted = scoreOf({
        ...{cos, sin, count: 8, row: 1 * 4 + 1, key: 3 * 4 + 3},
        ...{seed: 0, draws: 1, other: true},
    });
    const said = await readout(page);
    const [, value] =
        /^distance along axis 0 -2 · distance along axis 1 -2 · value (\S+)$/.exec(said) ?? [];
    assert.ok(Math.abs(Number(value) - wanted) < 1e-5, `${said}, ${wanted}`);
    await page.click('#tabs [data-view=scores]');
    await page.waitForSelector('#view[data-drawn=scores] svg.chart');
    assert.match(
        await page.textContent('svg.chart'),
        /distance along axis 0, query minus key/,
        'and no number of a row is a distance',
    );
    await page.selectOption('#scores-axis', 'axis 1');
    await page.waitForFunction(() => /scores\.axis=axis\+?(%20)?1/.test(location.search));
});

pageTest(
    'a metric that the element type cannot hold is told',
    {expected: /status of 4\d\d/},
    async (page) => {
        await open(
            page,
            '?scheme=sinusoidal&length=8&dim=8&amplitude=1000&dtype=f16&view=similarity' +
                '&view.similarity.metric=dot',
        );
        await page.waitForSelector('.similarity-news.failed');
        const {detail} = await (
            await fetch(
                `${url}/v1/similarity/sinusoidal?length=8&dim=8&amplitude=1000&dtype=f16` +
                    '&metric=dot',
            )
        ).json();
        assert.equal(await page.textContent('.similarity-news'), detail);
    },
);

pageTest('base 10 beside base 10000 is one click away', {}, async (page) => {
    await open(page);
    await page.click('#examples a:has-text("Base 10 and 10000")');
    await page.waitForFunction(() => location.search.includes('right.base=10000'));
    await drawn(page);
    assert.equal(await page.inputValue('#left-base'), '10');
    assert.equal(await page.inputValue('#right-base'), '10000');
    await page.waitForSelector('#view .note:has-text("All waves repeat")');
    assert.equal(await page.isVisible('#examples ul'), false);
    await page.goBack();
    await drawn(page);
    assert.equal(await page.locator('#right').isVisible(), false);
});

// What its card says can be read off the view that an example opens.
const CLAIMS = {
    'Only the distance counts': [/^sinusoidal similarity$/, /one value/],
    'Base 10 and 10000': [/^sinusoidal heatmap$/, /All waves repeat/],
    'The decay of RoPE': [/^rope scores$/, /./],
    'The heads of ALiBi': [/^alibi softmax$/, /./],
    'RoPE beside YaRN, NTK …': [/^rope spectrum$/, /./],
    'Float32 far out': [/^sinusoidal precision$/, /wrong by up to/],
};

pageTest('every example shows what its card says', {}, async (page) => {
    assert.deepEqual(
        EXAMPLES.map(({title}) => title),
        Object.keys(CLAIMS),
    );
    for (const {title, address} of EXAMPLES) {
        await open(page, address);
        const named = new URLSearchParams(address);
        assert.match(`${named.get('scheme')} ${named.get('view')}`, CLAIMS[title][0]);
        await eventually(async () =>
            // what a note asks the service for comes later
            assert.match(await page.innerText('#view'), CLAIMS[title][1], title),
        );
        const asked = new URLSearchParams(address).get('view');
        const views = await page.evaluate(() =>
            [...document.querySelectorAll('#tabs button')].map((button) =>
                button.textContent.toLowerCase(),
            ),
        );
        if (views.includes(asked))
            assert.equal(await page.getAttribute('#view', 'data-drawn'), asked, title);
    }
});

for (const [colorScheme, width] of [
    ['light', 1280],
    ['dark', 400],
])
    pageTest(
        `axe finds nothing in them in ${colorScheme} at ${width} pixels`,
        {colorScheme, viewport: {width, height: 900}},
        async (page) => {
            for (const view of ['similarity', 'distances', 'cloud']) {
                await open(page, `${SIDES}&view=${view}`);
                await compared(page);
                await page.click('#examples-button');
                assert.deepEqual(
                    await findings(page, {include: [['#view'], ['#examples']]}),
                    [],
                    view,
                );
                assert.ok(
                    (await page.evaluate(
                        () => document.documentElement.scrollWidth - innerWidth,
                    )) <= 0,
                    `${view} is too wide`,
                );
                await screenshot(page, `${view}-${colorScheme}-${width}`);
            }
        },
    );

pageTest('the window of a long table holds for its similarities', {}, async (page) => {
    await open(
        page,
        '?scheme=sinusoidal&length=2000000&dim=1024&view=similarity&view.row=50000',
    );
    const asked = await page.textContent('#view .reply code');
    assert.match(asked, /offset=50000&length=4096/);
});
