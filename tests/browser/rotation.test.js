// The rotation view shows the cosines and sines that the service sends, at the position that is
// chosen.
import assert from 'node:assert/strict';
import {drawn, open, pageTest, readout, screenshot, url} from './harness.js';

const PLAIN = 'length=512&dim=64';
const YARN = `${PLAIN}&rope_type=yarn&factor=4&original_max_position_embeddings=128`;
const right = (query) =>
    `&right.scheme=rope&${query
        .split('&')
        .map((part) => `right.${part}`)
        .join('&')}`;
const BESIDE = `?scheme=rope&${PLAIN}${right(YARN)}&view=rotation&view.mark=128`;

async function values(query, tensor, scheme = 'rope') {
    return new Float32Array(
        await (
            await fetch(`${url}/v1/encodings/${scheme}?${query}&tensor=${tensor}&format=raw`)
        ).arrayBuffer(),
    );
}

const told = (page, start) =>
    page.waitForFunction(
        (text) => document.querySelector('#readout').textContent.startsWith(text),
        start,
    );

// The texts of cos and sin after a letter, or of the only side.
function coordinates(text, letter) {
    const [, cos, sin, length, angle] = new RegExp(
        `${letter}cos (\\S+), sin (\\S+), length (\\S+), angle (\\S+)°`,
    ).exec(text);
    return {
        cos: Number(cos),
        sin: Number(sin),
        length: Number(length),
        angle: Number(angle.replace('−', '-')),
    };
}

async function go(page, position) {
    const entry = page.getByRole('spinbutton', {name: 'position'});
    await entry.fill(String(position));
    await entry.press('Enter');
}

pageTest('cosines and sines of both sides are those of the raw bodies', {}, async (page) => {
    await open(page, `${BESIDE}&view.rotation.pairs=0,5,31`);
    const bodies = {
        A: [await values(PLAIN, 'cos'), await values(PLAIN, 'sin')],
        B: [await values(YARN, 'cos'), await values(YARN, 'sin')],
    };
    for (const position of [0, 17, 300, 511])
        for (const [i, pair] of [0, 5, 31].entries()) {
            await go(page, position);
            await page.locator('.rotation-dial').nth(i).hover();
            await told(page, `pair ${pair} · position ${position} · `);
            const said = await readout(page);
            const angles = Object.entries(bodies).map(([letter, [cos, sin]]) => {
                const at = position * 32 + pair;
                const shown = coordinates(said, `${letter} `);
                assert.ok(
                    Object.is(Math.fround(shown.cos), cos[at]) &&
                        Object.is(Math.fround(shown.sin), sin[at]),
                    `${said}: ${cos[at]} ${sin[at]}`,
                );
                assert.ok(Math.abs(shown.length - Math.hypot(cos[at], sin[at])) < 1e-5, said);
                return (Math.atan2(sin[at], cos[at]) * 180) / Math.PI;
            });
            const apart =
                angles[0] - angles[1] - 360 * Math.round((angles[0] - angles[1]) / 360);
            assert.ok(
                Math.abs(Number(/A − B (\S+)°/.exec(said)[1].replace('−', '-')) - apart) <
                    0.051,
                `${said}: ${apart}`,
            );
            assert.equal(said.endsWith('beyond training'), position >= 128, said);
        }
});

// The colour of a dial's pixel, from its centre in parts of half its width.
const colourAt = (page, dial, x, y) =>
    page
        .locator('.rotation-dial canvas')
        .nth(dial)
        .evaluate(
            (canvas, [across, up]) => {
                const half = canvas.width / 2;
                return [
                    ...canvas
                        .getContext('2d')
                        .getImageData(
                            Math.round(half + across * half),
                            Math.round(half - up * half),
                            1,
                            1,
                        ).data,
                ].join();
            },
            [x, y],
        );

