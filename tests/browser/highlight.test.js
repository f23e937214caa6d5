// A column that is chosen in the heatmap stands out in every view, and the address keeps it.
import assert from 'node:assert/strict';
import {
    drawn,
    eventually,
    findings,
    open,
    pageTest,
    readout,
    screenshot,
    settled,
    url,
} from './harness.js';

const ROWS = 48,
    COLUMNS = 32,
    CHOSEN = 9;
const TABLE = `?scheme=rope&length=${ROWS}&dim=${2 * COLUMNS}`;
const MARGIN = {left: 64, top: 6, right: 8, bottom: 34};

// The middle of a cell of the first heatmap, from its corner.
async function cellAt(page, row, column) {
    const {width, height} = await page.locator('canvas.plot').first().boundingBox();
    return {
        x: MARGIN.left + ((column + 0.5) / COLUMNS) * (width - MARGIN.left - MARGIN.right),
        y: MARGIN.top + ((row + 0.5) / ROWS) * (height - MARGIN.top - MARGIN.bottom),
    };
}

const chosen = (page, column) =>
    page.waitForFunction(
        (text) => new URLSearchParams(location.search).get('view.column') === text,
        column,
    );
const to = async (page, title) => {
    await page.click(`#highlight button:text-is("${title}")`);
    await page.waitForSelector(`#view[data-drawn=${title.toLowerCase()}]`);
    await drawn(page);
};

pageTest(
    'a click on a column lights its wave, its dot in the spectrum and its dial',
    {},
    async (page) => {
        const wave = new Float32Array(
            await (
                await fetch(
                    `${url}/v1/encodings/rope?length=${ROWS}&dim=${2 * COLUMNS}&tensor=cos` +
                        '&format=raw',
                )
            ).arrayBuffer(),
        ).filter((_, i) => i % COLUMNS === CHOSEN);
        await open(page, TABLE);
        await page.click('canvas.plot', {position: await cellAt(page, 5, CHOSEN)});
        await chosen(page, String(CHOSEN));
        assert.match(
            await readout(page),
            new RegExp(`^position 5 · dimension ${CHOSEN} · value`),
            'the value stays',
        );
        assert.match(
            await page.textContent('#highlight'),
            new RegExp(`^Highlighted: dimension ${CHOSEN}\\.`),
        );
        for (const colorScheme of ['dark', 'light']) {
            await page.emulateMedia({colorScheme});
            await drawn(page);
            await screenshot(page, `highlight-${colorScheme}`);
            assert.deepEqual(await findings(page, '#highlight'), [], colorScheme);
        }
        await to(page, 'Waves');
        const strong = page.locator('svg.chart [data-mark=line][stroke-width="3.5"] path');
        assert.equal(await strong.count(), 1);
        const heights = (await strong.getAttribute('d'))
            .match(/,-?[\d.]+/g)
            .map((each) => Number(each.slice(1)))
            .filter((_, i) => i % 8 === 0); // the curve has points between the rows
        const [least, most] = [Math.min(...wave), Math.max(...wave)],
            [top, bottom] = [Math.min(...heights), Math.max(...heights)];
        heights.forEach((y, i) =>
            assert.ok(
                Math.abs((bottom - y) / (bottom - top) - (wave[i] - least) / (most - least)) <
                    1e-3,
                `${i}: ${y}`,
            ),
        );
        assert.equal(await page.textContent('.chart-strong'), `dimension ${CHOSEN}`);
        await page.reload();
        await drawn(page);
        await to(page, 'Spectrum');
        const [dots, ring] = await Promise.all(
            [
                '[data-mark=dot]:not([stroke-width="2"]) circle',
                '[data-mark=dot][stroke-width="2"] circle',
            ].map((each) =>
                page.$$eval(`svg.chart ${each}`, (all) =>
                    all.map(
                        (circle) => `${circle.getAttribute('cx')} ${circle.getAttribute('cy')}`,
                    ),
                ),
            ),
        );
        assert.equal(dots.length, COLUMNS);
        assert.deepEqual(ring, [dots[CHOSEN]]);
        await to(page, 'Rotation');
        assert.deepEqual(
            (await page.locator('.rotation-dial.highlighted').allTextContents()).map(
                (text) => /^pair \d+/.exec(text)[0],
            ),
            [`pair ${CHOSEN}`],
        );
        assert.match(await readout(page), new RegExp(`^pair ${CHOSEN} · position 3`));
        await page.click('#highlight button:text-is("Clear")');
        await drawn(page);
        assert.doesNotMatch(page.url(), /view\.column/);
        assert.equal(await page.locator('.rotation-dial.highlighted').count(), 0);
        assert.equal(await page.isVisible('#highlight'), false);
    },
);

