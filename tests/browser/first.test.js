// What a visitor sees first: what this is, the formula, examples, and then the picture.
import assert from 'node:assert/strict';
import {drawn, open, pageTest, schemes, screenshot} from './harness.js';

pageTest(
    'the first screen says what this is, shows examples, and leaves most of the window to ' +
        'the picture',
    {viewport: {width: 1440, height: 900}},
    async (page) => {
        await open(page);
        assert.match(await page.innerText('#motto'), /^Positional encodings .*\.$/);
        const cards = await page.locator('#examples li:visible').all();
        assert.ok(cards.length >= 4 && cards.length <= 6, `${cards.length} examples`);
        await page.waitForFunction(() =>
            [...document.querySelectorAll('#examples img')].every(
                (each) => each.complete && each.naturalWidth > 0,
            ),
        );
        const picture = await page.locator('canvas.plot').boundingBox();
        assert.ok(
            picture.y + picture.height <= 900 && picture.height >= 450,
            JSON.stringify(picture),
        );
        await screenshot(page, 'first-1440');
        await page.click('#examples-button');
        assert.equal(await page.isVisible('#examples'), false);
    },
);

pageTest(
    'the tour is offered on the first visit, and not again',
    {viewport: {width: 360, height: 740}},
    async (page) => {
        await open(page, '?scheme=sinusoidal&length=16&dim=8');
        assert.equal(await page.isVisible('#offer'), false, 'a link shows what it is about');
        await open(page);
        await page.click('#offer button:text-is("Take the tour")');
        await page.waitForFunction(() => location.search.includes('tour=1'));
        assert.equal(await page.isVisible('#offer'), false);
        await open(page);
        assert.equal(await page.isVisible('#offer'), false);
    },
);

pageTest(
    'a permalink shows its picture at once, without the examples',
    {viewport: {width: 1440, height: 900}},
    async (page) => {
        await open(page, '?scheme=sinusoidal&length=128&dim=64');
        assert.equal(await page.isVisible('#examples'), false);
        const picture = await page.locator('canvas.plot').boundingBox();
        assert.ok(picture.height >= 540, JSON.stringify(picture));
        await page.click('#examples-button');
        await page.keyboard.press('Escape');
        assert.equal(await page.isVisible('#examples'), false);
    },
);

pageTest(
    'a picture grows with the window',
    {viewport: {width: 1280, height: 800}},
    async (page) => {
        await open(page, '?scheme=sinusoidal&length=128&dim=64');
        const height = async () => (await page.locator('canvas.plot').boundingBox()).height;
        const before = await height();
        await page.setViewportSize({width: 1280, height: 1200});
        await page.waitForFunction(
            (least) =>
                document.querySelector('canvas.plot').getBoundingClientRect().height >
                least + 300,
            before,
        );
    },
);

pageTest('every formula is typeset, and loses no letter', {}, async (page) => {
    const letters = (text) => text.replace(/[^\p{L}\p{N}]/gu, '');
    const greek = {α: 'alpha', β: 'beta', θ: 'theta', ω: 'omega', π: 'pi', σ: 'sigma'};
    for (const {name, formula} of schemes) {
        await open(page, `?scheme=${name}`);
        assert.ok((await page.locator('#about math').count()) > 0, name);
        const latin = (text) => text.replace(/[αβθωπσ]/g, (letter) => greek[letter]);
        const shown = latin(await page.textContent('.equations'));
        assert.equal(letters(shown), letters(latin(formula)), name);
        const plain = await page.$$eval('#about math', (all) =>
            all.map((each) => each.getAttribute('alttext')),
        );
        for (const each of plain) assert.ok(formula.includes(each), `${name}: ${each}`);
    }
});

pageTest(
    'the formula of sinusoidal has indices and a power; its values follow the form, and tell ' +
        'A from B',
    {},
    async (page) => {
        await open(page, '?scheme=sinusoidal&length=16&dim=8');
        assert.ok((await page.locator('#about msub').count()) >= 3);
        assert.equal(await page.locator('#about msup').count(), 1);
        const values = () =>
            page.$$eval('#about .value', (all) => all.map((each) => each.textContent));
        assert.deepEqual(await values(), [
            'dim = 8',
            'base = 10000',
            'amplitude = 1',
            'position_scale = 1',
        ]);
        await page.fill('#left-base', '77');
        await drawn(page);
        assert.deepEqual(await values(), [
            'dim = 8',
            'base = 77',
            'amplitude = 1',
            'position_scale = 1',
        ]);
        await page.click('#compare');
        await drawn(page);
        await page.fill('#right-base', '5');
        await drawn(page);
        assert.deepEqual(await values(), [
            'dim = 8',
            'base = A 77, B 5',
            'amplitude = 1',
            'position_scale = 1',
        ]);
    },
);

pageTest('a formula that cannot be read stays text', {}, async (page) => {
    const odd = {
        ...schemes.find(({name}) => name === 'sinusoidal'),
        formula: 'f(x = ^^ y, and 2 + 2 = 4',
    };
    await page.route('**/v1/schemes', (route) => route.fulfill({json: {schemes: [odd]}}));
    await open(page);
    assert.equal(
        (await page.textContent('.equations')).replace(/\s/g, ''),
        odd.formula.replace(/\s/g, ''),
    );
    assert.equal(
        await page.locator('#about math').count(),
        1,
        'only what can be read is typeset',
    );
});
