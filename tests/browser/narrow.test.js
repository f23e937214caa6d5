// Phones, tablets and the keyboard; and a service that is gone for a while.
import assert from 'node:assert/strict';
import {
    drawn,
    escape,
    eventually,
    open,
    pageTest,
    readout,
    schemes,
    screenshot,
    url,
} from './harness.js';

const PHONE = {viewport: {width: 400, height: 800}, hasTouch: true, isMobile: true};
const GONE = /ERR_FAILED|ERR_CONNECTION/;
const SIDES =
    '?scheme=rope&length=200&dim=64&right.scheme=rope&right.length=200&right.dim=64' +
    '&right.rope_type=ntk&right.factor=4';

pageTest(
    'on a phone the picture comes first, and settings lie in a drawer',
    PHONE,
    async (page) => {
        await open(page);
        const picture = await page.locator('canvas.plot').boundingBox();
        assert.ok(
            picture.y < 260 && picture.y + picture.height <= 800,
            JSON.stringify(picture),
        );
        assert.equal(await page.isVisible('#left-scheme'), false);
        await page.tap('#settings');
        await page.waitForSelector('#left-scheme', {state: 'visible'});
        assert.equal(await page.evaluate(() => document.activeElement.id), 'left-scheme');
        await page.fill('#left-dim', '32');
        await drawn(page);
        await screenshot(page, 'drawer-400');
        await escape(page);
        await page.waitForSelector('#left-scheme', {state: 'hidden'});
        assert.equal(await page.evaluate(() => document.activeElement.id), 'settings');
        assert.equal(await page.getAttribute('#settings', 'aria-expanded'), 'false');
        await page.tap('#settings');
        await page.touchscreen.tap(390, 500); // beside it
        await page.waitForSelector('#left-scheme', {state: 'hidden'});
    },
);

pageTest('the button of the view that is shown is in sight', PHONE, async (page) => {
    await open(page, '?scheme=sinusoidal&length=64&dim=16&view=cloud');
    const box = await page.locator('#tabs button[aria-pressed=true]').boundingBox();
    assert.ok(box.x >= 0 && box.x + box.width <= 400, JSON.stringify(box));
});

for (const [what, address, target] of [
    ['heatmap', '', 'canvas.plot'],
    ['waves', '&view=waves', 'svg.chart'],
])
    pageTest(
        `a tap on the ${what} shows the value there and keeps it in sight`,
        PHONE,
        async (page) => {
            await open(page, `?scheme=sinusoidal&length=64&dim=16${address}`);
            await page
                .locator(target)
                .first()
                .tap({position: {x: 180, y: 90}});
            await page.waitForFunction(
                () => document.querySelector('#readout').textContent !== '',
            );
            const kept = await readout(page);
            await page.waitForTimeout(300);
            assert.ok(
                (await readout(page)).startsWith(kept),
                'only what is found out later is added',
            );
            const box = await page.locator('#readout').boundingBox();
            assert.ok(box.y >= 0 && box.y + box.height <= 800, JSON.stringify(box));
        },
    );

pageTest(
    'A and B stand side by side on a tablet, and so do the buttons that choose their settings',
    {viewport: {width: 1024, height: 768}},
    async (page) => {
        await open(page, SIDES);
        await eventually(async () => {
            // a note that comes later moves them all
            const boxes = await page.evaluate(() =>
                [...document.querySelectorAll('canvas.plot')].map((each) =>
                    each.getBoundingClientRect().toJSON(),
                ),
            );
            assert.equal(boxes.length, 3);
            assert.equal(boxes[0].y, boxes[1].y);
            assert.ok(
                boxes[0].right <= boxes[1].x + 1 && boxes[1].bottom <= 768,
                JSON.stringify(boxes),
            );
        });
        assert.equal(await page.isVisible('#right-scheme'), false);
        await page.click('#only-right');
        assert.equal(await page.isVisible('#right-scheme'), true);
        assert.equal(await page.isVisible('#left-scheme'), false);
    },
);

pageTest('a view button keeps the focus when it is pressed', {}, async (page) => {
    await open(page, '?scheme=sinusoidal&length=16&dim=8');
    await page.focus('#tabs button:text-is("Waves")');
    await page.keyboard.press('Enter');
    await page.waitForSelector('#view[data-drawn=waves]');
    assert.equal(await page.evaluate(() => document.activeElement.textContent), 'Waves');
    assert.equal(
        await page.getAttribute('#tabs button:text-is("Waves")', 'aria-pressed'),
        'true',
    );
});

pageTest('the title names the scheme and the view, or both schemes', {}, async (page) => {
    const titleOf = (wanted) => schemes.find(({name}) => name === wanted).title;
    await open(page, '?scheme=sinusoidal&length=16&dim=8&view=waves');
    assert.equal(await page.title(), `${titleOf('sinusoidal')} – Waves – posenc`);
    await open(
        page,
        '?scheme=sinusoidal&length=16&dim=8&right.scheme=rope&right.length=16&right.dim=8',
    );
    assert.equal(
        await page.title(),
        `${titleOf('sinusoidal')} and ${titleOf('rope')} – Heatmap – posenc`,
    );
});

pageTest(
    'a service that is gone is tried again, at once on request; the page recovers by itself',
    {expected: GONE},
    async (page) => {
        await open(page, '?scheme=sinusoidal&length=16&dim=8');
        await page.route('**/v1/**', (route) => route.abort('connectionrefused'));
        await page.fill('#left-length', '17');
        await page.waitForFunction(() =>
            /does not answer. Trying again in \d+ s/.test(
                document.querySelector('#message').textContent,
            ),
        );
        await page.waitForSelector('#retry', {state: 'visible'}); // not while it tries
        assert.equal(await page.isVisible('#left-problem'), false, 'it is said once');
        let asked = 0;
        page.on('request', () => {
            asked++;
        });
        await page.click('#retry');
        await eventually(() => assert.ok(asked > 0));
        await page.unroute('**/v1/**');
        await eventually(async () =>
            assert.match(await page.getAttribute('canvas.plot', 'aria-label'), /17 positions/),
        );
        await drawn(page);
        assert.equal(await page.isVisible('#retry'), false);
    },
);

pageTest(
    'a page that is opened while the service is gone begins when it is back',
    {expected: GONE},
    async (page) => {
        await page.route('**/v1/**', (route) => route.abort('connectionrefused'));
        await page.goto(`${url}/?scheme=sinusoidal&length=16&dim=8`);
        await page.waitForSelector('#retry', {state: 'visible'});
        await page.unroute('**/v1/**');
        await drawn(page);
    },
);
