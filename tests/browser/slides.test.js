// Sliders: every position is one that the service takes, and the picture never vanishes while
// one moves.
import assert from 'node:assert/strict';
import {drawn, open, pageTest, settled, url} from './harness.js';

const REFUSED = /status of 4\d\d/; // a value that the page has tried for a slider

const slide = (page, name, at) =>
    page.locator(`#left-${name} ~ input[type=range]`).evaluate((input, value) => {
        input.value = value;
        input.dispatchEvent(new Event('input', {bubbles: true}));
    }, at);
const parameter = (page, name) => new URLSearchParams(new URL(page.url()).search).get(name);

for (const [scheme, query, name] of [
    ['sinusoidal', 'length=16&dim=8', 'dim'], // even, unless another parameter says so
    ['rope', 'length=16&dim=8', 'dim'],
    ['transformer_xl', 'length=16&dim=24', 'heads'], // a divisor of dim
    // its square is above length
    ['hierarchical', 'length=100&dim=8&base_length=16', 'base_length'],
    ['alibi', 'length=24&heads=4', 'query_length'], // at most length
    ['binary', 'length=100&width=12', 'width'], // wide enough for the last position
    ['t5', 'length=16&heads=4', 'num_buckets'],
    ['sinusoidal', 'length=16&dim=8', 'base'],
])
    pageTest(
        `every position of the slider of ${name} is drawn (${scheme})`,
        {expected: REFUSED},
        async (page) => {
            await open(page, `?scheme=${scheme}&${query}`);
            const values = new Set();
            // wider tables only take longer
            const most = name === 'dim' || name === 'heads' ? 700 : 1000;
            for (let at = 0; at <= most; at += 37) {
                await slide(page, name, at);
                await drawn(page);
                assert.equal(
                    await page.isVisible('.error'),
                    false,
                    `${name} at ${at}: ${page.url()}`,
                );
                const asked = new URL(page.url()).search.replace(
                    /^\?scheme=\w+&|&?view.*/g,
                    '',
                );
                assert.equal(
                    (
                        await fetch(
                            `${url}/v1/encodings/${scheme}?${asked}&format=safetensors`,
                            {method: 'HEAD'},
                        )
                    ).status,
                    200,
                    asked,
                );
                values.add(parameter(page, name));
            }
            assert.ok(values.size > 2, [...values].join());
        },
    );

pageTest(
    'arrow keys go to the next number that is taken',
    {expected: REFUSED},
    async (page) => {
        const press = async (key) => {
            await page.keyboard.press(key);
            await drawn(page);
        };
        await open(page, '?scheme=sinusoidal&length=16&dim=8');
        await page.focus('#left-dim ~ input[type=range]');
        const seen = [];
        for (const key of [
            'ArrowRight',
            'ArrowRight',
            'ArrowRight',
            'ArrowLeft',
            'ArrowLeft',
        ]) {
            await press(key);
            seen.push(Number(parameter(page, 'dim')));
        }
        assert.deepEqual(seen, [10, 12, 14, 12, 10]);
        await open(page, '?scheme=transformer_xl&length=16&dim=64&heads=8');
        await page.focus('#left-heads ~ input[type=range]');
        await press('ArrowRight');
        assert.equal(parameter(page, 'heads'), '16');
    },
);

// Moves a slider by `inputs` events, one for each frame, and looks at the picture in every
// frame. {blank: frames without a picture, drawn: how many pictures were seen}.
const watch = (page, name, inputs) =>
    page.locator(`#left-${name} ~ input[type=range]`).evaluate(async (input, count) => {
        const picture = () =>
            document.querySelector(
                '#view canvas.plot, #view svg.chart, #view .rotation-dial canvas',
            );
        const frame = () => new Promise((done) => requestAnimationFrame(done));
        const seen = new Set();
        let blank = 0,
            frames = 0;
        const look = () => {
            frames++;
            if (picture()) seen.add(picture());
            else blank++;
        };
        // longer where the machine is slow, until pictures came between the first and the last
        for (let i = 0; i < count || (seen.size < 3 && i < 100 * count); i++) {
            input.value = 300 + (i % count) * 3;
            input.dispatchEvent(new Event('input', {bubbles: true}));
            await frame();
            look();
        }
        while (document.body.classList.contains('busy')) {
            await frame();
            look();
        }
        return {blank, frames, drawn: seen.size};
    }, inputs);