// The colours along a row of the picture, without its axes.
const inksOf = (page) =>
    page
        .locator('canvas.plot')
        .first()
        .evaluate((canvas, {left, right}) => {
            const {data} = canvas
                .getContext('2d')
                .getImageData(left, 100, canvas.width - left - right, 1);
            return Array.from({length: data.length / 4}, (_, i) =>
                data.slice(4 * i, 4 * i + 3).join(),
            );
        }, MARGIN);

pageTest(
    'Enter chooses the column under the crosshair and gives it up; lines frame it',
    {},
    async (page) => {
        await open(page, '?scheme=sinusoidal&length=48&dim=32');
        const before = await inksOf(page);
        await page.focus('canvas.plot');
        for (const key of ['ArrowDown', 'ArrowRight', 'ArrowRight', 'ArrowRight', 'Enter'])
            await page.keyboard.press(key);
        await chosen(page, '3');
        assert.match(await readout(page), /^position 0 · dimension 3 · /);
        assert.equal(await page.evaluate(() => document.activeElement.className), 'plot');
        await page.mouse.move(0, 0);
        await eventually(async () => {
            const changed = (await inksOf(page)).flatMap((ink, i) =>
                ink === before[i] ? [] : [i / (before.length / 32)],
            );
            assert.ok(
                changed.length >= 4 &&
                    changed.every(
                        (column) => Math.min(Math.abs(column - 3), Math.abs(column - 4)) < 0.15,
                    ),
                String(changed),
            );
        });
        await page.focus('canvas.plot');
        await page.keyboard.press('Enter');
        await chosen(page, null);
    },
);

pageTest(
    'a tap chooses a column and keeps its value; a similarity has no such columns',
    {viewport: {width: 400, height: 800}, hasTouch: true, isMobile: true},
    async (page) => {
        await open(page, TABLE);
        await page.locator('canvas.plot').tap({position: await cellAt(page, 20, CHOSEN)});
        await chosen(page, String(CHOSEN));
        assert.match(
            await readout(page),
            new RegExp(`^position 20 · dimension ${CHOSEN} · value`),
        );
        assert.ok(
            await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth),
            'too wide',
        );
        await open(page, `${TABLE}&view=similarity`);
        await page.waitForSelector('#view .reply');
        await page.locator('canvas.plot').tap();
        await settled(page);
        assert.doesNotMatch(page.url(), /view\.column/);
    },
);

pageTest(
    'columns of full tables belong to their pairs, and a column that is not there is none',
    {},
    async (page) => {
        for (const [layout, column, pair] of [
            ['half', 20, 4],
            ['interleaved', 9, 4],
        ]) {
            await open(
                page,
                `?scheme=rope&length=16&dim=32&table=full&layout=${layout}&view=rotation` +
                    `&view.column=${column}`,
            );
            await page.waitForFunction(
                (begins) =>
                    document
                        .querySelector('.rotation-dial.highlighted')
                        ?.textContent.startsWith(begins),
                `pair ${pair}λ`, // whose wavelength comes with the frequencies
            );
        }
        await open(page, '?scheme=rope&length=16&dim=32&view=waves&view.column=16');
        assert.equal(await page.isVisible('#highlight'), false);
        assert.equal(
            await page.locator('svg.chart [data-mark=line][stroke-width="3.5"]').count(),
            0,
        );
    },
);
