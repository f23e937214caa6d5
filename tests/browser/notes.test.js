// Each view says in one line what it shows and what there is to notice; the claims are counted
// here anew.
import assert from 'node:assert/strict';
import {test} from 'node:test';
import {
    correlationOf,
    dependsOnDifference,
    differencesBetween,
} from '../../server/visualiser/claims.js';
import {rangesText} from '../../server/visualiser/lists.js';
import {sided, waveNotice} from '../../server/visualiser/notes.js';
import {eventually, open, pageTest, schemes, url} from './harness.js';

// sizes of tables whose notes are long
const LONG = {
    sinusoidal: 'length=128&dim=64',
    rope: 'length=128&dim=64',
    complex_order: 'length=128&dim=64&vocab=100',
};

const note = (page) => page.textContent('#view .note');

pageTest(
    'the heatmap says which columns repeat, and how far the slowest has turned',
    {},
    async (page) => {
        await open(page, '?scheme=sinusoidal&length=128&dim=64');
        const wavelengths = Array.from(
            {length: 64},
            (_, i) => 2 * Math.PI * 10000 ** ((2 * Math.floor(i / 2)) / 64),
        );
        const repeating = wavelengths.filter((each) => each <= 128).length;
        await eventually(async () => assert.match(await note(page), /repeat/));
        assert.equal(
            await note(page),
            'Rows are positions, columns dimensions, colours values. Columns ' +
                `0–${repeating - 1} repeat within 128 positions; column 62 turns by ` +
                `${Number(((360 * 128) / wavelengths[62]).toPrecision(3))}°.`,
        );
    },
);

// What moves while it is clicked is missed.
for (const width of [1440, 1280, 1000, 500])
    pageTest(
        `a sentence that comes later moves nothing at ${width} pixels`,
        {viewport: {width, height: 900}},
        async (page) => {
            for (const [scheme, sizes] of Object.entries(LONG))
                for (const view of ['heatmap', 'waves', 'rotation']) {
                    await open(page, `?scheme=${scheme}&${sizes}&view=${view}`);
                    await page.waitForSelector('#view .note-notice:not(:empty)');
                    const [full, before] = await page.$eval('#view .note', (line) => {
                        const {height} = line.getBoundingClientRect();
                        line.querySelector('.note-notice').textContent = '';
                        return [height, line.getBoundingClientRect().height];
                    });
                    assert.equal(full, before, `${scheme} ${view}`);
                }
        },
    );

pageTest(
    'heads have their slopes, and the widest and the narrowest range',
    {},
    async (page) => {
        await open(page, '?scheme=alibi&length=32&heads=8&view=heads');
        const {tensors} = await (
            await fetch(`${url}/v1/encodings/alibi?length=32&heads=8`)
        ).json();
        const slopes = tensors.find(({name}) => name === 'slopes').data;
        assert.deepEqual(
            await page.locator('.heads-map figcaption span:first-child').allTextContents(),
            slopes.map((slope, i) => `head ${i} · slope ${Number(slope.toPrecision(5))}`),
        );
        assert.match(
            await note(page),
            /^A matrix for each head\. Head 0 has the widest range, -15\.5 to 0; head 7 the narrowest, -0\.12109 to 0\.$/,
        );
        const places = await page
            .locator('.heads-map')
            .evaluateAll((maps) => maps.map((map) => map.getBoundingClientRect().top));
        assert.equal(places.filter((top) => top === places[0]).length, 4, 'four in a row');
        const corner = (map) =>
            page
                .locator('.heads-map canvas')
                .nth(map)
                .evaluate((canvas) =>
                    [
                        ...canvas.getContext('2d').getImageData(canvas.width - 3, 3, 1, 1).data,
                    ].join(),
                );
        assert.notEqual(await corner(0), await corner(7));
        await page.selectOption('#heads-scale', 'each');
        await page.waitForFunction(() =>
            /each head from its least/.test(
                document.querySelector('.heads-legend').textContent,
            ),
        );
        assert.equal(await corner(0), await corner(7));
        assert.match(page.url(), /view\.heads\.scale=each/);
    },
);

pageTest('matrices say whether only the difference of places counts', {}, async (page) => {
    await open(page, '?scheme=sinusoidal&length=32&dim=16&view=similarity');
    await eventually(async () =>
        assert.match(
            await note(page),
            /their cosine\. Only the difference of two positions counts: pairs with the same difference have one value\.$/,
        ),
    );
    await open(page, '?scheme=learned&length=32&dim=16&view=similarity');
    await eventually(async () =>
        assert.match(await note(page), /Not only the difference of two positions counts/),
    );
});

