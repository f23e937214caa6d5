// Two settings that cannot be subtracted have scales and axes of their own, those that can
// share them; a switch changes either.
import assert from 'node:assert/strict';
import {drawn, open, pageTest, readout} from './harness.js';

const ROTARY = 'scheme=rope&length=40&dim=16';
const UNLIKE = `?${ROTARY}&right.scheme=alibi&right.length=24&right.heads=2`;
const ALIKE = `?${ROTARY}&right.scheme=rope&right.length=40&right.dim=16&right.rope_theta=50`;

const scalesOf = (page) => page.locator('.panel .scale').allTextContents();
// The least and the greatest number at the ticks of each chart's axis of values.
const reachesOf = (page) =>
    page.$$eval('svg.chart', (all) =>
        all.map((chart) => {
            const texts = [...chart.querySelectorAll('[data-mark="y-axis tick label"] text')];
            const numbers = texts.map(({textContent}) => Number(textContent.replace('−', '-')));
            return [Math.min(...numbers), Math.max(...numbers)];
        }),
    );

pageTest('heatmaps of unlike settings have colours and axes of their own', {}, async (page) => {
    await open(page, UNLIKE);
    assert.deepEqual(await scalesOf(page), ['-11', '-1.43750'], 'cosines, biases');
    const [one, other] = await page.$$eval('canvas.plot', (all) =>
        all.map((canvas) => canvas.getAttribute('aria-label')),
    );
    assert.match(one, /40 positions by 8 dimensions/);
    assert.match(other, /24 queries by 24 keys/);
    const second = page.locator('canvas.plot').nth(1);
    await second.focus();
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('End');
    assert.match(await readout(page), /^B: query 0 · key 23 · value -1\.4/);
    await page.keyboard.press('ArrowDown');
    assert.match(await readout(page), /^B: query 1 · key 23 · /);
    await page.selectOption('#heatmap-scales', 'shared');
    await drawn(page);
    assert.match(page.url(), /view\.heatmap\.scales=shared/);
    const [a, b] = await scalesOf(page);
    assert.equal(a, b);
    await page.selectOption('#heatmap-scales', 'own');
    await drawn(page);
    assert.doesNotMatch(page.url(), /scales/);
});

pageTest(
    'heatmaps of like settings share a scale, unless asked otherwise',
    {},
    async (page) => {
        await open(page, ALIKE);
        assert.equal((await scalesOf(page)).length, 3, 'A, B and their difference');
        await page.selectOption('#heatmap-scales', 'own');
        await drawn(page);
        assert.match(page.url(), /view\.heatmap\.scales=own/);
        assert.equal((await scalesOf(page)).length, 2);
    },
);

pageTest('a wheel over B of unlike settings zooms B alone', {}, async (page) => {
    await open(page, UNLIKE);
    const [first, second] = [0, 1].map((at) => page.locator('canvas.plot').nth(at));
    const before = await first.evaluate((canvas) => canvas.toDataURL());
    const old = await second.evaluate((canvas) => canvas.toDataURL());
    await second.focus();
    await page.keyboard.press('+');
    await page.waitForFunction(
        (picture) => document.querySelectorAll('canvas.plot')[1].toDataURL() !== picture,
        old,
    );
    assert.equal(await first.evaluate((canvas) => canvas.toDataURL()), before);
});

for (const [view, cursor] of [
    ['waves', /^position 1 · dimension 0: 0\.5/],
    ['profiles', /^dimension 1 · position 0: 1/],
])
    pageTest(`${view} of unlike settings stand on axes of their own`, {}, async (page) => {
        await open(page, `${UNLIKE}&view=${view}`);
        const [one, other] = await reachesOf(page);
        assert.ok(one[0] >= -1 && one[1] === 1, `${one}`);
        assert.ok(other[0] < -1 && other[1] === 0, `${other}`);
        await page.locator('svg.chart').first().focus();
        await page.keyboard.press('ArrowRight');
        await page.keyboard.press('ArrowRight');
        const said = await readout(page);
        assert.match(said, cursor);
        assert.doesNotMatch(said, /query|key|B /);
        await page.selectOption(`#${view}-arrangement`, 'apart');
        await drawn(page);
        const [a, b] = await reachesOf(page);
        assert.deepEqual(a, b, 'one above the other, on the same axes');
        await page.selectOption(`#${view}-arrangement`, 'same');
        await drawn(page);
        assert.equal(await page.locator('svg.chart').count(), 1);
    });

pageTest('heads of unlike settings have colours of their own', {}, async (page) => {
    await open(
        page,
        '?scheme=alibi&length=24&heads=2&view=heads' +
            '&right.scheme=swin&right.height=3&right.heads=2',
    );
    assert.equal(await page.inputValue('#heads-scale'), 'sides');
    const [one, other] = await page.locator('.heads-legend .scale').allTextContents();
    assert.match(one, /^A -1/);
    assert.match(other, /^B -0\.0/);
    await page.selectOption('#heads-scale', 'all');
    await drawn(page);
    await page.waitForSelector('.heads-legend .scale');
    assert.match(await page.textContent('.heads-legend .scale'), /^A and B /);
});

pageTest('distances have axes of their own when asked', {}, async (page) => {
    await open(
        page,
        `?scheme=sinusoidal&length=24&dim=8&right.scheme=learned&right.length=24&right.dim=8` +
            '&view=distances',
    );
    const titles = () => page.locator('#view figcaption').allTextContents();
    assert.deepEqual(await titles(), ['A solid, B dashed']);
    await page.selectOption('#distances-arrangement', 'own');
    await drawn(page);
    assert.deepEqual(await titles(), ['A: sinusoidal', 'B: learned']);
    await page.selectOption('#distances-arrangement', 'difference');
    await drawn(page);
    assert.deepEqual(await titles(), ['A − B']);
});
