// Heads side by side show the elements that the service sends, on one scale.
import assert from 'node:assert/strict';
import {open, pageTest, pointAt, readout, screenshot, settled, url} from './harness.js';

const ALIBI = 'length=24&heads=8';

async function values(scheme, query, Type = Float32Array) {
    return new Type(
        await (await fetch(`${url}/v1/encodings/${scheme}?${query}&format=raw`)).arrayBuffer(),
    );
}

async function show(page, address) {
    await open(page, address);
    await page.waitForSelector('#view [data-heads]');
}

// Move the pointer over a cell of the map with a number.
async function point(page, map, row, column, rows, columns) {
    const wanted = new RegExp(`^\\w+ \\d+ · query ${row} · key ${column} · `);
    await pointAt(
        page,
        page.locator('.heads-map canvas').nth(map),
        ({width, height}) => [
            ((column + 0.5) / columns) * width,
            ((row + 0.5) / rows) * height,
        ],
        async () => assert.match(await readout(page), wanted),
    );
}

// The table of values, as texts.
const cells = (page) =>
    page
        .locator('.numbers tbody tr')
        .evaluateAll((rows) =>
            rows.map((row) => [...row.children].map(({textContent}) => textContent)),
        );

const pixelOf = (page, map, x, y) =>
    page
        .locator('.heads-map canvas')
        .nth(map)
        .evaluate(
            (canvas, [right, down]) =>
                [
                    ...canvas
                        .getContext('2d')
                        .getImageData(
                            Math.floor(right * canvas.width),
                            Math.floor(down * canvas.height),
                            1,
                            1,
                        ).data,
                ].join(),
            [x, y],
        );

pageTest(
    'the values of all heads at the crosshair are those of the raw body',
    {},
    async (page) => {
        await show(page, `?scheme=alibi&${ALIBI}&view=heads`);
        const body = await values('alibi', ALIBI);
        assert.equal(await page.locator('.heads-map').count(), 8);
        for (const [map, row, column] of [
            [0, 3, 9],
            [5, 23, 0],
            [7, 12, 12],
        ]) {
            await point(page, map, row, column, 24, 24);
            const shown = await cells(page);
            assert.deepEqual(
                shown.map(([name]) => name),
                Array.from({length: 8}, (_, i) => `head ${i}`),
            );
            shown.forEach(([, text], head) =>
                assert.ok(
                    Object.is(Math.fround(Number(text)), body[(head * 24 + row) * 24 + column]),
                    `${head}: ${text}`,
                ),
            );
            assert.ok(
                (await readout(page)).startsWith(
                    `head ${map} · query ${row} · key ${column} · value ${shown[map][1]}`,
                ),
            );
        }
    },
);

pageTest('columns of relative vectors are planes of queries and keys', {}, async (page) => {
    const query = 'length=12&dim=40&max_distance=4';
    await show(page, `?scheme=shaw&${query}&view=heads&view.heads.page=1`);
    const body = await values('shaw', `${query}&tensor=keys`);
    assert.equal(await page.locator('.heads-map').count(), 16);
    await point(page, 2, 7, 10, 12, 12);
    const shown = await cells(page);
    assert.equal(shown[2][0], 'dimension 18');
    shown.forEach(([, text], i) =>
        assert.ok(
            Object.is(Math.fround(Number(text)), body[(7 * 12 + 10) * 40 + 16 + i]),
            `${i}: ${text}`,
        ),
    );
    await page.getByRole('button', {name: 'On', exact: true}).click();
    await settled(page);
    await page.waitForFunction(() => document.querySelectorAll('.heads-map').length === 8);
    assert.match(page.url(), /view\.heads\.page=2/);
});