for (const view of [
    'heatmap',
    'waves',
    'profiles',
    'spectrum',
    'precision',
    'rotation',
    'similarity',
    'distances',
    'cloud',
    'heads',
])
    pageTest(`${view} never vanishes while a slider moves`, {}, async (page) => {
        const scheme =
            view === 'heads'
                ? 'scheme=alibi&length=40&heads=8'
                : 'scheme=rope&length=40&dim=16';
        await open(page, `?${scheme}&view=${view}`);
        await page.waitForFunction(() =>
            document.querySelector('#view canvas.plot, #view svg, #view .rotation-dial canvas'),
        );
        const {blank, frames, drawn: pictures} = await watch(page, 'length', 40);
        assert.equal(blank, 0, `${blank} of ${frames} frames have no picture`);
        assert.ok(pictures > 2, `${pictures} pictures in ${frames} frames`);
        await settled(page);
    });

const median = (values) => values.sort((a, b) => a - b)[values.length >> 1];

pageTest('from input to picture (the time is told, not judged)', {}, async (page, t) => {
    for (const [view, scheme, name] of [
        ['heatmap', 'scheme=sinusoidal&length=128&dim=64', 'base'],
        ['waves', 'scheme=sinusoidal&length=128&dim=64', 'base'],
        ['spectrum', 'scheme=sinusoidal&length=128&dim=64', 'base'],
        ['heads', 'scheme=alibi&length=64&heads=8', 'alibi_bias_max'],
        ['cloud', 'scheme=sinusoidal&length=128&dim=64', 'base'],
    ]) {
        await open(page, `?${scheme}&view=${view}`);
        const measure = () =>
            page.locator(`#left-${name} ~ input[type=range]`).evaluate(async (input) => {
                const times = [],
                    bare = [];
                for (let i = 0; i < 3; i++) {
                    const picture = document.querySelector('#view').firstChild,
                        start = performance.now();
                    const shown = new Promise((done) =>
                        new MutationObserver(() => {
                            if (document.querySelector('#view').firstChild !== picture)
                                requestAnimationFrame(done);
                        }).observe(document.querySelector('#view'), {childList: true}),
                    );
                    input.value = 400 + 20 * i;
                    input.dispatchEvent(new Event('input', {bubbles: true}));
                    await shown;
                    times.push(performance.now() - start);
                    while (document.body.classList.contains('busy'))
                        await new Promise(requestAnimationFrame);
                    const address = document
                        .querySelector('#replies code')
                        .textContent.replace('GET ', '');
                    const again = performance.now();
                    const values = new Float32Array(
                        await (
                            await fetch(`${address}&format=raw`, {cache: 'no-store'})
                        ).arrayBuffer(),
                    );
                    const canvas = document.createElement('canvas').getContext('2d'),
                        image = new ImageData(values.length, 1);
                    values.forEach((value, k) => {
                        image.data[4 * k] = 255 * value;
                    });
                    canvas.putImageData(image, 0, 0);
                    bare.push(
                        await new Promise((done) =>
                            requestAnimationFrame(() => done(performance.now() - again)),
                        ),
                    );
                }
                return {times, bare};
            });
        const computed = await measure(),
            cached = await measure();
        const tell = (kind, {times, bare}) =>
            `${kind} ${median(times).toFixed(0)} ms ` +
            `(${(median(times) / median(bare)).toFixed(1)} times a bare fetch and draw)`;
        t.diagnostic(`${view}: ${tell('computed', computed)}, ${tell('cached', cached)}`);
    }
});