pageTest('vectors stand where the numbers say, in their true length', {}, async (page) => {
    await open(page, `${BESIDE}&view.rotation.pairs=2,31&view.rotation.position=1`);
    await told(page, 'pair 2 · position 1');
    const at = 32 + 2;
    const [x, y] = [(await values(YARN, 'cos'))[at], (await values(YARN, 'sin'))[at]];
    const [u, v] = [(await values(PLAIN, 'cos'))[at], (await values(PLAIN, 'sin'))[at]];
    const length = Math.hypot(x, y);
    assert.ok(length > 1.1, 'yarn makes vectors longer');
    const scale = 1 - 7 / 58; // the rim that is left empty
    assert.equal(
        await colourAt(page, 0, (x / length) * scale, (y / length) * scale),
        '179,88,6,255',
    );
    assert.equal(await colourAt(page, 1, 0.98 * scale, 0), '179,88,6,255');
    await open(
        page,
        `?scheme=rope&${PLAIN}&view=rotation&view.rotation.pairs=2&view.rotation.position=1`,
    );
    await told(page, 'pair 2 · position 1');
    assert.equal(await colourAt(page, 0, u * scale, v * scale), '31,111,178,255');
});

pageTest('the numbers stay when the window changes its width', {}, async (page) => {
    await open(page, `?scheme=rope&${PLAIN}&view=rotation&view.rotation.position=17`);
    await told(page, 'pair 0 · position 17');
    for (const width of [1000, 1270]) {
        await page.evaluate(() => {
            document.querySelector('#view').firstChild.dataset.before = '';
        });
        await page.setViewportSize({width, height: 900});
        await page.waitForSelector('#view > :not([data-before])'); // another picture
        await drawn(page);
        await told(page, 'pair 0 · position 17');
    }
});

pageTest('it begins where the vectors differ', {}, async (page) => {
    await open(page, '?scheme=rope&length=16&dim=8&view=rotation');
    await told(page, 'pair 0 · position 3 · ');
    assert.doesNotMatch(page.url(), /rotation\.position/);
    await open(page, '?scheme=rope&length=16&dim=8&offset=40&view=rotation');
    await told(page, 'pair 0 · position 40 · ');
});

pageTest('arrows move the position, and the address keeps it', {}, async (page) => {
    await open(
        page,
        `?scheme=rope&${PLAIN}&view=rotation&view.mark=128&view.rotation.position=126`,
    );
    await told(page, 'pair 0 · position 126');
    const status = page.locator('.rotation-status');
    await page.getByRole('slider', {name: 'position'}).focus();
    await page.keyboard.press('ArrowRight');
    await told(page, 'pair 0 · position 127');
    assert.equal(await status.textContent(), 'position 127');
    await page.keyboard.press('ArrowRight');
    await told(page, 'pair 0 · position 128');
    assert.equal(await status.textContent(), 'position 128 · beyond training');
    await page.locator('.rotation-dial').first().focus();
    await page.keyboard.press('ArrowRight');
    await page.keyboard.press('PageUp');
    await told(page, 'pair 3 · position 144');
    await page.waitForFunction(() => location.search.includes('view.rotation.position=144'));
    await page.reload();
    await drawn(page);
    await told(page, 'pair 0 · position 144');
});

for (const reducedMotion of ['no-preference', 'reduce'])
    pageTest(`it plays when told to, with ${reducedMotion}`, {reducedMotion}, async (page) => {
        const look = 'view=rotation&view.rotation.speed=20&view.rotation.position=0';
        await open(page, `?scheme=rope&${PLAIN}&${look}`);
        await told(page, 'pair 0 · position 0');
        await page.waitForTimeout(200);
        const position = async () =>
            Number(/\d+/.exec(await page.textContent('.rotation-status')));
        assert.equal(await position(), 0, 'it stands still at first');
        await page.evaluate(() => {
            window.seen = [];
            new MutationObserver(() =>
                window.seen.push(
                    Number(/\d+/.exec(document.querySelector('.rotation-status').textContent)),
                ),
            ).observe(document.querySelector('.rotation-status'), {childList: true});
        });
        await page.getByRole('button', {name: 'Play'}).click();
        await page.waitForFunction(
            (calm) =>
                window.seen.at(-1) >= 20 &&
                (calm || window.seen.some((each) => each % 20 !== 0)),
            reducedMotion === 'reduce',
        );
        await page.getByRole('button', {name: 'Pause'}).click();
        const there = await position();
        const seen = [...new Set(await page.evaluate(() => window.seen))].filter(
            (each) => each > 0,
        );
        if (reducedMotion === 'reduce')
            assert.ok(
                seen.every((each) => each % 20 === 0),
                `steps of a second: ${seen}`,
            );
        await page.waitForTimeout(300);
        assert.equal(await position(), there, 'paused');
    });

