// Files of the picture that is shown, and the picture alone in a frame of another page.
import assert from 'node:assert/strict';
import {readFileSync} from 'node:fs';
import {createServer} from 'node:http';
import {after, before} from 'node:test';
import {
    assertAccessible,
    drawn,
    eventually,
    open,
    pageTest,
    screenshot,
    settled,
    url,
} from './harness.js';

const SHOWN = {
    heatmap: '?scheme=sinusoidal&length=64&dim=32&view.mark=40',
    waves: '?scheme=sinusoidal&length=64&dim=16',
    profiles: '?scheme=sinusoidal&length=64&dim=64',
    spectrum: '?scheme=rope&length=64&dim=32',
    precision: '?scheme=sinusoidal&length=16&offset=131008&dim=16',
    rotation: '?scheme=rope&length=12&dim=8&view.mark=6&view.rotation.position=0',
    heads: '?scheme=alibi&length=32&heads=8',
    similarity: '?scheme=sinusoidal&length=32&dim=16',
    distances: '?scheme=sinusoidal&length=64&dim=16',
    cloud: '?scheme=sinusoidal&length=32&dim=16',
    compare:
        '?scheme=rope&length=32&dim=16&right.scheme=rope&right.length=32&right.dim=16' +
        '&right.rope_theta=100',
};
const SHARPNESS = 2;

async function show(page, name) {
    await open(page, `${SHOWN[name]}${name === 'compare' ? '' : `&view=${name}`}`);
    await page.click('#takeaway > summary');
}

// {name, bytes} of what a button saves.
async function take(page, kind) {
    const [download] = await Promise.all([
        page.waitForEvent('download'),
        page.click(`#takeaway button:text-is("${kind}")`),
    ]);
    return {name: download.suggestedFilename(), bytes: readFileSync(await download.path())};
}

// What a file looks like for the browser: {width, height, inks: how many colours, corner}.
const look = (page, {bytes}, type) =>
    page.evaluate(
        async ([base64, media]) => {
            const data = Uint8Array.from(atob(base64), (each) => each.charCodeAt(0));
            const image = new Image();
            image.src = URL.createObjectURL(new Blob([data], {type: media}));
            await image.decode();
            const canvas = new OffscreenCanvas(image.naturalWidth, image.naturalHeight);
            const context = canvas.getContext('2d');
            context.drawImage(image, 0, 0);
            const words = new Uint32Array(
                context.getImageData(0, 0, canvas.width, canvas.height).data.buffer,
            );
            return {
                width: canvas.width,
                height: canvas.height,
                inks: new Set(words).size,
                corner: (words[0] >>> 0).toString(16),
            };
        },
        [bytes.toString('base64'), type],
    );