pageTest(
    'one scale for all heads and both sides, from the least value to the greatest',
    {viewport: {width: 1280, height: 1000}},
    async (page) => {
        const B = 'right.scheme=alibi&right.length=24&right.heads=8&right.alibi_bias_max=4';
        await show(page, `?scheme=alibi&${ALIBI}&${B}&view=heads`);
        const [a, b] = [
            await values('alibi', ALIBI),
            await values('alibi', `${ALIBI}&alibi_bias_max=4`),
        ];
        const most = Math.max(...[...a, ...b].map(Math.abs));
        assert.ok(
            (await page.textContent('.heads-legend')).startsWith(
                `A and B ${-Number(most.toPrecision(5))}0A − B`,
            ),
            await page.textContent('.heads-legend'),
        );
        const equal = [0.5 / 24, 0.5 / 24]; // the diagonal is 0 in all heads of both sides
        assert.equal(await pixelOf(page, 0, ...equal), await pixelOf(page, 15, ...equal));
        assert.notEqual(
            await pixelOf(page, 0, 23.5 / 24, 0.5 / 24),
            await pixelOf(page, 7, 23.5 / 24, 0.5 / 24),
            'a steep and a flat head',
        );
        assert.notEqual(
            await pixelOf(page, 0, 23.5 / 24, 0.5 / 24),
            await pixelOf(page, 8, 23.5 / 24, 0.5 / 24),
            'the same head of A and B',
        );
        await point(page, 9, 2, 20, 24, 24);
        assert.ok(
            Object.is(
                Math.fround(
                    Number(
                        await page
                            .locator('.heads-value')
                            .nth(8 + 5)
                            .textContent(),
                    ),
                ),
                b[(5 * 24 + 2) * 24 + 20],
            ),
            'the value beside its head',
        );
        const shown = await cells(page);
        shown.forEach(([, left, right, difference], head) => {
            const at = (head * 24 + 2) * 24 + 20;
            assert.deepEqual(
                [left, right].map((text) => Math.fround(Number(text))),
                [a[at], b[at]],
            );
            assert.equal(Number(difference), a[at] - b[at]);
        });
        const tops = await page
            .locator('.heads-block')
            .evaluateAll((blocks) => blocks.map((block) => block.getBoundingClientRect().top));
        assert.ok(
            tops.length === 3 && tops[0] < tops[1] && tops[1] < tops[2],
            'A above B above their difference',
        );
        await page.mouse.move(0, 0);
        await screenshot(page, 'heads-compare-light');
    },
);

pageTest('infinite biases have a colour of their own', {}, async (page) => {
    await show(page, `?scheme=alibi&${ALIBI}&mask=causal&view=heads`);
    assert.match(await page.textContent('.heads-legend'), /infinite/);
    assert.equal(await pixelOf(page, 3, 23.5 / 24, 0.5 / 24), '185,190,198,255');
    await point(page, 3, 0, 23, 24, 24);
    assert.match(await readout(page), /value -∞/);
});

pageTest('keys move the crosshair, and Enter and clicks open a head', {}, async (page) => {
    await show(page, `?scheme=alibi&${ALIBI}&view=heads`);
    await page.locator('.heads-map canvas').nth(5).focus();
    for (const key of ['Home', 'ArrowDown', 'ArrowDown', 'ArrowRight'])
        await page.keyboard.press(key);
    await page.waitForFunction(() =>
        document
            .querySelector('#readout')
            .textContent.startsWith('head 5 · query 2 · key 1 · '),
    );
    await page.keyboard.press('Enter');
    await page.waitForSelector('#view[data-drawn="heatmap"] canvas.plot');
    assert.match(page.url(), /view=heatmap&.*view\.slice=5/);
    await page.goBack();
    await page.waitForSelector('#view[data-drawn="heads"] .heads-map');
    await page.locator('.heads-map canvas').nth(6).click();
    await page.waitForSelector('#view[data-drawn="heatmap"] canvas.plot');
    assert.match(page.url(), /view\.slice=6/);
});

// The points of a chart's line, in its own pixels.
const pathOf = (page, chart, line) =>
    page
        .locator('#view svg.chart')
        .nth(chart)
        .evaluate((svg, number) => {
            const paths = [...svg.querySelectorAll('g[data-mark="line"] path')];
            return {
                count: paths.length,
                points: paths[number]
                    .getAttribute('d')
                    .slice(1)
                    .split(/[LM]/)
                    .map((pair) => pair.split(',').map(Number)),
            };
        }, line);