pageTest(
    'similarities and clouds fill the width',
    {viewport: {width: 1440, height: 900}},
    async (page) => {
        const S = 'scheme=sinusoidal&length=32&dim=16';
        for (const address of [
            `?${S}&view=cloud`,
            `?${S}&right.scheme=sinusoidal&right.length=32&right.dim=16&right.base=10` +
                '&view=similarity',
        ]) {
            await open(page, address);
            await page.waitForSelector('#view .reply');
            const unused = await page.evaluate(
                () =>
                    document.querySelector('#view').getBoundingClientRect().right -
                    Math.max(
                        ...[...document.querySelectorAll('#view canvas.plot')].map(
                            (canvas) => canvas.getBoundingClientRect().right,
                        ),
                    ),
            );
            assert.ok(unused < 40, `${address}: ${unused} pixels are left`);
        }
    },
);

pageTest('every view of every scheme has its line', {}, async (page) => {
    for (const {name, example} of schemes.filter((scheme) =>
        ['rope', 'alibi', 'transformer_xl', 'integer', 'hierarchical'].includes(scheme.name),
    )) {
        await open(page, `?scheme=${name}&${example}`);
        const views = await page.$$eval('#tabs button', (all) =>
            all.map(({dataset}) => dataset.view),
        );
        for (const view of views) {
            await page.click(`#tabs [data-view=${view}]`);
            await page.waitForSelector(`#view[data-drawn=${view}] .note`);
            const text = await note(page);
            assert.ok(
                /^[A-Z].*\.$/.test(text) && !/NaN|undefined|Infinity/.test(text),
                `${name} ${view}: ${text}`,
            );
        }
    }
});

test('claims are counted from the data', () => {
    assert.equal(rangesText([0, 1, 2, 8, 10, 11]), '0–2, 8, 10–11');
    assert.equal(
        waveNotice([10, NaN, 1000], 100),
        'Column 0 repeats within 100 positions; column 2 turns by 36°.',
    );
    assert.equal(
        waveNotice([10, 20], 100),
        'All waves repeat within 100 positions, column 1 last, after 20.',
    );
    assert.equal(waveNotice([NaN], 100), '');
    assert.match(waveNotice([1e9], 1), /^No wave repeats within 1 position;/);
    assert.equal(sided(['x', 'x']), 'x');
    assert.equal(sided(['x', 'y']), 'A: x B: y');
    assert.equal(sided(['', 'y']), 'B: y');
    const depends = (values, at = (i) => i, dtype = 'f64') =>
        dependsOnDifference(
            {
                data: Float64Array.from(values),
                rows: 3,
                columns: 3,
                dtype,
                numbers: (i) => i,
            },
            differencesBetween([at], 3),
        );
    const bands = [0, 1, 2, 1, 0, 1, 2, 1, 0];
    assert.equal(depends(bands), true);
    assert.equal(depends(bands.with(8, 1)), false, 'one cell is another');
    assert.equal(depends(bands.with(8, 1e-4)), null, 'between rounding and a difference');
    assert.equal(depends(bands.with(8, NaN)), null);
    assert.equal(depends(Array(9).fill(5)), null, 'one value says nothing');
    assert.equal(
        depends(bands, (i) => [0, 1, 3][i]),
        true,
        'places 0, 1 and 3',
    );
    assert.equal(
        depends([0, 1, 3, 1, 0, 2, 3, 2, 0], (i) => [0, 1, 3][i]),
        true,
    );
    assert.equal(
        depends(bands, (i) => [0, 2, 1][i]),
        false,
        'places in another order',
    );
    assert.equal(
        depends(bands, (i) => [0, 1, Math.PI][i]),
        null,
        'no whole steps',
    );
    assert.equal(
        depends(
            bands.map((each) => 100 + each),
            (i) => i,
            'bf16',
        ),
        null,
        'coarse',
    );
    assert.ok(
        Math.abs(
            correlationOf({
                x: {data: [1, 2, 3]},
                y: {data: [3, 2, 1]},
                pairs: {at: [0, 1, 2]},
            }) + 1,
        ) < 1e-12,
    );
});
