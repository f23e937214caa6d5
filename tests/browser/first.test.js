// What a visitor sees first: what this is, the formula, examples, and then the picture.
import assert from 'node:assert/strict';
import {test} from 'node:test';
import {beginningsOf} from '../../server/visualiser/schema.js';
import {symbolsIn} from '../../server/visualiser/symbols.js';
import {
    chooseScheme,
    drawn,
    escape,
    open,
    pageTest,
    schemes,
    screenshot,
    visit,
} from './harness.js';

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

const MOST = 450_000; // bytes on the wire

pageTest(
    'the first visit takes little, and what draws charts comes with the first of them',
    {viewport: {width: 1440, height: 900}},
    async (page) => {
        const wire = await page.context().newCDPSession(page);
        await wire.send('Network.enable');
        let bytes = 0;
        wire.on('Network.loadingFinished', ({encodedDataLength}) => {
            bytes += encodedDataLength;
        });
        await open(page);
        await page.waitForLoadState('networkidle');
        assert.ok(bytes > 0 && bytes <= MOST, `${bytes} bytes`);
        await page.click('#tabs [data-view=waves]');
        await drawn(page);
        assert.ok((await page.locator('#view svg.chart').count()) > 0);
    },
);

pageTest(
    'a chart whose script does not come is tried again',
    {expected: /ERR_FAILED/},
    async (page) => {
        await page.route('**/plots*.js', (route) => route.abort(), {times: 1});
        await open(page, '?scheme=sinusoidal&length=16&dim=8');
        await page.click('#tabs [data-view=waves]');
        await page.waitForFunction(() =>
            document.querySelector('#message').textContent.startsWith('The service does not'),
        );
        await page.click('#retry');
        await page.waitForSelector('#view[data-drawn=waves] svg.chart');
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
        await escape(page);
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

test('a scheme begins with sizes that show something', () => {
    const sizesOf = (wanted) =>
        beginningsOf(schemes.find(({name}) => name === wanted)).comfortable.sizes;
    assert.equal(sizesOf('fourier'), '16,16');
    assert.equal(sizesOf('axial_rope'), '16,16');
});

pageTest('a resizing begins with images that people know, and says so', {}, async (page) => {
    for (const go of [
        () => open(page, '?scheme=resized'),
        () => chooseScheme(page, 'resized'),
    ]) {
        await open(page);
        await go();
        await page.waitForFunction(() => location.search.includes('source_height=14'));
        await drawn(page);
        assert.match(
            await page.innerText('#strangers'),
            /^Begins with the 14 × 14 patches.* 24 × 24/,
        );
        assert.match(page.url(), /height=24&source_height=14/);
    }
});

pageTest('no scheme that has waves begins with rows that are all alike', {}, async (page) => {
    await open(page, '?scheme=sinusoidal&length=16&dim=8');
    for (const name of ['fourier', 'axial_rope', 'mrope', 'rotation_matrix']) {
        await chooseScheme(page, name);
        await page.waitForFunction((wanted) => location.search.includes(`=${wanted}&`), name);
        await drawn(page);
        await page.click('#tabs [data-view=profiles]');
        await drawn(page);
        assert.doesNotMatch(await page.textContent('#view .note'), /No \w+ differs/, name);
    }
});

pageTest(
    'few cells are large ones, and those of a grid are squares',
    {viewport: {width: 1440, height: 900}},
    async (page) => {
        for (const [address, rows, columns, least] of [
            ['?scheme=sinusoidal_2d&height=2&width=3&dim=4', 2, 3, 200],
            ['?scheme=shaw&length=4&dim=8', 4, 8, 40],
        ]) {
            await open(page, address);
            const [across, down] = await page.$eval('canvas.plot', (canvas) => [
                canvas.clientWidth - 72,
                canvas.clientHeight - 40,
            ]);
            assert.ok(Math.abs(across / columns - down / rows) < 2, `${across} by ${down}`);
            assert.ok(across / columns >= least, `${across} wide`);
        }
    },
);

// Wait until KaTeX has drawn all formulas.
async function typeset(page) {
    await page.waitForFunction(() =>
        [...document.querySelectorAll('#about .math')].every((each) =>
            each.querySelector('.katex-html'),
        ),
    );
    await page.evaluate(() => document.fonts.ready); // letters move when theirs come
}

pageTest('every formula is typeset, and loses no letter', {}, async (page) => {
    const letters = (text) => text.replace(/[^\p{L}\p{N}]/gu, '');
    await open(page);
    for (const {name, example} of schemes) {
        await visit(page, `?scheme=${name}&${example}`);
        await typeset(page);
        const parts = await page.$$eval('#about .equations .math', (all) =>
            all.map((each) => [
                each.dataset.source,
                each.querySelector('.katex-html').textContent,
                each.querySelector('.katex-error, [style*="#cc0000"]') !== null,
            ]),
        );
        assert.ok(parts.length > 0, name);
        const words = await page.$eval('#about .equations', (all) => {
            const copy = all.cloneNode(true);
            for (const each of copy.querySelectorAll('.math')) each.remove();
            return copy.textContent;
        });
        assert.doesNotMatch(words, /[*^[\]]|\w_\w/, `${name}: not typeset`);
        for (const [source] of parts) {
            assert.doesNotMatch(source, /=[^=,]*\p{L} \p{L}+ =/u, `${name}: two in one`);
            assert.doesNotMatch(source, /\b(the|its|on) /, `${name}: words are no names`);
        }
        const greek = {α: 'alpha', β: 'beta', θ: 'theta', ω: 'omega', π: 'pi', σ: 'sigma'};
        Object.assign(greek, {γ: 'gamma', ϵ: 'epsilon', ζ: 'zeta'});
        for (const [source, shown, failed] of parts) {
            assert.equal(failed, false, `${name}: ${source}`);
            // KaTeX draws what stands above and below in an order of its own
            const sorted = (text) => [...letters(text)].sort().join('');
            const latin = (text) =>
                text.replace(/[α-ωϵ]/g, (letter) => greek[letter] ?? letter);
            assert.equal(sorted(latin(shown)), sorted(latin(source)), `${name}: ${source}`);
        }
    }
});

pageTest(
    'factors that are 1 by default stay out, and come with another value',
    {},
    async (page) => {
        const formula = async () => {
            await typeset(page);
            return (
                await page.$$eval('#about .equations .math', (all) =>
                    all.map(({dataset}) => dataset.source),
                )
            ).join(', ');
        };
        await open(page, '?scheme=sinusoidal&length=16&dim=8');
        assert.equal(
            await formula(),
            'encoding[r, 2i] = sin(k * w_i), encoding[r, 2i+1] = cos(k * w_i), ' +
                'w_i = base^(-2i/dim)',
        );
        await open(page, '?scheme=sinusoidal&length=16&dim=8&amplitude=2');
        assert.match(await formula(), /= amplitude \* sin\(k \* w_i\).*w_i = base/);
        await open(page, '?scheme=learned&length=16&dim=8');
        assert.match(await formula(), /^encoding\[r\] = table\[k\]/);
        await open(page, '?scheme=learned&length=16&dim=8&row_offset=2');
        assert.match(await formula(), /^encoding\[r\] = table\[k \+ row_offset\]/);
    },
);

pageTest('each symbol is named, and lights what it means', {}, async (page) => {
    const meanings = () =>
        page.$$eval('#about .meaning', (all) =>
            Object.fromEntries(all.map(({dataset, title}) => [dataset.symbol, title])),
        );
    await open(page, '?scheme=sinusoidal&length=16&dim=8');
    await typeset(page);
    assert.deepEqual(await meanings(), {
        encoding: 'sines and cosines',
        r: 'row',
        i: 'pair of columns',
        k: 'position',
        w_i: 'frequency, in radians per position',
    });
    const lit = () => page.evaluate(() => document.body.dataset.lit ?? '');
    await page.hover('.equations .katex-html [data-symbol=k]');
    assert.equal(await lit(), 'rows');
    assert.equal(await page.locator('.meaning[data-symbol=k].lit').count(), 1);
    await page.hover('.value[data-symbol=base]');
    assert.equal(await lit(), '');
    assert.equal(await page.locator('.field.lit #left-base').count(), 1);
    await page.hover('h1');
    assert.equal(await page.locator('.lit').count(), 0);
    await open(page, '?scheme=alibi&length=16&heads=2');
    assert.deepEqual(await meanings(), {
        bias: 'is added to the attention scores',
        h: 'head',
        i: 'query',
        j: 'key',
        m_h: 'slope of the head',
    });
    for (const {name, formula, example} of schemes) {
        await visit(page, `?scheme=${name}&${example}`);
        if (/\bk \*/.test(formula))
            assert.match((await meanings()).k ?? '', /^(position|key)$/, name);
        assert.ok((await page.locator('#about [data-symbol]').count()) > 0, name);
    }
});

test('what a symbol means is said of the one that stands there', () => {
    const meanings = Object.fromEntries(
        schemes.map((scheme) => [
            scheme.name,
            Object.fromEntries(symbolsIn(scheme).map(({name, meaning}) => [name, meaning])),
        ]),
    );
    assert.deepEqual([meanings.shaw.i, meanings.shaw.j], ['query', 'key']);
    assert.deepEqual(
        [meanings.resized.y, meanings.resized.x],
        ['row of the grid', 'column of the grid'],
    );
    assert.equal(meanings.fourier.f_i, 'frequency', 'of what, angle says');
    assert.match(meanings.decomposed.rel_h, /rows/);
    assert.equal(meanings.mrope.axis, undefined, 'it is nothing but a word there');
    for (const [scheme, all] of Object.entries(meanings))
        for (const [name, meaning] of Object.entries(all))
            assert.doesNotMatch(
                meaning,
                /^(\S+_\w \*|p|sin|cos|clip)\b|^\w of/,
                `${scheme}: ${name}`,
            );
});

pageTest('papers are links', {}, async (page) => {
    await open(page, '?scheme=rope&length=8&dim=8');
    await page.click('#about summary');
    const links = await page.$$eval('.sources a', (all) => all.map(({href}) => href));
    assert.ok(links.length >= 4);
    for (const link of links) assert.match(link, /^https:\/\/arxiv\.org\/abs\/\d{4}\.\d{5}$/);
});

pageTest(
    'without its script a formula is text, and the picture is there',
    {expected: /404/},
    async (page) => {
        await page.route('**/math*.js', (route) => route.fulfill({status: 404, body: ''}));
        await page.route('**/assets/math*', (route) => route.fulfill({status: 404, body: ''}));
        await open(page, '?scheme=sinusoidal&length=16&dim=8');
        assert.match(await page.textContent('.equations'), /w_i = base\^\(-2i\/dim\)/);
    },
);

pageTest(
    'the formula of sinusoidal has indices and a power; its values follow the form, and tell ' +
        'A from B',
    {},
    async (page) => {
        await open(page, '?scheme=sinusoidal&length=16&dim=8');
        await typeset(page);
        assert.ok((await page.locator('#about .equations msub').count()) >= 3);
        assert.equal(await page.locator('#about .equations msup').count(), 1);
        const values = () =>
            page.$$eval('#about .value', (all) => all.map((each) => each.textContent));
        assert.deepEqual(await values(), ['base = 10000', 'dim = 8']);
        await page.fill('#left-base', '77');
        await drawn(page);
        assert.deepEqual(await values(), ['base = 77', 'dim = 8']);
        await page.click('#compare');
        await drawn(page);
        await page.fill('#right-base', '5');
        await drawn(page);
        assert.deepEqual(await values(), ['base = A 77, B 5', 'dim = 8']);
    },
);

pageTest(
    'a formula that cannot be read stays text',
    {expected: /math|ERR_FAILED/},
    async (page) => {
        const odd = {
            ...schemes.find(({name}) => name === 'sinusoidal'),
            formula: 'f(x = ^^ y, and 2 + 2 = 4',
        };
        await page.route('**/v1/schemes', (route) => route.fulfill({json: {schemes: [odd]}}));
        await page.route('**/assets/math*', (route) => route.abort());
        await open(page);
        assert.equal(
            (await page.textContent('.equations')).replace(/\s/g, ''),
            odd.formula.replace(/\s/g, ''),
        );
        assert.equal(
            await page.locator('#about .equations .math').count(),
            1,
            'only what can be read is typeset',
        );
    },
);
