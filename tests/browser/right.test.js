// Pictures do not mislead: values without a range have no scale, tables with other axes are not
// subtracted, what a pixel cannot hold is not averaged away, and matrices of places are square.
import assert from 'node:assert/strict';
import {test} from 'node:test';
import {coverOf, paint, spansOf} from '../../server/visualiser/raster.js';
import {open, pageTest, readout, screenshot, url} from './harness.js';

const right = (query) =>
    query
        .split('&')
        .map((each) => `right.${each}`)
        .join('&');
const SINES = 'scheme=sinusoidal&length=48&dim=16';
const captions = (page) => page.locator('.panel figcaption').allTextContents();

pageTest('equal values are said to be equal, without a scale', {}, async (page) => {
    await open(page, '?scheme=urpe&length=12&heads=2');
    assert.deepEqual(await captions(page), ['toeplitzall values are 1']);
    assert.equal(await page.locator('.panel .bar').count(), 0);
    assert.match(await page.getAttribute('canvas.plot', 'aria-label'), /all values are 1\. /);
    await open(page, '?scheme=urpe&length=12&heads=2&view=heads');
    await page.waitForSelector('#view [data-heads]');
    assert.equal(await page.textContent('.heads-legend'), 'all heads: each value is 1');
});

pageTest('a difference of equal tables is said to be none', {}, async (page) => {
    await open(page, `?${SINES}&${right(SINES)}`);
    assert.match((await captions(page))[2], /^A − BA and B are identical$/);
    assert.equal(await page.locator('.panel').nth(2).locator('.bar').count(), 0);
    await open(page, `?${SINES}&${right(SINES.replace('48', '40'))}`);
    assert.match(
        (await captions(page))[2],
        /^A − BA and B are identical where both have values$/,
    );
    const causal = 'scheme=alibi&length=12&heads=2&mask=causal';
    await open(page, `?${causal}&${right(causal)}&view=heads`);
    await page.waitForSelector('#view [data-heads]');
    assert.match(await page.textContent('.heads-legend'), /A and B are identical/);
    await screenshot(page, 'identical');
});

pageTest(
    'tables with other axes are not subtracted, and the page says why',
    {},
    async (page) => {
        for (const [one, other, reason] of [
            [
                SINES,
                'scheme=alibi&length=12&heads=2',
                /axes differ: A has positions by dimensions, B has queries by keys\./,
            ],
            [
                SINES,
                `${SINES}&offset=7`,
                /since row 0 is position 0 in A and position 7 in B\./,
            ],
            [
                'scheme=t5&length=8&heads=2&form=compact',
                'scheme=t5&length=9&heads=2&form=compact',
                /since column 0 is distance -7 in A and distance -8 in B\./,
            ],
            [
                'scheme=transformer_xl&length=8&dim=8',
                'scheme=relative_sinusoidal&length=8&dim=8&form=compact',
                /A has distance, query minus key by dim, B has distance, key minus query by dim\./,
            ],
        ]) {
            await open(page, `?${one}&${right(other)}`);
            assert.match(await page.textContent('.refusal'), reason);
            assert.equal(await page.locator('.panel').count(), 2);
        }
        await open(page, `?${SINES}&${right(`${SINES}&offset=7`)}&view.heatmap.scales=shared`);
        await page.focus('canvas.plot');
        for (const key of ['ArrowDown', 'ArrowDown']) await page.keyboard.press(key);
        const value = async (position) =>
            (
                await (
                    await fetch(`${url}/v1/encodings/sinusoidal?positions=${position}&dim=16`)
                ).json()
            ).tensors[0].data[0][0];
        assert.ok(
            (await readout(page)).startsWith(
                `A: position 1, dimension 0, value ${await value(1)} · B: position 8, ` +
                    `dimension 0, value ${await value(8)}`,
            ),
            await readout(page),
        );
    },
);

pageTest('an oscillation that is too fine for pixels keeps its colours', {}, async (page) => {
    await open(page, '?scheme=sinusoidal&length=40000&dim=4');
    const {height} = await page.locator('canvas.plot').boundingBox();
    const [, most] = (await page.textContent('.heatmap-cover')).match(
        /covers up to (\d+) rows here: neighbouring pixels show the least and the greatest/,
    );
    assert.ok(
        Math.abs(Number(most) - 40000 / (height - 40)) <= 1,
        `${most} rows in a pixel of ${height}`,
    );
    const inks = await page.locator('canvas.plot').evaluate((canvas) => {
        const {data, width} = canvas.getContext('2d').getImageData(80, 50, 8, 8);
        return [
            ...new Set(
                Array.from({length: width * 8}, (_, i) => data.slice(4 * i, 4 * i + 3).join()),
            ),
        ];
    });
    assert.deepEqual(inks.length, 2, String(inks));
    assert.ok(
        inks.every((ink) => Math.max(...ink.split(',')) - Math.min(...ink.split(',')) > 60),
        `${inks}: both are strong colours`,
    );
    await screenshot(page, 'fine-oscillation');
    await page.focus('canvas.plot');
    for (let i = 0; i < 12; i++) await page.keyboard.press('+');
    await page.waitForFunction(
        () => document.querySelector('.heatmap-cover').textContent === '',
    );
});

pageTest('matrices of queries and keys have square cells', {}, async (page) => {
    for (const [address, rows, columns] of [
        ['?scheme=alibi&length=40&heads=2', 40, 40],
        ['?scheme=alibi&length=40&query_length=20&heads=2', 20, 40],
        ['?scheme=rotation_matrix&length=4&dim=8', 8, 8],
    ]) {
        await open(page, address);
        const {width, height} = await page.locator('canvas.plot').boundingBox();
        assert.ok(
            Math.abs((width - 72) / columns - (height - 40) / rows) < 0.1,
            `${width} by ${height}`,
        );
    }
});

test('a pixel shows the least or the greatest of its values, none beyond the table', () => {
    const table = {data: Float64Array.of(-1, 1, 3, NaN, 0, 2), columns: 6};
    const image = {width: 4, height: 2, data: new Uint8ClampedArray(32)};
    const scale = {word: (value) => (Number.isNaN(value) ? 99 : value + 10)};
    const across = spansOf(4, [0, 8], 6),
        down = spansOf(2, [0, 1], 1);
    paint(image, table, scale, across, down);
    assert.deepEqual([...new Uint32Array(image.data.buffer)], [11, 13, 10, 0, 11, 13, 10, 0]);
    assert.equal(coverOf(down, down), '');
    assert.match(coverOf(across, down), /^A pixel covers up to 2 columns here/);
});
