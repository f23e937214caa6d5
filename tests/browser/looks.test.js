// How it looks: every view in both themes at three widths is written to the screenshots;
// contrast is checked.
import assert from 'node:assert/strict';
import {drawn, open, pageTest, screenshot} from './harness.js';

const WIDTHS = [1440, 1024, 400];
// a table that each view is made for
const SHOWN = {
    heatmap: '?scheme=sinusoidal&length=256&dim=128',
    waves: '?scheme=sinusoidal&length=128&dim=16',
    profiles: '?scheme=sinusoidal&length=64&dim=64',
    spectrum: '?scheme=rope&length=512&dim=64&view.mark=128',
    precision: '?scheme=sinusoidal&length=64&offset=131008&dim=64',
    rotation: '?scheme=rope&length=256&dim=32',
    scores: '?scheme=rope&length=512&dim=64&view.mark=128',
    softmax: '?scheme=alibi&length=64&heads=8&mask=causal&view.softmax.query=40',
    heads: '?scheme=alibi&length=64&heads=8',
    similarity: '?scheme=sinusoidal&length=96&dim=64',
    distances:
        '?scheme=sinusoidal&length=512&dim=128&view.distances.metric=dot' +
        '&view.distances.positions=0,256',
    cloud: '?scheme=sinusoidal&length=96&dim=64',
};
const COMPARED =
    '?scheme=rope&length=256&dim=64&right.scheme=rope&right.length=256&right.dim=64' +
    '&right.rope_type=ntk&right.factor=4';
const NAMES = {
    ...Object.fromEntries(
        Object.entries(SHOWN).map(([view, address]) => [view, `${address}&view=${view}`]),
    ),
    compare: COMPARED,
};

for (const colorScheme of ['light', 'dark'])
    pageTest(
        `every view is drawn in ${colorScheme} at every width, and none is too wide`,
        {colorScheme},
        async (page) => {
            for (const [name, address] of Object.entries(NAMES)) {
                await page.setViewportSize({width: WIDTHS[0], height: 900});
                await open(page, address);
                for (const width of WIDTHS) {
                    await page.setViewportSize({width, height: width === 1440 ? 900 : 768});
                    await drawn(page);
                    await page.waitForFunction(
                        () => document.querySelector('#view').childElementCount > 0,
                    );
                    const overflow = await page.evaluate(
                        () => document.documentElement.scrollWidth - innerWidth,
                    );
                    assert.ok(
                        overflow <= 0,
                        `${name} at ${width} is ${overflow} pixels too wide`,
                    );
                    await screenshot(page, `look-${name}-${colorScheme}-${width}`);
                }
            }
        },
    );

const TEXTS = ['ink', 'quiet', 'accent', 'error', 'left', 'right', 'mark'];

// WCAG 2's relative luminance of "#rrggbb".
function luminance(hex) {
    const [r, g, b] = [1, 3, 5]
        .map((at) => parseInt(hex.slice(at, at + 2), 16) / 255)
        .map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}
function contrast(one, other) {
    const [low, high] = [luminance(one), luminance(other)].sort((a, b) => a - b);
    return (high + 0.05) / (low + 0.05);
}

for (const colorScheme of ['light', 'dark'])
    pageTest(
        `texts have a contrast of 4.5 and edges of 3 in ${colorScheme}`,
        {colorScheme},
        async (page) => {
            await open(page);
            const names = [...TEXTS, 'paper', 'panel', 'edge', 'on-accent'];
            const colours = await page.evaluate(
                (all) =>
                    Object.fromEntries(
                        all.map((name) => [
                            name,
                            getComputedStyle(document.documentElement)
                                .getPropertyValue(`--${name}`)
                                .trim(),
                        ]),
                    ),
                names,
            );
            for (const back of ['paper', 'panel']) {
                for (const name of TEXTS)
                    assert.ok(
                        contrast(colours[name], colours[back]) >= 4.5,
                        `${name} on ${back}: ` +
                            `${contrast(colours[name], colours[back]).toFixed(2)}`,
                    );
                assert.ok(contrast(colours.edge, colours[back]) >= 3, `edge on ${back}`);
            }
            assert.ok(contrast(colours['on-accent'], colours.accent) >= 4.5);
        },
    );

pageTest('sizes of type come from one scale', {}, async (page) => {
    await open(page, SHOWN.heatmap);
    const sizes = await page.evaluate(() => [
        ...new Set(
            [...document.querySelectorAll('body *')]
                .filter(
                    (each) =>
                        each.checkVisibility() && !each.closest('.math, svg, canvas, select'),
                )
                .map((each) => getComputedStyle(each).fontSize),
        ),
    ]);
    for (const size of sizes)
        assert.ok(['12px', '14px', '16px', '20px'].includes(size), `${size} of ${sizes}`);
});
