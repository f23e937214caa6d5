// The API reference: it shows every operation, tries one, and asks nobody else.
import assert from 'node:assert/strict';
import {assertAccessible, delayClock, pageTest, screenshot, url} from './harness.js';

const OPERATION = '#operation-encodings-get_sinusoidal';
const {paths, components} = await (await fetch(`${url}/openapi.json`)).json();
// old names, which the page leaves out
for (const [path, item] of Object.entries(paths)) if (item.get?.deprecated) delete paths[path];

// Open the page, until it lists the operations.
async function openReference(page, hash = '') {
    await page.goto(`${url}/docs${hash}`);
    await page.waitForSelector('.operation');
}

// Open an operation.
async function openOperation(page, operation) {
    await page.click(`${operation} > summary`);
    await page.waitForSelector(`${operation} .execute`);
}

// Open an operation, send it as it is filled in, and wait for the answer.
async function tryOperation(page, operation) {
    await openOperation(page, operation);
    await page.click(`${operation} .execute`);
    await page.waitForSelector(`${operation} .live-responses-table`);
}

const example = Object.fromEntries(
    paths['/v1/encodings/sinusoidal'].get.parameters
        .map((each) => components.parameters[each.$ref?.split('/').pop()] ?? each)
        .filter(({schema}) => schema.examples)
        .map(({name, schema}) => [name, schema.examples[0]]),
);

// Every operation with its summary.
async function checkList(page) {
    const expected = Object.entries(paths).flatMap(([path, item]) =>
        Object.entries(item).map(
            ([method, {summary}]) => `${method.toUpperCase()} ${path} ${summary}`,
        ),
    );
    const shown = await page.$$eval('.operation > summary', (all) =>
        all.map((each) => each.textContent.replace(/\s+/g, ' ').trim()),
    );
    assert.deepEqual(shown.sort(), expected.sort());
}

// An operation as it is filled in: its example is sent and nothing else, and the answer is
// shown.
async function checkAnswer(page) {
    const answered = page.waitForResponse(/\/v1\/encodings\/sinusoidal\?/);
    await tryOperation(page, OPERATION);
    const reply = await answered;
    assert.equal(reply.url(), `${url}/v1/encodings/sinusoidal?${new URLSearchParams(example)}`);
    assert.equal(
        await page.textContent(`${OPERATION} .live-responses-table tbody .response-col_status`),
        '200',
    );
    assert.deepEqual(
        JSON.parse(await page.textContent(`${OPERATION} .live-responses-table .microlight`)),
        await reply.json(),
    );
    const headers = await reply.request().allHeaders();
    for (const {in: place, name} of Object.values(components.parameters))
        if (place === 'header' && name !== 'Accept-Encoding')
            assert.equal(headers[name.toLowerCase()], undefined, name);
}

async function checkPicture(page) {
    await page.selectOption(`${OPERATION} [data-param-name=format] select`, 'png');
    await page.click(`${OPERATION} .execute`);
    const image = page.locator(`${OPERATION} .live-responses-table img`);
    await image.waitFor();
    await page.waitForFunction((each) => each.naturalWidth > 0, await image.elementHandle());
    assert.deepEqual(await image.evaluate((each) => [each.naturalWidth, each.naturalHeight]), [
        example.dim,
        example.length,
    ]);
    const seen = await image.boundingBox();
    assert.ok(Math.max(seen.width, seen.height) >= 300, `${seen.width} × ${seen.height}`);
}

async function checkMistake(page) {
    await page.fill(`${OPERATION} [data-param-name=dim] input`, '7');
    await page.click(`${OPERATION} .execute`);
    await page.waitForFunction(
        (each) =>
            document
                .querySelector(`${each} .live-responses-table`)
                .textContent.includes('urn:posenc:problem:out_of_range'),
        OPERATION,
    );
}

pageTest(
    'every operation is there, and one is tried with its example, as a picture, with a mistake',
    {expected: /status of 422/},
    async (page) => {
        const asked = [];
        page.on('request', (request) => asked.push(request.url()));
        await openReference(page);
        await checkList(page);
        await checkAnswer(page);
        await checkPicture(page);
        await checkMistake(page);
        assert.ok(
            asked.length > 5 &&
                asked.every((each) => each.startsWith(url) || each.startsWith(`blob:${url}`)),
            String(asked),
        );
    },
);