// {texts, images, foreign: references to elsewhere} of a well-formed SVG file.
const parts = (page, {bytes}) =>
    page.evaluate((text) => {
        const file = new DOMParser().parseFromString(text, 'image/svg+xml');
        const all = [...file.querySelectorAll('*')];
        return {
            malformed: file.querySelector('parsererror')?.textContent ?? '',
            texts: [...file.querySelectorAll('text')].map((each) => each.textContent),
            images: [...file.querySelectorAll('image')].map((each) =>
                ['width', 'height'].map((name) => Number(each.getAttribute(name))),
            ),
            foreign: all
                .flatMap((each) => [...each.attributes])
                .filter(
                    ({name, value}) =>
                        (name.endsWith('href') && !/^(data:image\/png|#)/.test(value)) ||
                        /url\((?!#)|var\(|currentcolor;/.test(value),
                )
                .map(({name, value}) => `${name}=${value.slice(0, 80)}`),
            scripts: file.querySelectorAll('script, style, foreignObject').length,
        };
    }, bytes.toString());

const {version} = await (await fetch(`${url}/v1/info`)).json();

for (const [colorScheme, paper] of [
    ['light', 'ffffffff'],
    ['dark', 'ff1a1614'],
])
    pageTest(
        'the picture of every view becomes an SVG file that needs nothing else, in ' +
            `${colorScheme}`,
        {colorScheme},
        async (page) => {
            for (const name of colorScheme === 'light'
                ? Object.keys(SHOWN)
                : ['heatmap', 'waves']) {
                await show(page, name);
                const file = await take(page, 'SVG');
                const {malformed, texts, foreign, scripts} = await parts(page, file);
                assert.equal(malformed, '', name);
                assert.deepEqual([foreign, scripts], [[], 0], name);
                const caption = texts.slice(-3).join(' ');
                assert.match(
                    caption,
                    new RegExp(`length ${/length=(\d+)/.exec(SHOWN[name])[1]}`),
                    name,
                );
                assert.ok(caption.endsWith(`computed by posenc ${version}`), caption);
                for (const control of ['Zoom in', 'Play', 'metric', 'Back'])
                    assert.ok(
                        !texts.some((text) => text.trim().startsWith(control)),
                        `${name}: ${control}`,
                    );
                const {inks, corner, width} = await look(page, file, 'image/svg+xml');
                assert.ok(inks > 20 && width > 500, `${name}: ${inks} colours, ${width} wide`);
                assert.equal(corner, paper, `${name} brings its background`);
                assert.match(file.name, /^[a-z_-]+\.svg$/);
            }
        },
    );

pageTest('axes of canvases are vectors, and their pixels the picture’s', {}, async (page) => {
    await show(page, 'heatmap');
    const {texts, images} = await parts(page, await take(page, 'SVG'));
    for (const text of ['position', 'dimension', '0', '20', '60', 'trained to 40'])
        assert.ok(texts.includes(text), `${text} of ${texts}`);
    const box = await page.locator('canvas.plot').boundingBox();
    assert.ok(
        images.some(
            ([width, height]) =>
                Math.abs(width - (box.width - 72)) <= 1 &&
                Math.abs(height - (box.height - 40)) <= 1,
        ),
        JSON.stringify(images),
    );
    await show(page, 'cloud');
    assert.ok((await parts(page, await take(page, 'SVG'))).texts.includes('L2 distance'));
});

pageTest(
    'no text of a cloud covers another one',
    {viewport: {width: 360, height: 740}},
    async (page) => {
        await open(page, '?scheme=floater&length=4&dim=8&view=cloud');
        await page.click('#takeaway > summary');
        const {bytes} = await take(page, 'SVG');
        const paper = await page.context().newPage();
        await paper.setContent(bytes.toString());
        const covered = await paper.$$eval('text', (all) => {
            const boxes = all.map((each) => [each.textContent, each.getBoundingClientRect()]);
            return boxes.flatMap(([one, a], i) =>
                boxes
                    .slice(i + 1)
                    .filter(
                        ([, b]) =>
                            Math.min(a.right, b.right) - Math.max(a.left, b.left) > 1 &&
                            Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 1,
                    )
                    .map(([other]) => `${one} and ${other}`),
            );
        });
        assert.deepEqual(covered, []);
    },
);

pageTest(
    'a PNG has the size of the SVG at twice the sharpness, and its colours',
    {},
    async (page) => {
        for (const name of ['heatmap', 'waves']) {
            await show(page, name);
            await eventually(async () => {
                // texts that come late may lengthen the picture in between
                const vector = await look(page, await take(page, 'SVG'), 'image/svg+xml');
                const pixels = await look(page, await take(page, 'PNG'), 'image/png');
                assert.deepEqual(
                    [pixels.width, pixels.height],
                    [vector.width * SHARPNESS, vector.height * SHARPNESS],
                    name,
                );
                assert.ok(pixels.inks > 20, `${name}: ${pixels.inks} colours`);
            });
        }
    },
);

// Whether each frame of a GIF has blue, the colour of A, at each of some places.
const frames = (page, {bytes}, places) =>
    page.evaluate(
        async ([base64, points]) => {
            const data = Uint8Array.from(atob(base64), (each) => each.charCodeAt(0));
            const decoder = new ImageDecoder({data, type: 'image/gif'});
            await decoder.completed;
            await decoder.tracks.ready;
            const found = [];
            for (
                let frameIndex = 0;
                frameIndex < decoder.tracks.selectedTrack.frameCount;
                frameIndex++
            ) {
                const {image} = await decoder.decode({frameIndex});
                const context = new OffscreenCanvas(
                    image.displayWidth,
                    image.displayHeight,
                ).getContext('2d');
                context.drawImage(image, 0, 0);
                found.push(
                    points.map(([x, y]) => {
                        const [red, , blue] = context.getImageData(
                            Math.round(x),
                            Math.round(y),
                            1,
                            1,
                        ).data;
                        return blue - red > 100;
                    }),
                );
            }
            return found;
        },
        [bytes.toString('base64'), places],
    );

pageTest(
    'a GIF of the dials has a frame for each position, in order, and the dials go back',
    {},
    async (page) => {
        await show(page, 'rotation');
        const vector = (await take(page, 'SVG')).bytes.toString();
        const [, left, top] = /translate\(([\d.]+) ([\d.]+)\) scale/.exec(vector).map(Number);
        const size = await page
            .locator('.rotation-dial canvas')
            .first()
            .evaluate((each) => each.clientWidth);
        const [, edge] = /<g transform="translate\((\d+) \d+\)">/.exec(vector).map(Number);
        const middle = [left + edge + size / 2, top + edge + size / 2],
            reach = size / 2 - 7;
        const places = Array.from({length: 13}, (_, p) => [
            middle[0] + reach * Math.cos(p),
            middle[1] - reach * Math.sin(p),
        ]); // pair 0 turns by one radian
        const found = await frames(page, await take(page, 'GIF'), places);
        assert.equal(found.length, 12);
        found.forEach((blue, p) => {
            assert.ok(blue[p], `frame ${p} points to ${p}`);
            if (p < 6) assert.ok(!blue[p + 1], `frame ${p} does not point to ${p + 1} yet`);
        });
        assert.equal(await page.inputValue('.rotation-track input'), '0');
        await show(page, 'waves');
        assert.equal(await page.isVisible('#takeaway button:text-is("GIF")'), false);
    },
);

pageTest('on Similarity the files are the similarities', {}, async (page) => {
    await show(page, 'similarity');
    await page.waitForFunction(() =>
        document.querySelector('.takeaway-files a[href*="/v1/similarity/"]'),
    );
    const [download] = await Promise.all([
        page.waitForEvent('download'),
        page.click('.takeaway-files a:text-is("npy")'),
    ]);
    const reply = await fetch(
        `${url}/v1/similarity/sinusoidal?length=32&dim=16&metric=cosine&format=npy`,
    );
    assert.ok(
        readFileSync(await download.path()).equals(Buffer.from(await reply.arrayBuffer())),
    );
    assert.match(
        await page.textContent('#takeaway pre'),
        /\/v1\/similarity\/sinusoidal\?length=32&dim=16&metric=cosine/,
    );
    await page.click('#tabs button:text-is("Heatmap")');
    await page.waitForFunction(() =>
        document.querySelector('.takeaway-files a[href*="/v1/encodings/"]'),
    );
});

// ---- in frames ----

let other; // a server of pages of another origin that show what is asked for in a frame
before(async () => {
    other = createServer(({url: asked}, reply) => {
        const shown = decodeURIComponent(asked.slice(2)).replace(/&/g, '&amp;');
        reply
            .setHeader('Content-Type', 'text/html')
            .end(
                '<!doctype html><title>elsewhere</title><iframe width="640" height="420" ' +
                    `src="${url}/${shown}"></iframe>`,
            );
    });
    await new Promise((ready) => other.listen(0, '127.0.0.1', ready));
});
after(() => other.close());
const around = (address) =>
    `http://127.0.0.1:${other.address().port}/?${encodeURIComponent(address)}`;

const CHROME = [
    'header',
    '#sides',
    '#bar',
    '#about',
    '#more',
    'footer',
    '#view .buttons:not(.rotation-controls)',
    '#view .note',
];

for (const theme of ['light', 'dark'])
    pageTest(
        `a page of another origin shows the picture alone, fitted to its frame, in ${theme}`,
        {colorScheme: theme === 'light' ? 'dark' : 'light'},
        async (page) => {
            for (const name of theme === 'light' ? ['heatmap', 'rotation'] : ['heads']) {
                await page.goto(around(`${SHOWN[name]}&view=${name}&embed=1&theme=${theme}`));
                const frame = page.frames()[1];
                await eventually(async () =>
                    assert.equal(await frame.getAttribute('#view', 'data-drawn'), name),
                );
                await settled(frame);
                assert.equal(await frame.getAttribute('html', 'data-theme'), theme);
                const seen = await frame.evaluate(
                    (all) =>
                        all.filter((each) =>
                            [...document.querySelectorAll(each)].some((element) =>
                                element.checkVisibility(),
                            ),
                        ),
                    CHROME,
                );
                assert.deepEqual(seen, [], name);
                const {bottom, right, high, wide} = await frame.evaluate(() => {
                    const box = document.querySelector('#view').getBoundingClientRect();
                    return {
                        bottom: box.bottom,
                        right: box.right,
                        high: innerHeight,
                        wide: innerWidth,
                    };
                });
                assert.ok(
                    bottom <= high && right <= wide && bottom > high * 0.6,
                    JSON.stringify({name, bottom, right, high, wide}),
                );
                const link = await frame.getAttribute('#embed-title a', 'href');
                assert.ok(link.startsWith('/?scheme=') && !/embed|theme/.test(link), link);
                await screenshot(page, `embed-${name}-${theme}`);
            }
        },
    );

pageTest('an embedded picture is accessible and stays embedded', {}, async (page) => {
    await page.setViewportSize({width: 640, height: 420});
    await page.goto(`${url}/${SHOWN.heatmap}&embed=1&theme=dark`);
    await drawn(page);
    await assertAccessible(page);
    await page.focus('canvas.plot');
    await page.keyboard.press('+');
    await page.waitForFunction(() => /view\.zoom=.*embed=1&theme=dark/.test(location.search));
});

pageTest(
    'the whole page and the reference are in no frame of others',
    {expected: /frame-ancestors|ERR_BLOCKED_BY_RESPONSE/},
    async (page) => {
        for (const address of [SHOWN.heatmap, 'docs?embed=1']) {
            await page.goto(around(address));
            await eventually(() => assert.match(page.frames()[1].url(), /^chrome-error:/));
        }
    },
);

pageTest('the code of a frame shows the picture', {}, async (page) => {
    await show(page, 'heatmap');
    const code = await page.textContent('#frame');
    const source = await page.evaluate(
        (html) =>
            new DOMParser().parseFromString(html, 'text/html').querySelector('iframe[title]')
                .src,
        code,
    );
    assert.ok(source.startsWith(`${url}/?`), source);
    await page.goto(around(source.slice(url.length + 1)));
    const frame = page.frames()[1];
    await eventually(async () =>
        assert.equal(await frame.getAttribute('#view', 'data-drawn'), 'heatmap'),
    );
    assert.ok(await frame.evaluate(() => document.body.classList.contains('embed')));
});
