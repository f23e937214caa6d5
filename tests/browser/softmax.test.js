// What biases make of one query's attention: the softmax of the service's own numbers.
import assert from 'node:assert/strict';
import {decode} from '../../server/visualiser/numbers.js';
import {
    drawn,
    eventually,
    findings,
    open,
    pageTest,
    pointAt,
    readout,
    readoutFrom,
    url,
} from './harness.js';

const KEYS = 24,
    HEADS = 2;
const QUERY = `length=${KEYS}&query_length=20&heads=${HEADS}`; // queries at 4 to 23

// Weights of a query's keys, for each head, from the expanded biases.
async function weights(scheme, query, position, {keys = KEYS, queries = 20, first = 4} = {}) {
    const biases = decode(
        'f32',
        await (
            await fetch(`${url}/v1/encodings/${scheme}?${query}&tensor=bias&format=raw`)
        ).arrayBuffer(),
    );
    return Array.from({length: HEADS}, (_, head) => {
        const row = [
            ...biases.subarray((head * queries + position - first) * keys).slice(0, keys),
        ].map(Math.exp);
        const sum = row.reduce((a, b) => a + b);
        return row.map((each) => each / sum);
    });
}

async function check(page, expected, key) {
    const text = await pointAt(
        page,
        page.locator('svg.chart').first(),
        ({width}) => [58 + (key / (KEYS - 1)) * (width - 72), 100],
        () => readoutFrom(page, `key ${key} · `),
    );
    const values = [...text.matchAll(/head (\d+) (\S+)/g)];
    assert.equal(values.length, HEADS);
    for (const [said, head, value] of values) {
        if (value === 'masked') assert.equal(expected[head][key], 0, said);
        else
            assert.ok(
                Math.abs(Number(value) / expected[head][key] - 1) < 1e-5,
                `key ${key}: ${said}, not ${expected[head][key]}`,
            );
    }
}

pageTest(
    'weights under the pointer are the softmax of the service’s biases, of whichever query',
    {},
    async (page) => {
        for (const [scheme, more] of [
            ['alibi', '&mask=causal'],
            ['t5', ''],
        ]) {
            await open(
                page,
                `?scheme=${scheme}&${QUERY}${more}&view=softmax&view.softmax.query=10`,
            );
            for (const key of [0, 9, 20])
                await check(page, await weights(scheme, `${QUERY}${more}`, 10), key);
            await open(
                page,
                `?scheme=${scheme}&${QUERY}${more}&form=compact&view=softmax` +
                    '&view.softmax.query=10',
            );
            await check(page, await weights(scheme, `${QUERY}${more}`, 10), 7);
        }
    },
);

pageTest(
    'a query is typed, or slid to at once; the address keeps it, and the cursor moves by keys',
    {},
    async (page) => {
        await open(page, `?scheme=alibi&${QUERY}&view=softmax`);
        await page.fill('#softmax-query', '15');
        await page.keyboard.press('Enter');
        await drawn(page);
        assert.match(page.url(), /view\.softmax\.query=15/);
        assert.equal(await page.evaluate(() => document.activeElement.id), 'softmax-query');
        await page.reload();
        await drawn(page);
        await check(page, await weights('alibi', QUERY, 15), 14);
        await page.focus('#softmax-slider');
        await page.keyboard.press('ArrowLeft');
        await page.keyboard.press('ArrowLeft');
        await eventually(async () =>
            assert.match(await page.textContent('svg.chart'), /query 13/),
        );
        assert.match(page.url(), /view\.softmax\.query=13/);
        assert.equal(await page.inputValue('#softmax-query'), '13');
        await page.focus('svg.chart');
        for (const key of ['Home', ...Array(14).fill('ArrowRight')])
            await page.keyboard.press(key);
        const expected = await weights('alibi', QUERY, 13);
        const six = (weight) => Number(weight.toPrecision(6));
        assert.equal(
            await readout(page),
            ['key 14', ...expected.map((row, head) => `head ${head} ${six(row[14])}`)].join(
                ' · ',
            ),
        );
        await page.getByText('Numbers of these heads').click();
        const reach = expected[0].reduce(
            (sum, weight, key) => sum + weight * Math.abs(key - 13),
            0,
        );
        const [slope, greatest, mean] = await page
            .locator('.numbers tbody tr')
            .first()
            .locator('td')
            .allTextContents();
        assert.deepEqual(
            [slope, greatest, Number(mean).toFixed(4)],
            [
                'slope 0.0625',
                `${Number(expected[0][13].toPrecision(6))} at 13`,
                reach.toFixed(4),
            ],
        );
    },
);

pageTest('only biases of scores have a softmax', {}, async (page) => {
    for (const address of [
        '?scheme=urpe&length=8&heads=2',
        '?scheme=t5&length=8&heads=2&view.tensor=bucket',
    ]) {
        await open(page, address);
        const titles = await page.locator('#tabs button').allTextContents();
        assert.ok(
            titles.includes('Heatmap') && !titles.includes('Softmax'),
            `${address}: ${titles}`,
        );
    }
});

pageTest(
    'axe finds nothing in the softmax in both themes, on a phone and on a screen',
    {},
    async (page) => {
        for (const [colorScheme, width] of [
            ['light', 400],
            ['dark', 1280],
        ]) {
            await page.emulateMedia({colorScheme});
            await page.setViewportSize({width, height: 900});
            await open(
                page,
                `?scheme=alibi&${QUERY}&right.scheme=t5&${QUERY.split('&')
                    .map((each) => `right.${each}`)
                    .join('&')}&view=softmax`,
            );
            await page.getByText('Numbers of these heads').click();
            assert.deepEqual(await findings(page, '#view'), [], colorScheme);
            assert.ok(
                await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth),
                `too wide at ${width}`,
            );
        }
    },
);

pageTest(
    'how far a head sees is the distance within which 90 % of its attention lie',
    {},
    async (page) => {
        await open(page, '?scheme=alibi&length=256&heads=4&mask=causal&view=softmax');
        await page.waitForFunction(() => !document.querySelector('#view [aria-busy]'));
        assert.equal(await page.locator('svg.chart').count(), 2);
        await page.click('#view summary');
        const told = await page.$$eval('.numbers tbody tr', (rows) =>
            rows.map((row) => Number(row.lastElementChild.textContent)),
        );
        const mine = [1, 2, 3, 4].map((head) => {
            const slope = 2 ** (-2 * head);
            const sizes = Array.from({length: 256}, (_, distance) =>
                Math.exp(-slope * distance),
            );
            const all = sizes.reduce((a, b) => a + b);
            let sum = 0;
            return 1 + sizes.findIndex((each) => (sum += each / all) >= 0.9);
        });
        assert.deepEqual(told, mine);
    },
);

pageTest('no decade is written beyond the end of its axis', {}, async (page) => {
    await open(page, '?scheme=alibi&length=64&heads=2&view=softmax');
    const decades = await page.$$eval('#view svg.chart', (charts) =>
        [...charts.at(-1).querySelectorAll('text')].map(({textContent}) => textContent),
    );
    assert.ok(decades.includes('10'));
    assert.ok(!decades.includes('100'), 'the last distance is 63');
});
