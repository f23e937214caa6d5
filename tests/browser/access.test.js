// Everyone can use it: axe finds nothing, the keyboard reaches everything, narrow screens do.
import assert from 'node:assert/strict';
import {
    assertAccessible,
    drawn,
    open,
    openMore,
    pageTest,
    readout,
    screenshot,
} from './harness.js';

const ADDRESSES = {
    first: '',
    compare:
        '?scheme=rope&length=200&dim=64&right.scheme=rope&right.length=200&right.dim=64' +
        '&right.rope_type=ntk&right.factor=4&view.mark=100',
    mistake: '?scheme=sinusoidal&length=4&dim=0&layout=interlaved',
};

for (const colorScheme of ['light', 'dark'])
    for (const width of [1280, 400])
        pageTest(
            `axe finds nothing in ${colorScheme} at ${width} pixels`,
            {colorScheme, viewport: {width, height: 900}, expected: /status of 4\d\d/},
            async (page) => {
                for (const [name, address] of Object.entries(ADDRESSES)) {
                    if (name === 'mistake') {
                        await page.evaluate((to) => {
                            location.search = to;
                        }, address);
                        await page.waitForSelector('#message.failed');
                        if (width === 400) await page.click('#settings');
                        await page.waitForSelector('#left-dim-error:visible');
                    } else {
                        await open(page, address);
                    }
                    await assertAccessible(page, name);
                    const overflow = await page.evaluate(
                        () => document.documentElement.scrollWidth - innerWidth,
                    );
                    assert.ok(overflow <= 0, `${name} is ${overflow} pixels too wide`);
                    await screenshot(page, `${name}-${colorScheme}-${width}`);
                }
            },
        );

// What opens beside the picture: {name: how}. Each is opened on a page of its own.
const openSettings = async (page) => {
    if (await page.isVisible('#settings')) await page.click('#settings');
};
const OPENED = {
    examples: (page) => page.click('#examples-button'),
    model: async (page) => {
        await page.click('#model-button');
        await page.waitForSelector('#model-name option[value="gemma-3-27b"]', {
            state: 'attached',
        });
        await page.selectOption('#model-name', 'gemma-3-27b');
        await page.waitForSelector('#model table');
    },
    identify: (page) => page.click('#identify-button'),
    schemes: async (page) => {
        await openSettings(page);
        await page.click('#left-scheme');
    },
    settings: async (page) => {
        await openSettings(page);
        await openMore(page);
    },
    takeaway: (page) => page.click('#takeaway > summary'),
    details: (page) => page.click('#details > summary'),
    sources: (page) => page.click('#about summary'),
};
const UNLIKE = '?scheme=rope&length=16&dim=8&right.scheme=alibi&right.length=16&right.heads=2';

// colours do not depend on the width, nor does the layout on colours
for (const [colorScheme, width] of [
    ['light', 1280],
    ['dark', 360],
])
    pageTest(
        `axe finds nothing in what opens, in ${colorScheme} at ${width} pixels`,
        {colorScheme, viewport: {width, height: 900}},
        async (page) => {
            for (const [name, show] of Object.entries(OPENED)) {
                await open(page, '?scheme=sinusoidal&length=16&dim=8');
                await show(page);
                await drawn(page);
                await assertAccessible(page, name);
                await screenshot(page, `opened-${name}-${colorScheme}-${width}`);
            }
            await open(page, UNLIKE);
            await assertAccessible(page, 'unlike');
        },
    );

pageTest('the keyboard alone chooses a scheme and reads a value', {}, async (page) => {
    await open(page, '?scheme=sinusoidal&length=16&dim=8');
    await openMore(page);
    await page.keyboard.press('Tab');
    assert.equal(await page.evaluate(() => document.activeElement.className), 'skip');
    const reached = new Set();
    for (let i = 0; i < 60; i++) {
        await page.keyboard.press('Tab');
        reached.add(
            await page.evaluate(
                () => document.activeElement.id || document.activeElement.className,
            ),
        );
        if (reached.has('plot')) break;
    }
    for (const each of ['compare', 'theme', 'left-scheme', 'left-length', 'left-dtype', 'plot'])
        assert.ok(reached.has(each), `${each}: ${[...reached]}`);
    await page.keyboard.press('ArrowDown');
    assert.match(await readout(page), /^position 0 · dimension 0 · value 0/);
    assert.equal(await page.getAttribute('#readout', 'aria-live'), 'polite');
});

pageTest(
    'the theme follows the system until it is chosen, and then stays',
    {colorScheme: 'dark'},
    async (page) => {
        await open(page);
        const theme = () => page.evaluate(() => document.documentElement.dataset.theme);
        assert.equal(await theme(), 'dark');
        await page.click('#theme');
        assert.equal(await theme(), 'light');
        await page.reload();
        await drawn(page);
        assert.equal(await theme(), 'light');
    },
);