pageTest('long tables come block by block, full ones pair by pair', {}, async (page) => {
    const query = 'length=100000&offset=5&dim=64&table=full&layout=interleaved';
    const requests = [];
    page.on('request', (request) => requests.push(request.headers().range));
    await open(page, `?scheme=rope&${query}&view=rotation&view.rotation.position=99999`);
    await told(page, 'pair 0 · position 99999');
    await page.locator('.rotation-dial').nth(4).hover();
    const pair = Number(/\d+/.exec(await page.locator('.rotation-dial').nth(4).textContent()));
    await told(page, `pair ${pair} · position 99999`);
    const shown = coordinates(await readout(page), '');
    const [cos, sin] = [await values(query, 'cos'), await values(query, 'sin')];
    const at = 99994 * 64 + 2 * pair;
    assert.deepEqual([Math.fround(shown.cos), Math.fround(shown.sin)], [cos[at], sin[at]]);
    const sizes = requests.filter(Boolean).map((range) => {
        const [first, last] = range.match(/\d+/g).map(Number);
        return last - first;
    });
    assert.ok(
        sizes.filter((size) => size > 4e6).length <= 1,
        `only the page's own window is large: ${sizes}`,
    );
});

pageTest('complex pairs turn as well, and tables without pairs do not', {}, async (page) => {
    const query = 'length=64&dim=8&vocab=10';
    await open(page, `?scheme=complex_order&${query}&view=rotation&view.rotation.position=33`);
    await told(page, 'pair 0 · position 33');
    const [, real, imag] = /real (\S+), imag (\S+), /.exec(await readout(page));
    assert.deepEqual(
        [real, imag].map((text) => Math.fround(Number(text))),
        [
            (await values(query, 'real', 'complex_order'))[33 * 8],
            (await values(query, 'imag', 'complex_order'))[33 * 8],
        ],
    );
    await open(page, '?scheme=sinusoidal&length=16&dim=8&view=rotation');
    assert.equal(await page.getByRole('button', {name: 'Rotation'}).count(), 0);
    assert.equal(await page.locator('canvas.plot').count(), 1, 'the heatmap instead');
});

pageTest('pictures of the rotation view', {}, async (page) => {
    await page.emulateMedia({colorScheme: 'light'});
    await open(page, `${BESIDE}&view.rotation.position=200`);
    await page.getByText('Numbers of these pairs').click();
    await page.waitForSelector('.numbers td');
    assert.equal(await page.locator('.numbers tbody tr').count(), 12);
    await screenshot(page, 'rotation-compare-light');
    await page.emulateMedia({colorScheme: 'dark'});
    await open(
        page,
        `?scheme=rope&${PLAIN}&view=rotation&view.mark=128&view.rotation.position=90`,
    );
    await page.waitForFunction(() =>
        document.querySelector('.rotation-dial').textContent.includes('λ 6.28'),
    );
    await screenshot(page, 'rotation-dark');
    await page.setViewportSize({width: 400, height: 900});
    await open(page, `${BESIDE}&view.rotation.position=100`);
    await page.waitForFunction(() =>
        document.querySelector('.rotation-dial').textContent.includes('λ 6.28'),
    );
    await screenshot(page, 'rotation-narrow');
    assert.ok(
        await page.evaluate(() => document.documentElement.scrollWidth <= 400),
        'nothing is wider than the screen',
    );
});