for (const [colorScheme, width] of [
    ['light', 1440],
    ['dark', 400],
])
    pageTest(
        `axe finds nothing at ${width} pixels in ${colorScheme}, and nothing is too wide`,
        {colorScheme, viewport: {width, height: 900}},
        async (page) => {
            await openReference(page);
            await tryOperation(page, OPERATION);
            await assertAccessible(page);
            const overflow = await page.evaluate(
                () => document.documentElement.scrollWidth - innerWidth,
            );
            assert.ok(overflow <= 0, `${overflow} pixels too wide`);
            for (const theme of ['chosen', 'other']) {
                await screenshot(page, `docs-${width}-${colorScheme}-${theme}`, {
                    fullPage: false,
                });
                await page.click('#theme');
            }
            await page.locator(OPERATION).evaluate((each) => each.scrollIntoView());
            await screenshot(page, `docs-tried-${width}-${colorScheme}`, {fullPage: false});
        },
    );

pageTest('an address leads to an operation', {}, async (page) => {
    await openReference(page, '#/encodings/get_sinusoidal');
    await page.waitForSelector(`${OPERATION} .execute`);
    const required = await page.$eval(`${OPERATION} .parameter__name.required`, (each) => {
        const {display, whiteSpace} = getComputedStyle(each, '::after');
        return `${display} ${whiteSpace}`;
    });
    assert.equal(required, 'inline-block nowrap', '"required" stays in one piece');
});

pageTest(
    'the page begins with a request that can be sent and changed',
    {expected: /status of 4/},
    async (page) => {
        await openReference(page);
        const first = await page.locator('main h2').first().innerText();
        assert.equal(first, 'A first request');
        await page.click('#first button');
        await page.waitForSelector('#first-answer pre');
        assert.match(await page.innerText('#first-answer'), /^200 application\/json/);
        const held = JSON.parse(await page.textContent('#first-answer pre'));
        assert.deepEqual(held.tensors[0].shape, [4, 8]);
        await page.fill('#first-target', '/v1/encodings/sinusoidal?length=4');
        await page.keyboard.press('Enter');
        await page.waitForFunction(() =>
            document.querySelector('#first-answer').innerText.includes('missing'),
        );
        await page.click('#first-others button:text-is("a picture")');
        await page.waitForFunction(
            () => document.querySelector('#first-answer img')?.naturalWidth,
        );
    },
);

pageTest(
    'nothing of an operation is drawn before it is opened, and Execute is in sight then',
    {viewport: {width: 1440, height: 900}},
    async (page) => {
        const asked = [];
        page.on('request', (request) => asked.push(request.resourceType()));
        await openReference(page);
        assert.equal(await page.locator('.opblock').count(), 0);
        const rope = '#operation-encodings-get_rope';
        await openOperation(page, rope);
        await page.locator(rope).evaluate((each) => each.scrollIntoView());
        const box = await page.locator(`${rope} .execute`).boundingBox();
        assert.ok(box.y + box.height < 900, JSON.stringify(box));
        assert.equal(await page.locator('.opblock').count(), 1);
        const rows = page.locator(`${rope} tr[data-param-name]:visible`);
        const few = await rows.count();
        await page.click(`${rope} button[aria-pressed]`);
        assert.ok((await rows.count()) > 30 && few < 8, `${few} at first`);
    },
);

pageTest('Execute is not seen before the parameters that it sends', {}, async (page) => {
    await delayClock(page, 300, 300);
    await openReference(page);
    await openOperation(page, OPERATION);
    assert.ok((await page.locator(`${OPERATION} tr[data-param-name]`).count()) > 0);
    assert.equal(await page.isVisible(`${OPERATION} :text("Loading")`), false);
});

pageTest('operations are found by their names', {}, async (page) => {
    await openReference(page);
    await page.fill('#filter', 'yarn');
    assert.equal(await page.locator('.operation:visible').count(), 0);
    await page.fill('#filter', 'compare');
    const found = await page.$$eval('.operation:not([hidden]) .path', (all) =>
        all.map((each) => each.textContent),
    );
    assert.deepEqual(found, ['/v1/models/compare', '/v1/compare/{scheme}']);
});

pageTest(
    'without the service’s document the page says why',
    {expected: /status of 503/},
    async (page) => {
        await page.route(/openapi\.json/, (route) =>
            route.fulfill({
                status: 503,
                contentType: 'application/problem+json',
                body: '{"detail": "the server is draining"}',
            }),
        );
        await page.goto(`${url}/docs`);
        await page.waitForSelector('#message.failed');
        assert.equal(await page.textContent('#message'), 'the server is draining');
    },
);