pageTest('lines stand over the distances of the scheme, in both forms', {}, async (page) => {
    const query = 'length=20&heads=8&form=compact';
    await show(page, `?scheme=t5&${query}&view=heads`);
    const [body, distances] = [
        await values('t5', query),
        await values('t5', `${query}&tensor=distance`, Int32Array),
    ];
    const {count, points} = await pathOf(page, 0, 3);
    assert.equal(count, 8);
    assert.equal(points.length, distances.length);
    const row = [...body.slice(3 * 39, 4 * 39)];
    const slope = (points[38][0] - points[0][0]) / (distances[38] - distances[0]);
    points.forEach(([x], i) =>
        assert.ok(
            Math.abs(x - points[0][0] - slope * (distances[i] - distances[0])) < 0.1,
            `x of ${distances[i]}`,
        ),
    );
    const [low, high] = [row.indexOf(Math.min(...row)), row.indexOf(Math.max(...row))];
    const height = (points[high][1] - points[low][1]) / (row[high] - row[low]);
    points.forEach(([, y], i) =>
        assert.ok(
            Math.abs(y - points[low][1] - height * (row[i] - row[low])) < 0.1,
            `y of ${distances[i]}`,
        ),
    );
    await page.locator('#view svg.chart').focus();
    for (const key of ['Home', 'ArrowRight', 'ArrowRight']) await page.keyboard.press(key);
    const shown = await cells(page);
    assert.equal(await page.textContent('.numbers caption'), `distance ${distances[2]}`);
    shown.forEach(([, text], head) =>
        assert.equal(Math.fround(Number(text)), body[head * 39 + 2]),
    );

    const compact = 'length=20&dim=4&max_distance=3&form=compact';
    await show(page, `?scheme=shaw&${compact}&view=heads`);
    const table = await values('shaw', `${compact}&tensor=keys`);
    await page.locator('#view svg.chart').focus();
    for (const key of ['Home', 'ArrowRight']) await page.keyboard.press(key);
    assert.deepEqual(
        (await cells(page)).map(([, text]) => Math.fround(Number(text))),
        [...table.slice(4, 8)],
    );

    await show(
        page,
        `?scheme=t5&length=20&heads=8&view=heads&view.heads.form=lines&view.heads.query=4`,
    );
    const whole = await values('t5', 'length=20&heads=8');
    await page.locator('#view svg.chart').focus();
    await page.keyboard.press('End');
    assert.equal(await page.textContent('.numbers caption'), 'query 4 · key 19');
    (await cells(page)).forEach(([, text], head) =>
        assert.equal(Math.fround(Number(text)), whole[(head * 20 + 4) * 20 + 19]),
    );
});

pageTest('large tensors show as much as fits', {}, async (page) => {
    const query = 'length=1500&heads=4';
    await show(page, `?scheme=alibi&${query}&view=heads`);
    assert.match(await page.textContent('.heads-axes'), /rows 0 to 698 of 1500/);
});

pageTest('pictures of the heads', {colorScheme: 'dark'}, async (page) => {
    await show(page, '?scheme=t5&length=128&heads=12&view=heads&view.mark=64');
    await page.locator('.heads-map canvas').nth(4).hover();
    await page.waitForSelector('.numbers');
    await screenshot(page, 'heads-dark');
    await show(
        page,
        '?scheme=t5&length=128&heads=12&view=heads&view.heads.form=lines&view.mark=64',
    );
    await page.locator('#view svg.chart').hover();
    await screenshot(page, 'heads-lines-dark');
    await page.emulateMedia({colorScheme: 'light'});
    await page.setViewportSize({width: 400, height: 900});
    await show(
        page,
        `?scheme=alibi&${ALIBI}&right.scheme=alibi&right.length=24&right.heads=8` +
            '&right.mask=causal&view=heads&view.heads.form=lines',
    );
    await screenshot(page, 'heads-lines-narrow');
    assert.ok(
        await page.evaluate(() => document.documentElement.scrollWidth <= 400),
        'nothing is wider than the screen',
    );
    await show(page, '?scheme=alibi&length=24&heads=8&view=heads');
    await page.locator('.heads-map canvas').nth(1).hover();
    await screenshot(page, 'heads-narrow');
    assert.ok(
        await page.evaluate(() => document.documentElement.scrollWidth <= 400),
        'nothing is wider than the screen',
    );
});
